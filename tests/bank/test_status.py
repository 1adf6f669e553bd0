"""What a bank says of itself."""

from __future__ import annotations

from skilldelta.bank.batch import Batch
from skilldelta.bank.entries import DecisionRecord
from skilldelta.bank.store import Bank
from skilldelta.records import text_digest

from .small import AGENT, NEW_SKILL, SKILL, TinyEncoder, skip

DECISION = DecisionRecord(
    time=1_700_000_000.5,
    agent=AGENT,
    skill_id="dates",
    text_digest=text_digest("What day is it?"),
    action="use",
    gain=0.25,
    threshold=0.0,
    reason="predicted gain +0.250 is above the threshold 0",
    evidence={"neighbors": [{"task_id": "t2", "weight": 1.0}]},
    skill_digest=SKILL.digest,
    task_id="t1",
)


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
