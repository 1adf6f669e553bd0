"""The gate decides once per task: not on the first words, and again when a later task is about another skill."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from serve.hooks.fake_gate import dialect_of
from skilldelta.bank import Bank
from skilldelta.demo.bundled import bundled_batch
from skilldelta.harnesses.offered_skill import OfferedSkill
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.hooks.bank_answer import answer_from
from skilldelta.serve.hooks.hook_run import HookSettings, answer

CANS = "How many cans are in 9 pallets and 2 crates of chickpeas?"
INVOICE = "What is the invoice number for the Leeds office, month 5 of 2023, count 77?"
CANS_SKILL, INVOICE_SKILL = "a pallet holds 2688 cans", "An invoice number at Harrow Mill"

Say = Callable[[str], str]


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GateService]:
    path = tmp_path_factory.mktemp("demo") / "bank.db"
    with Bank.open(path, create=True) as bank:
        bank.add(bundled_batch())
    with GateService.open(path) as service:
        yield service


@pytest.fixture
def settings(gate: GateService, tmp_path: Path) -> HookSettings:
    skills = tuple(OfferedSkill(name) for name in (*gate.skill_names(), "never-recorded"))
    return HookSettings("claude-code", dialect_of("claude-code"), skills, ask="bank", state=tmp_path)


@pytest.fixture
def say(gate: GateService, settings: HookSettings) -> Say:
    """What the hook adds to a prompt of one conversation."""

    def said(prompt: str) -> str:
        event = {"session_id": f"{settings.state}", "hook_event_name": "UserPromptSubmit", "prompt": prompt}
        return run(settings, gate, event)

    return said


def run(settings: HookSettings, gate: GateService, event: dict[str, Any]) -> str:
    result = answer(settings, json.dumps(event).encode(), ask_bank=lambda path, body: answer_from(gate, path, body))
    assert result.failure == ""
    return result.output


def test_a_greeting_binds_nothing_and_the_first_task_gets_its_skill(say: Say) -> None:
    assert say("hi") == ""
    assert say("Write a poem about the sea.") == ""
    assert CANS_SKILL in say(CANS)


def test_a_follow_up_adds_nothing(say: Say) -> None:
    assert CANS_SKILL in say(CANS)
    for prompt in ("continue", "are you sure?", "/clear", "Now write that into a table with two columns.", CANS):
        assert say(prompt) == ""
    assert say("How many cans are in 3 pallets and 7 crates of tomatoes?") == ""  # the text is there already


def test_a_later_task_about_another_skill_gets_that_one(say: Say) -> None:
    assert CANS_SKILL in say(CANS)
    second = say(INVOICE)
    assert INVOICE_SKILL in second
    assert CANS_SKILL not in second
    assert say(INVOICE) == ""
    assert say(CANS) == ""


def test_a_log_with_a_question_gets_the_skill_of_the_question(say: Say) -> None:
    log = "\n".join(f"2025-01-0{i} 10:00:0{i} INFO [scanner] gate {i} opened" for i in range(1, 9))
    assert say(log) == ""
    assert CANS_SKILL in say(f"{log}\n\n{CANS}")


def test_what_a_task_was_not_about_is_not_denied(say: Say, settings: HookSettings, gate: GateService) -> None:
    say(CANS)
    for skill in ("invoice-numbers", "never-recorded"):
        call = {"hook_event_name": "PreToolUse", "tool_name": "Skill", "tool_input": {"skill": skill}}
        assert run(settings, gate, {"session_id": f"{settings.state}", **call}) == ""


def test_one_skill_on_offer_is_decided_at_the_first_task(gate: GateService, tmp_path: Path) -> None:
    skill = (OfferedSkill("warehouse-units"),)
    settings = HookSettings("claude-code", dialect_of("claude-code"), skill, ask="bank", state=tmp_path)

    def said(prompt: str) -> str:
        return run(settings, gate, {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": prompt})

    assert said("good morning") == ""
    assert CANS_SKILL in said(CANS)
    assert said("How many cans are in 3 pallets of tomatoes?") == ""
