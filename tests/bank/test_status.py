"""What a bank says of itself: counts, the structure of its panels, when evidence arrived, and decisions in numbers."""

from __future__ import annotations

from dataclasses import replace

from skilldelta.bank.batch import Batch
from skilldelta.bank.status import Coverage
from skilldelta.bank.store import Bank
from skilldelta.records import Skill, Task

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


def test_groups_singletons_bundles_and_edges_are_counted(bank: Bank) -> None:
    pairs = [
        ("t1", "plots", "numpy+pandas"),
        ("t2", "plots", "json+pandas+re"),
        ("t3", "plots", "numpy+pandas"),
        ("t4", "dates", "dates"),
        ("t5", "", "lonely"),
        ("t4", "dates", "other-dates"),
    ]
    tasks = [
        Task(task_id, f"Question {task_id}?", family) for task_id, family in {row[0]: row[1] for row in pairs}.items()
    ]
    runs = [skip(task.task_id, 0.0) for task in tasks]
    runs += [use(task_id, 1.0, Skill(skill_id, "")) for task_id, _, skill_id in pairs]
    bank.add(Batch(tasks, executions=runs))
    (panel,) = bank.panels()
    coverage = panel.coverage
    assert (coverage.groups, coverage.smallest, coverage.median, coverage.largest) == (3, 1, 1.0, 3)
    assert (coverage.singletons, coverage.supported) == (2, 1)
    assert (coverage.skills, coverage.bundles, coverage.edges) == (5, 2, 10)


def test_no_pairs_have_no_groups(bank: Bank) -> None:
    bank.add(Batch([Task("t1", "Which?", "f")], executions=[skip("t1", 1.0)]))
    assert bank.panels()[0].coverage == Coverage()


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
