"""A panel's revision moves with its own evidence, and with nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from skilldelta.bank.batch import Batch
from skilldelta.bank.store import Bank
from skilldelta.records import Skill, Task

from .small import AGENT, NEW_SKILL, OTHER_AGENT, SKILL, THREE_PAIRS, skip, use


def moved(bank: Bank, change: object) -> tuple[bool, bool, bool]:
    """Whether a change moved the revision of the first panel, of all suites of its agent, and of the bank."""

    def revisions() -> tuple[int, int, int]:
        return bank.panel_revision(AGENT, "default"), bank.panel_revision(AGENT), bank.revision()

    before = revisions()
    change()  # type: ignore[operator]
    first, agent, whole = (old != new for old, new in zip(before, revisions(), strict=True))
    return first, agent, whole


def test_its_own_executions_move_it(filled: Bank) -> None:
    change = Batch(executions=[skip("t1", 1.0, repetition=1)])
    assert moved(filled, lambda: filled.add(change)) == (True, True, True)
    assert moved(filled, lambda: filled.add(change)) == (False, False, False)


def test_another_agent_does_not_move_it(filled: Bank) -> None:
    change = Batch(executions=[skip("t1", 1.0, agent=OTHER_AGENT), use("t1", 1.0, agent=OTHER_AGENT)])
    assert moved(filled, lambda: filled.add(change)) == (False, False, True)
    assert moved(filled, lambda: filled.forget(agent=OTHER_AGENT)) == (False, False, True)


def test_another_suite_moves_only_what_covers_all_suites(filled: Bank) -> None:
    task = Task("t1", "What day is it?", "calendar", "other")
    change = Batch([task], executions=[skip("t1", 1.0, suite="other")])
    assert moved(filled, lambda: filled.add(change)) == (False, True, True)


def test_a_task_without_executions_does_not_move_it(filled: Bank) -> None:
    assert moved(filled, lambda: filled.add(Batch([Task("t9", "Where?", "travel")]))) == (False, False, True)


def test_a_new_version_of_its_skill_moves_it_and_of_another_skill_does_not(filled: Bank) -> None:
    other = Skill.from_text("units", "Convert units.")
    assert moved(filled, lambda: filled.add(Batch(skills=[other]))) == (False, False, True)
    assert moved(filled, lambda: filled.add(Batch(skills=[NEW_SKILL]))) == (True, True, True)
    assert moved(filled, lambda: filled.forget(skill_id="units")) == (False, False, True)


def test_a_removal_moves_it(filled: Bank) -> None:
    assert moved(filled, lambda: filled.forget(task_id="t1")) == (True, True, True)
    assert moved(filled, lambda: filled.forget(task_id="t1")) == (False, False, False)


def test_two_copies_that_went_different_ways_do_not_share_a_revision(tmp_path: Path) -> None:
    """Otherwise what was learned from one would be taken for what was learned from the other."""
    revisions = []
    for name, success in (("a.bank", 0.0), ("b.bank", 1.0)):
        with Bank.open(tmp_path / name, create=True) as bank:
            bank.add(THREE_PAIRS)
            bank.add(Batch(executions=[skip("t1", success, repetition=1)]))
            revisions.append((bank.revision(), bank.panel_revision(AGENT, "default")))
    assert revisions[0][0] == revisions[1][0]
    assert revisions[0][1] != revisions[1][1]


def test_an_agent_that_left_and_came_back_has_another_revision(filled: Bank) -> None:
    before = filled.panel_revision(AGENT, "default")
    filled.forget(agent=AGENT)
    assert filled.agents() == []
    filled.add(replace(THREE_PAIRS, skills=[SKILL]))
    assert filled.panel_revision(AGENT, "default") != before
