"""The small records that a bank keeps beside executions: decisions, panels, and what a removal took away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from skilldelta.bank.learned import LearnedStates
from skilldelta.records import Agent


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


@dataclass(frozen=True, slots=True)
class Panel:
    """One agent on one suite: what an evaluation is about."""

    agent: Agent
    suite: str
    pairs: int
    unpaired: int
    executions: int
    stale: int = 0
    """Pairs of another version of their skill than the current one."""


@dataclass(frozen=True, slots=True)
class BankStatus:
    """What is in a bank."""

    location: str
    backend: str
    schema_version: int
    size_bytes: int
    agents: int
    suites: int
    skills: int
    skill_versions: int
    tasks: int
    executions: Mapping[str, int]
    """By status."""
    vectors: Mapping[str, int]
    """By encoder identity."""
    decisions: int
    judgements: int
    learned: LearnedStates
    """What predictions have learned from the evidence as it is now."""
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Foreseen:
    """How many rows a removal would take away, before anybody agrees to it."""

    executions: int = 0
    tasks: int = 0
    skills: int = 0
    judgements: int = 0


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many rows a removal took away."""

    executions: int = 0
    tasks: int = 0
    skills: int = 0
    agents: int = 0
    vectors: int = 0
    judgements: int = 0
