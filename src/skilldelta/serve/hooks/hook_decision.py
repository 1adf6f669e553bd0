"""The part of a decision that a hook acts on; whoever decided, server or process, and however it was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class HookDecision(NamedTuple):
    """What the gate says about one skill in one conversation."""

    skill: str
    action: str
    """use, skip or abstain."""
    reason: str
    gain: float = 0.0
    decision_id: int | None = None
    """In the bank's log; None where it could not be recorded."""
    chosen: bool = False
    """Whether this is the skill to inject: the one with the largest gain, where several are to be used."""
    has_evidence: bool = False
    """Whether recorded tasks stand behind it; a fallback never denies anything."""
    certainty: str | None = None
    """sure, leaning or close to a coin flip; None without evidence."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> HookDecision:
        """From a kept row, or from the document of a decision; an odd one is an error."""
        decision_id = row.get("decision_id")
        if row["action"] not in ("use", "skip", "abstain") or not isinstance(decision_id, int | None):
            raise ValueError("not a decision")
        return cls(
            skill=str(row["skill"]),
            action=row["action"],
            reason=str(row["reason"]),
            gain=float(row["gain"]),
            decision_id=decision_id,
            chosen=row.get("chosen") is True,
            has_evidence=row.get("has_evidence", row.get("fallback") is False) is True,
            certainty=row.get("certainty"),
        )

    def to_row(self) -> dict[str, Any]:
        """As it is kept."""
        return self._asdict()
