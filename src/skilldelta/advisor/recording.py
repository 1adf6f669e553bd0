"""Advice as the bank's decision log keeps it: what was decided, on which evidence. The task's text is kept as a digest."""

from __future__ import annotations

from skilldelta.advisor.advice import Advice
from skilldelta.bank.entries import DecisionRecord
from skilldelta.records import Agent, Skill, text_digest


def decision_record(
    advice: Advice, *, agent: Agent, skill: Skill, text: str, task_id: str, time: float
) -> DecisionRecord:
    """The record of one answer; `time` is in seconds since 1970."""
    interval = advice.interval
    return DecisionRecord(
        time=time,
        agent=agent,
        skill_id=skill.skill_id,
        skill_digest=skill.digest,
        text_digest=text_digest(text),
        task_id=task_id,
        action=advice.decision.action,
        gain=advice.decision.gain,
        threshold=advice.decision.threshold,
        reason=advice.decision.reason,
        evidence={
            "estimator": advice.estimator,
            "suite": advice.suite,
            "scope": advice.scope,
            "family": advice.family,
            "eligible": advice.eligible,
            "interval": None if interval is None else [interval.low, interval.high, interval.level, interval.method],
            "neighbors": [{"task_id": n.task_id, "weight": n.weight} for n in advice.neighbors],
        },
    )
