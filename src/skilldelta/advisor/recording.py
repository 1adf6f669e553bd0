"""Answer as the bank's decision log keeps it, and a kept decision as the document that it was.

What the log keeps of the task's text is the caller's choice: the whole text, a digest of it, or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from skilldelta.bank.entries import DecisionRecord
from skilldelta.gate import Action, Answer, Decision
from skilldelta.records import Agent, Skill, text_digest
from skilldelta.renames import ESTIMATORS

KeptText = Literal["whole", "digest", "nothing"]

# What a decision has a column for; the rest of its document is its evidence.
_IN_COLUMNS = ("action", "gain", "threshold", "reason", "agent", "skill")


def decision_record(
    advice: Answer,
    *,
    agent: Agent,
    skill: Skill,
    text: str,
    task_id: str,
    time: float,
    keep: KeptText = "digest",
    conversation: str = "",
    source: str = "",
) -> DecisionRecord:
    """The record of one answer; `time` is in seconds since 1970, `conversation` the id that its harness gave it."""
    return DecisionRecord(
        time=time,
        agent=agent,
        skill_id=skill.skill_id,
        skill_digest=skill.digest,
        text_digest="" if keep == "nothing" else text_digest(text),
        task_id=task_id,
        action=advice.decision.action,
        gain=advice.decision.gain,
        threshold=advice.decision.threshold,
        reason=advice.decision.reason,
        evidence=_evidence(advice),
        conversation=conversation_digest(conversation) if conversation else "",
        source=source,
        text=text if keep == "whole" else None,
    )


def conversation_digest(conversation: str) -> str:
    """What the log has of a conversation's id."""
    return text_digest(f"conversation {conversation}")


def kept_document(record: DecisionRecord, texts: Mapping[str, str]) -> dict[str, Any]:
    """A kept decision as `predict --json` printed it; `texts` are those of its neighbors, as far as they are still known."""
    columns = {"action": record.action, "gain": record.gain, "threshold": record.threshold, "reason": record.reason}
    evidence = dict(record.evidence)
    if "estimator" in evidence:
        evidence["estimator"] = ESTIMATORS.get(str(evidence["estimator"]), evidence["estimator"])
    neighbors_of_record = evidence.pop("neighbors", ())
    neighbors = [{**neighbor, "text": texts.get(neighbor["task_id"])} for neighbor in _objects(neighbors_of_record)]
    return {**columns, "agent": record.agent.name, "skill": record.skill_id, **evidence, "neighbors": neighbors}


def logged_answer(record: DecisionRecord, texts: Mapping[str, str]) -> Answer:
    """The answer of a kept decision, given once more; its document is the log's."""
    document = kept_document(record, texts)
    decision = Decision(
        cast(Action, record.action),
        record.gain,
        record.threshold,
        record.reason,
        would_change=str(document.get("would_change", "")),
        is_fallback=bool(document.get("fallback", False)),
    )
    return Answer(
        decision=decision,
        agent=record.agent.name,
        skill=record.skill_id,
        decision_id=record.decision_id,
        repeated=True,
        logged_document=document,
    )


def neighbor_ids(record: DecisionRecord) -> list[str]:
    """The tasks that a kept decision rested on."""
    return [neighbor["task_id"] for neighbor in _objects(record.evidence.get("neighbors", ()))]


def _evidence(advice: Answer) -> dict[str, Any]:
    """The document without what has columns of its own, and without the neighbors' texts, which the bank has."""
    document = {name: value for name, value in advice.to_dict().items() if name not in _IN_COLUMNS}
    document["neighbors"] = [
        {name: value for name, value in neighbor.items() if name != "text"} for neighbor in document["neighbors"]
    ]
    return document


def _objects(values: Any) -> list[dict[str, Any]]:
    return [value for value in values if isinstance(value, dict) and isinstance(value.get("task_id"), str)]
