"""What a service is asked, and what it answers: the command line's document and what the log made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skilldelta.gate import Gate


@dataclass(frozen=True, slots=True)
class GateQuestion:
    """A task, the skill on offer, who asks, and how to answer."""

    text: str
    skill: str
    family: str = ""
    task_id: str = ""
    suite: str = ""
    agent: str | None = None
    """None is the only agent of the bank."""
    skill_digest: str = ""
    """The version on offer; evidence of another version is carried over at a discount. Empty is the recorded one."""
    skill_sketch: str = ""
    """The `text_sketch` of the version on offer, which tells how much changed."""
    conversation: str = ""
    """The same conversation gets the first decision about a skill again."""
    source: str = ""
    explain: bool = False
    record: bool = True
    include_skill_text: bool = False
    gate: Gate | None = None
    """None is the service's own."""


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
