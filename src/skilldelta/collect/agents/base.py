"""What an agent is to the collector: a fingerprinted identity, and one run per execution."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from skilldelta.collect.arms import Message
from skilldelta.collect.budget import Amount, Budget
from skilldelta.collect.plan import Planned
from skilldelta.records import Agent


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution as the agent sees it."""

    planned: Planned
    skill_text: str
    """The text to inject; empty in the skip arm."""
    seed: int
    workdir: Path | None = None
    """The execution's own copy of the task's files."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an attempt: the answer to grade, what it took, and what was said on the way."""

    answer: str
    tokens: float | None
    usd: float | None
    messages: tuple[Message, ...] = ()
    reply: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


class CollectAgent(Protocol):
    """Runs tasks. Settings are the same in both arms by construction: an attempt carries nothing but task and skill."""

    @property
    def identity(self) -> Agent:
        """Name and fingerprint, as the bank knows it."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the fingerprint is made of, for the manifest."""
        ...

    def largest(self, attempt: Attempt) -> Amount:
        """An upper bound of what one run takes, for reservations and for the plan's cost."""
        ...

    async def check(self) -> None:
        """Find out before the first call whether runs are possible at all."""
        ...

    async def run(self, attempt: Attempt, budget: Budget) -> Outcome:
        """One run; every paid call goes through the budget."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


def fingerprint(settings: Mapping[str, Any]) -> str:
    """A short digest of everything that makes two agents comparable."""
    canonical = json.dumps(settings, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
