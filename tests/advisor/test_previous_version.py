"""A version that was stored and not yet run is answered from the runs of the one before."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilldelta.advisor import Advisor, Question
from skilldelta.bank import Bank, Batch
from skilldelta.gate import Gate
from skilldelta.records import Agent, Execution, Skill, Task

TEXT = "Look up the factor between both units, multiply by it, round once at the end, and name the unit of the answer."


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    """Twelve tasks that the first version of a skill always helps."""
    agent, first = Agent("a"), Skill.from_text("units", TEXT)
    tasks = [Task(f"t{i}", f"Convert {i} miles to kilometers.", "miles", "x") for i in range(12)]
    runs = [Execution(agent, "x", task.task_id, "skip", 0, 0.0, "units", first.digest) for task in tasks]
    runs += [Execution(agent, "x", task.task_id, "use", 0, 1.0, "units", first.digest) for task in tasks]
    opened = Bank.open(tmp_path / "units.bank", create=True)
    opened.add(Batch(tasks=tasks, skills=[first], executions=runs))
    return opened


def test_a_version_without_runs_is_answered_from_the_one_before_until_it_has_its_own(bank: Bank) -> None:
    question = Question("Convert 40 miles to kilometers.", "units")
    before = Advisor(bank).ask(question)
    edited = Skill.from_text("units", TEXT.replace("round once", "round down"))
    bank.add(Batch(skills=[edited]))
    after = Advisor(bank).ask(question)
    assert before.carried_over is None
    assert after.carried_over is not None
    assert after.carried_over.version == Skill.from_text("units", TEXT).digest
    assert 0 < after.decision.gain < before.decision.gain
    assert "carried over from version" in after.decision.reason
    paper = Advisor(bank, gate=Gate.from_settings({"paper": True})).ask(question)
    assert (paper.decision.is_fallback, paper.carried_over) == (True, None)

    own = Execution(Agent("a"), "x", "t0", "use", 0, 0.0, "units", edited.digest)
    baseline = Execution(Agent("a"), "x", "t0", "skip", 0, 0.0, "units", edited.digest)
    bank.add(Batch(executions=[own, baseline]))
    assert Advisor(bank).ask(question).carried_over is None
