"""What an agent is to the collector: a fingerprinted identity, and one run per execution."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

from skilldelta.collect.arms import Message
from skilldelta.collect.budget import Amount, Budget
from skilldelta.collect.plan import Planned
from skilldelta.records import Agent, Execution

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution as the agent sees it."""

    planned: Planned
    skill_text: str
    """The text to inject; empty in the skip arm."""
    seed: int
    workdir: Path | None = None
    """The execution's own copy of the task's files."""
    prompt: str = ""
    """What a suite asks in both arms, with {task} in it."""

    @property
    def question(self) -> str:
        """The task as it is asked, in either arm."""
        text = self.planned.task.question
        return self.prompt.replace("{task}", text) if self.prompt else text


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an attempt: the answer to grade, what it took, and what was said on the way."""

    answer: str
    tokens: float | None
    usd: float | None
    messages: tuple[Message, ...] = ()
    reply: str = ""
    seconds: float | None = None
    """The agent's own time; None is the whole time of its run."""
    details: Mapping[str, Any] = field(default_factory=dict)
    loaded: bool | None = None
    """Whether the model loaded the skill that its harness listed; None where that is not known, or nothing was listed."""


# Runs, grades and records one planned execution; it calls the agent's `run`. None when the collection is stopping.
Execute = Callable[[Planned], Awaitable[Execution | None]]


class CollectAgent(Protocol):
    """Runs tasks. Settings are the same in both arms by construction: an attempt carries nothing but task and skill."""

    @property
    def identity(self) -> Agent:
        """Name and fingerprint, as the bank knows it."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the fingerprint is made of, for the manifest."""

    @property
    def needs_workdir(self) -> bool:
        """Whether a run needs a folder of its own even where the task has no files."""

    def largest(self, attempt: Attempt) -> Amount:
        """An upper bound of what one run takes, for reservations and for the plan's cost."""

    async def drive(self, todo: Sequence[Planned], concurrency: int, execute: Execute) -> None:
        """Call `execute` once for each planned execution, at most `concurrency` at a time."""

    async def identify(self) -> None:
        """Find out what `identity` and `settings` need and cannot know before the agent is run."""

    async def prepare(self, folder: Path) -> None:
        """Find out before the first call whether runs are possible at all; logs of its own go into the folder."""

    async def run(self, attempt: Attempt, budget: Budget) -> Outcome:
        """One run; every paid call goes through the budget."""

    async def close(self) -> None:
        """Let go of connections."""


# Room for a reply with one label, and for some words around it.
ASK_TOKENS = 512


@dataclass(frozen=True, slots=True)
class Asked:
    """A reply to a question beside the tasks: a judgement of the agent itself, or of a judge."""

    text: str
    tokens: float | None


@runtime_checkable
class Asks(CollectAgent, Protocol):
    """An agent whose model can be asked directly."""

    def largest_ask(self, messages: list[Message]) -> Amount:
        """An upper bound of what one such call takes, for the plan's cost."""

    async def ask(self, name: str, messages: list[Message], budget: Budget) -> Asked:
        """One call at temperature 0 outside the tasks; `name` is for the ledger."""


def fingerprint(settings: Mapping[str, Any]) -> str:
    """A short digest of everything that makes two agents comparable."""
    canonical = json.dumps(settings, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]


async def run_pool(todo: Sequence[T], concurrency: int, execute: Callable[[T], Awaitable[object]]) -> None:
    """As many workers as may run at once, each taking the next one; the first error stops all."""
    queue = iter(todo)

    async def work() -> None:
        for planned in queue:
            await execute(planned)

    workers = [asyncio.create_task(work()) for _ in range(min(concurrency, len(todo)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
