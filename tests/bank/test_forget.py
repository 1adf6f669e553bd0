"""Removal takes what was asked for, and what nothing refers to any more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.forget import Foreseen, Forgotten, Removal
from skilldelta.bank.store import Bank
from skilldelta.errors import InputError
from skilldelta.records import Judgement, Skill

from .small import AGENT, OTHER_AGENT, SKILL, TASKS, THREE_PAIRS, TinyEncoder, skip, use

OTHER_SKILL = Skill.from_text("units", "Convert to SI units.")


def test_forgetting_a_task_takes_its_executions_its_text_and_its_vectors(filled: Bank) -> None:
    filled.support(TinyEncoder(), agent=AGENT)
    revision = filled.revision()
    assert filled.forget(task_id="t2") == Forgotten(executions=2, tasks=1, vectors=1)
    assert [task.task_id for task in filled.tasks()] == ["t1", "t3"]
    assert filled.revision() > revision
    assert filled.verify() == []


def test_forgetting_a_skill_keeps_the_baselines_that_others_share(filled: Bank) -> None:
    filled.add(Batch(skills=[OTHER_SKILL], executions=[use("t1", 0.5, OTHER_SKILL)]))
    assert filled.forget(skill_id="dates") == Forgotten(executions=3, skills=1)
    assert filled.skills() == [OTHER_SKILL]
    assert [pair.gain for pair in filled.pairing(agent=AGENT).pairs] == [0.5]


def test_forgetting_an_agent_keeps_what_others_did(filled: Bank) -> None:
    filled.add(Batch(executions=[skip("t1", 0.0, agent=OTHER_AGENT), use("t1", 1.0, agent=OTHER_AGENT)]))
    gone = filled.forget(agent=AGENT)
    assert (gone.executions, gone.tasks, gone.agents, gone.skills) == (6, 2, 1, 0)
    assert filled.agents() == [OTHER_AGENT]
    assert len(filled.pairing(agent=OTHER_AGENT).pairs) == 1


def test_forgetting_takes_only_what_fits_every_filter(filled: Bank) -> None:
    filled.add(Batch([replace(TASKS[0], suite="other")], executions=[skip("t1", 1.0, suite="other")]))
    assert filled.forget(suite="other", agent=OTHER_AGENT) == Forgotten()
    assert filled.forget(suite="other").executions == 1
    assert filled.suites() == ["default"]


def test_forgetting_by_time_takes_what_was_recorded_before(tmp_path: Path) -> None:
    now = [100.0]
    with Bank.open(tmp_path / "time.bank", clock=lambda: now[0], create=True) as bank:
        bank.add(THREE_PAIRS)
        now[0] = 200.0
        bank.add(Batch(executions=[use("t1", 0.0, repetition=1)]))
        assert bank.forget(before=200.0).executions == 6
        assert len(list(bank.executions())) == 1
        assert [task.task_id for task in bank.tasks()] == ["t1"]


def test_a_forgotten_attempt_leaves_room_for_the_next(tmp_path: Path) -> None:
    now = [100.0]
    with Bank.open(tmp_path / "time.bank", clock=lambda: now[0], create=True) as bank:
        bank.add(Batch(TASKS, executions=[skip("t1", None, status="transport_error")]))
        now[0] = 200.0
        bank.add(Batch(executions=[skip("t1", None, status="incomplete")]))
        bank.forget(before=150.0)
        assert bank.add(Batch(executions=[skip("t1", 1.0)])).executions == 1


def test_what_was_forgotten_can_be_added_again(filled: Bank) -> None:
    filled.forget(suite="default")
    assert filled.add(THREE_PAIRS).executions == 6


@pytest.mark.parametrize(
    "removal",
    [
        Removal(task_id="t2"),
        Removal(skill_id="dates"),
        Removal(skill_id="units"),
        Removal(agent=AGENT),
        Removal(agent=OTHER_AGENT),
        Removal(agent=AGENT, task_id="t1"),
        Removal(suite="default"),
        Removal(suite="elsewhere"),
        Removal(before=0.0),
        Removal(before=9e12),
        Removal(skill_id="dates", before=9e12),
    ],
)
def test_what_is_foreseen_is_what_is_removed(filled: Bank, removal: Removal) -> None:
    others = [skip("t1", 0.0, agent=OTHER_AGENT), use("t1", 1.0, OTHER_SKILL, agent=OTHER_AGENT)]
    filled.add(Batch(skills=[OTHER_SKILL], executions=others))
    filled.add_judgements([Judgement(AGENT, "default", "t1", "dates", SKILL.digest, use=True)])
    revision, foreseen = filled.revision(), filled.foreseen(removal)
    assert filled.revision() == revision
    gone = filled.remove(removal)
    assert foreseen == Foreseen(gone.executions, gone.tasks, gone.skills, gone.judgements)


def test_forgetting_without_a_filter_is_refused(filled: Bank) -> None:
    with pytest.raises(InputError, match="at least one of agent, suite, skill, task and before"):
        filled.forget()
    assert len(list(filled.executions())) == 6
