"""What a service is asked, and what it answers: the command line's document and what the log made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class GateAnswer:
    """A decision with its evidence, as `predict --json` has it, and its place in the log."""

    document: Mapping[str, Any]
    decision_id: int | None = None
    repeated: bool = False
    """The conversation had this decision before."""
    skill_text: str | None = None
    has_skill_text: bool = False
    """Whether the text was asked for; a bank may not have it."""

    def to_dict(self) -> dict[str, Any]:
        """The document of `/v1/decide`."""
        document = {**self.document, "repeated": self.repeated}
        if self.decision_id is not None:
            document["decision_id"] = self.decision_id
        if self.has_skill_text:
            document["skill_text"] = self.skill_text
        return document


@dataclass(frozen=True, slots=True)
class GateChoice:
    """Which of several skills to use for a task, if any, and every decision behind it."""

    choice: str | None
    answers: tuple[GateAnswer, ...]

    def to_dict(self) -> dict[str, Any]:
        """The document of `/v1/choose`."""
        return {"choice": self.choice, "decisions": [answer.to_dict() for answer in self.answers]}
