"""Which executions become pairs, and which skill version they speak for."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.store import Bank
from skilldelta.records import Agent, Skill, Task

from .small import AGENT, NEW_SKILL, OTHER_AGENT, SKILL, TASKS, skip, use

UNVERSIONED = Skill("dates")
OTHER_SKILL = Skill.from_text("units", "Convert to SI units.")


def gains(bank: Bank, **asked: object) -> dict[str, float]:
    """The gain of each paired task."""
    return {pair.task_id: pair.gain for pair in bank.pairing(agent=AGENT, **asked).pairs}  # type: ignore[arg-type]


def test_pairs_are_means_of_unequal_repetitions(bank: Bank) -> None:
    runs = [skip("t1", 0.0), skip("t1", 1.0, repetition=1), skip("t1", 0.5, repetition=2), use("t1", 1.0)]
    bank.add(Batch(TASKS, [SKILL], runs))
    (pair,) = bank.pairing(agent=AGENT).pairs
    assert (pair.y0, pair.y1, pair.r0, pair.r1, pair.family) == (0.5, 1.0, 3, 1, "calendar")


def test_a_missing_arm_is_reported_and_never_a_failure(bank: Bank) -> None:
    bank.add(Batch(TASKS, [SKILL], [skip("t1", 1.0), use("t2", 1.0)]))
    pairing = bank.pairing(agent=AGENT)
    assert pairing.pairs == ()
    assert [(u.task_id, u.missing) for u in pairing.unpaired] == [("t1", "use"), ("t2", "skip")]


@pytest.mark.parametrize("status", ["transport_error", "incomplete", "grader_error"])
def test_uncounted_executions_are_kept_and_never_counted(filled: Bank, status: str) -> None:
    before = gains(filled)
    filled.add(
        Batch(executions=[use("t1", None, repetition=1, status=status), use("t1", 0.0, repetition=2, status=status)])
    )
    pairing = filled.pairing(agent=AGENT)
    assert gains(filled) == before
    assert pairing.uncounted == {status: 2}
    assert len(list(filled.executions(task_id="t1"))) == 4
    assert filled.status().executions == {"completed": 6, status: 2}


def test_one_baseline_serves_every_skill_of_its_task(filled: Bank) -> None:
    filled.add(Batch(skills=[OTHER_SKILL], executions=[use("t1", 0.5, OTHER_SKILL)]))
    assert gains(filled, skill_id="units") == {"t1": 0.5}
    assert gains(filled, skill_id="dates") == {"t1": 1.0, "t2": 0.0, "t3": -1.0}
    assert len(filled.pairing(agent=AGENT).pairs) == 4


def test_a_baseline_that_names_a_skill_serves_that_skill_only(bank: Bank) -> None:
    own = skip("t1", 1.0, skill_id="dates", skill_digest=SKILL.digest)
    bank.add(Batch(TASKS, [SKILL, OTHER_SKILL], [own, use("t1", 1.0), use("t1", 1.0, OTHER_SKILL)]))
    pairing = bank.pairing(agent=AGENT)
    assert [pair.skill_id for pair in pairing.pairs] == ["dates"]
    assert [u.skill_id for u in pairing.unpaired] == ["units"]


def test_outcomes_are_never_pooled_across_agents(filled: Bank) -> None:
    settings = Agent(AGENT.name, "temperature 0")
    filled.add(Batch(executions=[use("t1", 0.0, agent=OTHER_AGENT), use("t1", 0.0, agent=settings)]))
    assert gains(filled) == {"t1": 1.0, "t2": 0.0, "t3": -1.0}
    assert filled.pairing(agent=OTHER_AGENT).pairs == ()
    assert filled.pairing(agent=settings).pairs == ()


def test_an_agent_without_executions_has_no_pairs(filled: Bank) -> None:
    assert filled.pairing(agent=Agent("nobody")).pairs == ()


def test_evidence_of_an_older_version_is_stale_and_left_out_unless_asked_for(filled: Bank) -> None:
    filled.add(Batch(skills=[NEW_SKILL], executions=[use("t2", 0.0, NEW_SKILL)]))
    pairing = filled.pairing(agent=AGENT)
    assert [(p.task_id, p.gain, p.skill_digest) for p in pairing.pairs] == [("t2", -1.0, NEW_SKILL.digest)]
    assert [(p.task_id, p.skill_digest) for p in pairing.stale] == [(t, SKILL.digest) for t in ("t1", "t2", "t3")]
    asked = filled.pairing(agent=AGENT, include_stale=True)
    assert [(p.task_id, p.gain) for p in asked.pairs] == [("t1", 1.0), ("t2", -1.0), ("t2", 0.0), ("t3", -1.0)]
    assert asked.stale == ()
    assert filled.resolve_skill("dates") == NEW_SKILL


def test_a_new_version_makes_old_evidence_stale_even_before_its_first_execution(filled: Bank) -> None:
    filled.add(Batch(skills=[NEW_SKILL]))
    assert gains(filled) == {}
    assert len(filled.pairing(agent=AGENT).stale) == 3


def test_adding_an_older_version_again_does_not_make_it_current(filled: Bank) -> None:
    filled.add(Batch(skills=[NEW_SKILL]))
    filled.add(Batch(skills=[SKILL]))
    assert filled.resolve_skill("dates") == NEW_SKILL


def test_executions_without_a_version_count_where_no_version_is_known(bank: Bank) -> None:
    bank.add(Batch(TASKS, executions=[skip("t1", 0.0), use("t1", 1.0, UNVERSIONED)]))
    assert gains(bank) == {"t1": 1.0}
    assert bank.resolve_skill("dates") == UNVERSIONED


def test_executions_without_a_version_count_as_the_only_one_known(bank: Bank) -> None:
    unversioned = use("t1", 0.0, UNVERSIONED, repetition=1)
    bank.add(Batch(TASKS, [SKILL], [skip("t1", 0.0), use("t1", 1.0), unversioned]))
    (pair,) = bank.pairing(agent=AGENT).pairs
    assert (pair.y1, pair.r1, pair.skill_digest) == (0.5, 2, SKILL.digest)


def test_a_repetition_recorded_with_and_without_its_version_counts_once(bank: Bank) -> None:
    bank.add(Batch(TASKS, [SKILL], [skip("t1", 0.0), use("t1", 1.0, UNVERSIONED), use("t1", 1.0)]))
    pairing = bank.pairing(agent=AGENT)
    assert [(pair.y1, pair.r1) for pair in pairing.pairs] == [(1.0, 1)]
    assert pairing.uncounted == {"superseded": 1}


def test_executions_without_a_version_are_stale_where_two_are_known(bank: Bank) -> None:
    bank.add(Batch(TASKS, [SKILL, NEW_SKILL], [skip("t1", 0.0), use("t1", 1.0, UNVERSIONED)]))
    pairing = bank.pairing(agent=AGENT)
    assert pairing.pairs == ()
    assert [pair.skill_digest for pair in pairing.stale] == [""]


def test_pairs_stand_in_the_order_of_their_tasks_whatever_the_filter(bank: Bank) -> None:
    runs = [
        use("t3", 1.0),
        skip("t1", 0.0),
        use("t2", 0.0, OTHER_SKILL),
        use("t1", 1.0),
        skip("t3", 0.0),
        skip("t2", 1.0),
    ]
    bank.add(Batch(TASKS, [SKILL, OTHER_SKILL], runs))
    assert list(gains(bank)) == ["t1", "t2", "t3"]
    assert list(gains(bank, skill_id="dates")) == ["t1", "t3"]
    assert list(gains(bank, family="calendar")) == ["t1", "t2"]
    assert [execution.task_id for execution in bank.executions()] == ["t3", "t1", "t2", "t1", "t3", "t2"]


def test_filters_narrow_executions(filled: Bank) -> None:
    filled.add(Batch([Task("t1", "Elsewhere?", "calendar", "other")], executions=[skip("t1", 1.0, suite="other")]))
    assert len(list(filled.executions())) == 7
    assert len(list(filled.executions(suite="other"))) == 1
    assert len(list(filled.executions(skill_id="dates"))) == 3
    assert len(list(filled.executions(skill_id=""))) == 4
    assert len(list(filled.executions(family="travel"))) == 2
    assert len(list(filled.executions(task_id="t1", suite="default"))) == 2
    assert list(filled.executions(agent=OTHER_AGENT)) == []


def test_panels_count_pairs_stale_pairs_and_what_is_left_out(filled: Bank) -> None:
    filled.add(
        Batch(
            [Task("u1", "Elsewhere?", "calendar", "other")],
            executions=[skip("u1", 1.0, suite="other"), skip("t1", 1.0, agent=OTHER_AGENT)],
        )
    )
    panels = [(p.agent.name, p.suite, p.pairs, p.unpaired, p.executions, p.stale) for p in filled.panels()]
    assert panels == [
        ("model-a", "default", 3, 0, 6, 0),
        ("model-a", "other", 0, 1, 1, 0),
        ("model-b", "default", 0, 1, 1, 0),
    ]


def test_a_skill_that_ran_on_many_tasks_leaves_other_tasks_baselines_out(filled: Bank, tmp_path: Path) -> None:
    filled.add(Batch([Task("t4", "Only a baseline?", "travel")], executions=[skip("t4", 1.0)]))
    assert filled.pairing(agent=AGENT, skill_id="dates").unpaired == ()
    assert [u.task_id for u in filled.pairing(agent=AGENT).unpaired] == ["t4"]
