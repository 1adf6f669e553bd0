from __future__ import annotations

import json
from typing import Any

import pytest

from serve.hooks.fake_gate import dialect_of
from skilldelta.serve.hooks.hook_event import MOST_BYTES, EventError, HookEvent, read_event
from skilldelta.serve.hooks.user_text import user_text


def event(host: str = "claude-code", **fields: Any) -> HookEvent:
    return read_event(dialect_of(host), json.dumps({"session_id": "s1", **fields}).encode())


def test_a_prompt_of_each_harness_is_a_prompt() -> None:
    for host, name in (("claude-code", "UserPromptSubmit"), ("codex", "UserPromptSubmit"), ("gemini", "BeforeAgent")):
        found = event(host, hook_event_name=name, prompt="count the cans")
        assert found == HookEvent("prompt", "s1", "count the cans")


def test_the_call_of_a_skill_names_it_without_its_plugin() -> None:
    called: dict[str, Any] = {
        "hook_event_name": "PreToolUse",
        "tool_name": "Skill",
        "tool_input": {"skill": "shop:warehouse-units"},
    }
    assert event(**called) == HookEvent("skill_call", "s1", skill="warehouse-units")
    called = {"hook_event_name": "BeforeTool", "tool_name": "activate_skill", "tool_input": {"name": "warehouse-units"}}
    assert event("gemini", **called) == HookEvent("skill_call", "s1", skill="warehouse-units")


def test_other_tools_and_events_need_no_answer() -> None:
    assert event(hook_event_name="PreToolUse", tool_name="Bash", tool_input={"command": "ls"}).kind == "other"
    assert event(hook_event_name="SomethingNew").kind == "other"
    assert event().kind == "other"


def test_the_end_of_a_conversation_names_its_transcript() -> None:
    assert event(hook_event_name="SessionEnd", transcript_path="/t.jsonl") == HookEvent(
        "end", "s1", transcript="/t.jsonl"
    )


@pytest.mark.parametrize("source", ["scheduled", "Background", "cron", "subagent"])
def test_prompts_that_no_person_wrote_are_empty(source: str) -> None:
    assert event(hook_event_name="UserPromptSubmit", prompt="do it", source=source).text == ""


@pytest.mark.parametrize("value", [None, 3, ["a"], {"a": 1}, True])
def test_fields_of_another_type_count_as_absent(value: object) -> None:
    found = event(hook_event_name="UserPromptSubmit", prompt=value, session_id=value)
    assert (found.kind, found.text, found.conversation) == ("prompt", "", "")
    assert event(hook_event_name="PreToolUse", tool_name="Skill", tool_input=value).skill == ""
    assert event(hook_event_name="PreToolUse", tool_name="Skill", tool_input={"skill": value}).skill == ""


def test_half_a_surrogate_pair_is_replaced() -> None:
    assert event(hook_event_name="UserPromptSubmit", prompt="a\ud800b").text == "a?b"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not JSON"),
        (b'{"hook_event_name": "UserPro', "not JSON"),
        (b"[1]", "list, not an object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "not JSON"),
        (b" " * (MOST_BYTES + 1), "more than 16 MiB"),
    ],
)
def test_what_is_no_event_is_refused_in_one_line(content: bytes, reason: str) -> None:
    with pytest.raises(EventError, match=reason) as caught:
        read_event(dialect_of("claude-code"), content)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("  fix the bug \n", "fix the bug"),
        ("<hook_context>from a hook</hook_context>\nfix it", "fix it"),
        ("fix it\n<system-reminder>be kind</system-reminder>", "fix it"),
        ("<system-reminder>a</system-reminder>x<system-reminder>b</system-reminder>y", "xy"),
        ('<ide_selection file="a.py">code</ide_selection>why?', "why?"),
        ("<task-notification>agent done</task-notification>", ""),
        ("<system-reminder> never closed", "<system-reminder> never closed"),
        ("<system-reminders>mine</system-reminders>", "<system-reminders>mine</system-reminders>"),
        ("/compact", ""),
        ("/shop:count all of it", ""),
        ("/usr/bin/env is missing", "/usr/bin/env is missing"),
        ("/", "/"),
        ("", ""),
        (" \n ", ""),
    ],
)
def test_only_the_users_words_are_left(prompt: str, text: str) -> None:
    assert user_text(prompt) == text


def test_a_million_openings_take_no_longer_than_one() -> None:
    hostile = "<hook_context>" * 200_000
    assert user_text(hostile) == hostile
