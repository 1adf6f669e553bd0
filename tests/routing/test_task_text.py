"""Whether a message is a task, and which part of it is judged."""

from __future__ import annotations

import time

import pytest

from skilldelta.routing.task_text import UserMessage, read_message

from .messages import HELD_OUT, LOG, SEEN, SHELL, TRACE


@pytest.mark.parametrize(("text", "is_task"), SEEN)
def test_messages_that_the_rules_were_written_for(text: str, is_task: bool) -> None:
    assert read_message(text).is_task == is_task


def test_messages_that_were_held_out_are_judged_as_a_person_does() -> None:
    wrong = [text for text, is_task in HELD_OUT if read_message(text).is_task != is_task]
    assert len(wrong) <= 1, wrong


def test_of_a_log_with_a_question_the_question_is_judged() -> None:
    question = "Why does the consumer give up? Please make it retry for a minute."
    assert read_message(f"{question}\n\n{LOG}") == UserMessage("task", question)
    assert read_message(f"{SHELL}\n{question}") == UserMessage("task", question)


def test_a_short_trace_in_a_long_question_stays_in_it() -> None:
    question = "Please find out why the nightly report fails. " * 10 + "\n" + TRACE
    assert read_message(question) == UserMessage("task", question.strip())


def test_what_is_no_task_says_what_it_is() -> None:
    assert read_message("hi") == UserMessage("small talk")
    assert read_message("/clear") == UserMessage("command")
    assert read_message(TRACE) == UserMessage("log")
    assert read_message("   ") == UserMessage("small talk")


def test_a_very_long_message_is_judged_in_no_time() -> None:
    hostile = ["a" * 400_000, "a." * 200_000, "x: " * 100_000, "(" * 400_000, "\n" * 400_000, LOG * 400, '{"' * 200_000]
    began = time.perf_counter()
    for text in hostile:
        read_message(text)
    assert time.perf_counter() - began < 5
