"""When evidence arrived, by agent, suite and skill version; and the decision log in numbers."""

from __future__ import annotations

from dataclasses import replace

from skilldelta.bank import Batch
from skilldelta.bank.store import Bank

from .small import AGENT, DECISION, NEW_SKILL, OTHER_AGENT, SKILL, skip, use


def test_every_version_has_its_number_of_executions_and_its_time(filled: Bank) -> None:
    (before,) = filled.evidence_ages()
    assert (before.agent, before.suite, before.skill_id, before.skill_digest) == (
        AGENT,
        "default",
        "dates",
        SKILL.digest,
    )
    assert before.first == before.last
    filled.add(Batch(skills=[NEW_SKILL], executions=[use("t1", 1.0, NEW_SKILL), use("t2", 0.0, NEW_SKILL)]))
    old, new = filled.evidence_ages()
    assert old == before
    assert (new.skill_digest, new.executions) == (NEW_SKILL.digest, 2)
    assert new.last >= old.last


def test_baselines_that_all_skills_share_are_no_skills_evidence(filled: Bank) -> None:
    before = filled.evidence_ages()
    filled.add(Batch(executions=[skip("t1", 1.0, repetition=7)]))
    assert filled.evidence_ages() == before


def test_decisions_are_counted_by_agent_skill_and_action(filled: Bank) -> None:
    assert filled.decision_tallies() == []
    for change in ({}, {"time": 1.0}, {"action": "skip"}, {"agent": OTHER_AGENT}):
        filled.record_decision(replace(DECISION, **change))
    found = {(one.agent, one.action): (one.decisions, one.last) for one in filled.decision_tallies()}
    assert found == {
        (AGENT, "use"): (2, DECISION.time),
        (AGENT, "skip"): (1, DECISION.time),
        (OTHER_AGENT, "use"): (1, DECISION.time),
    }
