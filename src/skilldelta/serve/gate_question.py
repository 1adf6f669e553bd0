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
    warning: str | None = None
    """What the caller should know of the answer, such as that the log does not have it."""
    applies: float | None = None
    """Among several skills: how likely the task is about this one; None where nothing can be said."""

    def to_dict(self) -> dict[str, Any]:
        """The document of `/v1/decide`."""
        document = {**self.document, "repeated": self.repeated}
        if self.decision_id is not None:
            document["decision_id"] = self.decision_id
        if self.has_skill_text:
            document["skill_text"] = self.skill_text
        if self.warning is not None:
            document["warning"] = self.warning
        if self.applies is not None:
            document["applies"] = self.applies
        return document


@dataclass(frozen=True, slots=True)
class GateChoice:
    """Which of several skills to use for a task, if any, and every decision behind it."""

    choice: str | None
    answers: tuple[GateAnswer, ...]
    any_applies: float | None = None
    """How likely the task is about one of the skills; None where nothing can be said, so that every gate was asked."""

    def to_dict(self) -> dict[str, Any]:
        """The document of `/v1/choose`."""
        return {
            "choice": self.choice,
            "any_applies": self.any_applies,
            "decisions": [answer.to_dict() for answer in self.answers],
        }
