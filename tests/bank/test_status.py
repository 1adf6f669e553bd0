"""What a bank says of itself."""

from __future__ import annotations

from skilldelta.bank.batch import Batch
from skilldelta.bank.store import Bank

from .small import AGENT, DECISION, NEW_SKILL, TinyEncoder, skip


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
