"""What a bank says of itself: counts, the structure of its panels, when evidence arrived, and decisions in numbers."""

from __future__ import annotations

from dataclasses import replace

from skilldelta.bank.batch import Batch
from skilldelta.bank.status import Coverage, coverage_of
from skilldelta.bank.store import Bank
from skilldelta.records import Agent, Pair

from .small import AGENT, DECISION, NEW_SKILL, OTHER_AGENT, SKILL, TinyEncoder, skip, use


def test_status_counts_everything(filled: Bank) -> None:
    filled.add(Batch(skills=[NEW_SKILL], executions=[skip("t1", None, repetition=1, status="transport_error")]))
    filled.support(TinyEncoder(), agent=AGENT, include_stale=True)
    filled.record_decision(DECISION)
    status = filled.status()
    assert (status.agents, status.suites, status.tasks, status.skills, status.skill_versions) == (1, 1, 3, 1, 2)
    assert status.executions == {"completed": 6, "transport_error": 1}
    assert status.vectors == {"tiny/3": 3}
    assert (status.decisions, status.judgements) == (1, 0)
    assert status.size_bytes > 0
    assert [panel.stale for panel in status.panels] == [3]


def pair(task_id: str, family: str, skill_id: str) -> Pair:
    return Pair(Agent("a"), "s", task_id, family, skill_id, "", y0=0.0, y1=1.0, r0=1, r1=1)


def test_groups_singletons_bundles_and_edges_are_counted() -> None:
    found = coverage_of(
        [
            pair("t1", "plots", "numpy+pandas"),
            pair("t2", "plots", "pandas+re+json"),
            pair("t3", "plots", "numpy+pandas"),
            pair("t4", "dates", "dates"),
            pair("t5", "", "lonely"),
            pair("t4", "dates", "other-dates"),
        ]
    )
    assert (found.groups, found.smallest, found.median, found.largest) == (3, 1, 1.0, 3)
    assert (found.singletons, found.supported) == (2, 1)
    assert (found.skills, found.bundles, found.edges) == (5, 2, 10)


def test_no_pairs_have_no_groups() -> None:
    assert coverage_of([]) == Coverage()


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
