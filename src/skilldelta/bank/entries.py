"""The records of the decision log: decisions, outcomes, which of them to read, and their counts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from skilldelta.errors import InputError
from skilldelta.records import Agent, text_digest

# What an outcome may say.
AMOUNTS = ("success", "tokens", "seconds", "cost_usd")


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A decision as it was given, for audit. It names the task's text by digest; `evidence` is any JSON object."""

    time: float
    """Seconds since 1970, UTC."""
    agent: Agent
    skill_id: str
    text_digest: str
    action: str
    gain: float
    threshold: float
    reason: str
    evidence: Mapping[str, object] = field(default_factory=dict)
    skill_digest: str = ""
    task_id: str = ""
    decision_id: int = 0
    """Given by the bank."""
    conversation: str = ""
    """A digest of the conversation's id. A conversation gets one decision per skill."""
    source: str = ""
    """Who asked: a harness, a framework, the dashboard."""
    text: str | None = None
    """The task's text, where the log keeps it."""
    outcomes: tuple[RecordedOutcome, ...] = ()
    """What was reported to have happened, the newest last."""


@dataclass(frozen=True, slots=True)
class RecordedOutcome:
    """What happened after a decision, as somebody reported it. What is not known is None."""

    decision_id: int
    time: float
    """Seconds since 1970, UTC."""
    success: float | None = None
    tokens: float | None = None
    seconds: float | None = None
    cost_usd: float | None = None
    key: str = ""
    """The same key again adds nothing; empty is a digest of the values."""

    def __post_init__(self) -> None:
        values = {name: getattr(self, name) for name in AMOUNTS}
        if all(value is None for value in values.values()):
            raise InputError("an outcome needs at least one of success, tokens, seconds and cost_usd")
        for name, value in values.items():
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise InputError(f"{name} must be a number that is not negative, got {value}")
        if self.success is not None and self.success > 1:
            raise InputError(f"success must lie between 0 and 1, got {self.success}")

    @property
    def values(self) -> tuple[float | None, ...]:
        """What was reported, without when and under which key."""
        numbers = (getattr(self, name) for name in AMOUNTS)
        return tuple(None if value is None else float(value) for value in numbers)

    @property
    def idempotency_key(self) -> str:
        """The key, or what stands for it."""
        return self.key or f"values:{text_digest(repr(self.values))}"


@dataclass(frozen=True, slots=True)
class Logged:
    """A decision or an outcome in the log: its id, and whether it is new or was there before."""

    id: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class DecisionFilter:
    """Which decisions to read; None takes all. `search` looks into names, reasons and kept texts."""

    before: int | None = None
    """Only ids below this one: where the last page ended."""
    since: float | None = None
    """Only decisions from this moment on, in seconds since 1970."""
    skill_id: str | None = None
    action: str | None = None
    agent: str | None = None
    source: str | None = None
    search: str | None = None
    outcomes_after: int | None = None
    """Only decisions with an outcome whose key is larger than this; 0 takes all that have one."""


@dataclass(frozen=True, slots=True)
class DecisionTally:
    """The decisions of one kind about one skill for one agent."""

    agent: Agent
    skill_id: str
    action: str
    decisions: int
    last: float
    """Seconds since 1970, UTC."""
