"""The gate that every adapter shares: one answer per conversation, and an agent that runs whatever happens."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from integrations.gates import SKILL_TEXT, TASK, Desk
from skilldelta.bank import Bank
from skilldelta.cli.main import run
from skilldelta.errors import InputError, MissingExtraError
from skilldelta.integrations.skill_gate import SkillGate, plain_text, required


def broken(_: dict[str, Any]) -> Any:
    raise ConnectionError("secret-path refused")


def test_a_used_skill_brings_its_text_and_a_skipped_one_none() -> None:
    assert Desk("use").gate().decide(TASK).text == SKILL_TEXT
    skipped = Desk("skip").gate().decide(TASK)
    assert (skipped.use, skipped.text) == (False, "")
    assert Desk("abstain").gate().decide(TASK).use is False


def test_a_conversation_is_asked_about_once() -> None:
    desk = Desk()
    gate = desk.gate()
    first = gate.decide(TASK, conversation="c")
    desk.action = "skip"
    assert gate.decide("another turn", conversation="c") is first
    assert gate.decide(TASK, conversation="d").use is False
    assert [question["conversation"] for question in desk.asked] == ["c", "d"]


def test_many_conversations_do_not_fill_the_memory() -> None:
    gate = Desk().gate()
    for number in range(5000):
        gate.decide(TASK, conversation=str(number))
    assert gate.answer_of("0") is None
    assert gate.answer_of("4999") is not None


def test_threads_that_ask_at_once_get_one_answer() -> None:
    answers = iter(["use", "skip"] * 8)
    barrier = threading.Barrier(8)

    def route(_: dict[str, Any]) -> dict[str, Any]:
        barrier.wait()
        return {"action": next(answers), "reason": ""}

    gate = SkillGate("s", text="t", route=route)
    got: list[bool] = []
    threads = [threading.Thread(target=lambda: got.append(gate.decide(TASK, conversation="c").use)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(got)) == 1


@pytest.mark.parametrize(("fallback", "use"), [("skip", False), ("use", True)])
def test_a_routing_failure_is_the_fallback_and_names_no_detail(fallback: Any, use: bool) -> None:
    answer = SkillGate("s", text="t", route=broken, fallback=fallback).decide(TASK)
    assert (answer.use, answer.decision_id) == (use, None)
    assert "ConnectionError" in answer.reason
    assert "secret-path" not in answer.reason


@pytest.mark.parametrize("document", [{}, {"action": "use"}, None, []])
def test_an_answer_that_is_none_is_the_fallback(document: Any) -> None:
    assert SkillGate("s", text="t", route=lambda _: document).decide(TASK).use is False


def test_an_empty_task_is_not_asked_about() -> None:
    desk = Desk()
    assert desk.gate().decide("  \n").use is False
    assert desk.asked == []


def test_the_skills_text_comes_from_its_file_without_the_front_matter(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_text(f"---\nname: s\n---\n\n{SKILL_TEXT}\n")
    assert SkillGate("s", text=file, route=Desk().route).decide(TASK).text == SKILL_TEXT


def test_an_outcome_is_told_with_what_is_known_and_a_failure_is_harmless() -> None:
    desk = Desk()
    gate = desk.gate()
    assert gate.record(gate.decide(TASK), tokens=12.0, success=None) is True
    assert desk.told == [{"decision_id": 1, "tokens": 12.0}]
    mute = SkillGate("s", text="t", route=desk.route, report=broken)
    assert mute.record(mute.decide(TASK), tokens=1.0) is False


def test_messages_get_the_skill_before_the_first_user_message() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": TASK}]},
    ]
    prepared = Desk("use").gate().prepare(messages)
    assert [message["role"] for message in prepared] == ["system", "system", "user"]
    assert prepared[1]["content"] == SKILL_TEXT
    assert Desk("skip").gate().prepare(messages) == messages
    assert Desk("use").gate().prepare([{"role": "system", "content": "x"}]) == [{"role": "system", "content": "x"}]


@pytest.mark.parametrize("content", [None, 3, {"text": "x"}, [None, 3, {"image": "y"}]])
def test_content_that_is_no_text_is_empty(content: Any) -> None:
    assert plain_text(content) == ""


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InputError, match="fallback must be use or skip, got 'maybe'"):
        SkillGate("s", text="t", route=broken, fallback="maybe")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="needs a skill"):
        SkillGate("", text="t", route=broken)


def test_a_gate_on_a_bank_decides_as_predict_does_and_records_what_happened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bank, question = str(tmp_path / "demo.bank"), "How many cans are in 3 pallets and 5 crates of beans?"
    assert run(["demo", "--bank", bank, "--no-report"]) == 0
    capsys.readouterr()
    assert run(["predict", "--bank", bank, "--skill", "warehouse-units", "--json", question]) == 0
    predicted = json.loads(capsys.readouterr().out)
    with pytest.raises(InputError, match="unknown setting 'treshold'; did you mean threshold"):
        SkillGate.from_bank("warehouse-units", bank, policy={"treshold": 0.1})
    gate = SkillGate.from_bank("warehouse-units", bank)
    answer = gate.decide(question, conversation="c")
    assert (answer.use, answer.reason) == (predicted["action"] == "use", predicted["reason"])
    assert answer.text, "the bank has the skill's text"
    assert gate.record(answer, success=1.0, tokens=7.0) is True
    again = SkillGate.from_bank("warehouse-units", bank).decide("another turn", conversation="c")
    assert again == answer, "a conversation keeps its decision after a restart"
    with pytest.raises(InputError, match="warehouse-unit"):
        SkillGate.from_bank("warehouse-unit", bank)
    with Bank.open(bank, create=False) as opened:
        (decision,) = opened.decisions(5)
    assert (decision.outcomes[0].success, decision.outcomes[0].tokens) == (1.0, 7.0)


def test_a_server_that_is_not_there_is_the_fallback_within_the_time_limit() -> None:
    gate = SkillGate.at_server("s", "http://127.0.0.1:9", text="t", timeout=1.0)
    assert gate.decide(TASK).use is False
    assert gate.record(gate.decide(TASK), tokens=1.0) is False


def test_an_adapter_without_its_framework_says_what_to_install() -> None:
    with (
        pytest.raises(
            MissingExtraError, match="this adapter needs frobnicate; install it with: pip install frobnicate"
        ),
        required("frobnicate"),
    ):
        import frobnicate  # type: ignore[import-not-found]  # noqa: F401
