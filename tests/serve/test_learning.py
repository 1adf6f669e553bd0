"""A service with a learning process answers while it learns, and takes what was learned when it is there."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any

import pytest

from skilldelta.advisor import learned_states
from skilldelta.bank import Bank
from skilldelta.bank.batch import Batch
from skilldelta.gate import Question
from skilldelta.records import Condition, Execution, Task
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.learning import LearningProcess


@pytest.fixture(autouse=True)
def every_panel_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_states, "SMALL", 0)


ASKED = Question("convert 40 miles to kilometers", "units-skill", record=False)


def add_pair(path: Path, number: int) -> None:
    with Bank.open(path) as bank:
        like = next(e for e in bank.executions() if e.skill_id == "units-skill" and e.condition == "use")
        task = Task(f"more {number}", f"convert {number} feet to inches", "units", like.suite)
        outcomes: tuple[tuple[Condition, float], ...] = (("use", 0.0), ("skip", 1.0))
        runs = [
            Execution(like.agent, like.suite, task.task_id, condition, 0, success, skill_id=like.skill_id)
            for condition, success in outcomes
        ]
        bank.add(Batch(tasks=[task], executions=runs))


def answer_of(gate: GateService) -> dict[str, Any]:
    return gate.decide(ASKED).to_dict()


def test_a_service_answers_while_another_process_learns_and_then_as_if_it_had_learned_itself(bank_path: Path) -> None:
    with GateService.open(bank_path) as gate:
        before = answer_of(gate)
    with GateService.open(bank_path, learner=LearningProcess(str(bank_path), {})) as gate:
        assert answer_of(gate) == before
        add_pair(bank_path, 1)
        began = time.monotonic()
        during = answer_of(gate)
        waited = time.monotonic() - began
        assert during["previous_revision"]
        assert during["gain"] == before["gain"]
        end = time.monotonic() + 60
        while (after := answer_of(gate))["previous_revision"] and time.monotonic() < end:
            time.sleep(0.05)
        learning = time.monotonic() - began
    with GateService.open(bank_path) as gate:
        assert answer_of(gate) == after
    assert after["gain"] < before["gain"]
    assert waited < learning / 2


def test_without_any_state_a_question_waits_for_the_process_and_is_answered(bank_path: Path) -> None:
    with GateService.open(bank_path, learner=LearningProcess(str(bank_path), {})) as gate:
        answer = answer_of(gate)
    with Bank.open(bank_path) as bank:
        assert bank.status().learned.states == 1
    with GateService.open(bank_path) as gate:
        assert answer_of(gate) == answer


def test_a_process_that_cannot_learn_leaves_the_work_to_the_service(bank_path: Path, service_log: io.StringIO) -> None:
    learner = LearningProcess(str(bank_path.with_name("elsewhere.bank")), {})
    with GateService.open(bank_path, learner=learner) as gate:
        answer = answer_of(gate)
    assert "learning failed" in service_log.getvalue()
    with GateService.open(bank_path) as gate:
        assert answer_of(gate) == answer


def test_a_service_that_ends_stops_what_it_was_learning(bank_path: Path) -> None:
    learner = LearningProcess(str(bank_path), {})
    gate = GateService.open(bank_path, learner=learner)
    answer_of(gate)
    add_pair(bank_path, 1)
    assert answer_of(gate)["previous_revision"] is True
    began = time.monotonic()
    gate.close()
    assert time.monotonic() - began < 10
    assert learner._worker is not None
    assert not learner._worker.is_alive()
