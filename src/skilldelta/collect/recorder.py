"""The recorder: finished executions go into the bank and into the transcript, in batches, beside the event loop.

One thread owns the bank. Whatever finished since the last batch goes into the next one, so a fast collection pays for few
transactions and a slow one sees every execution stored at once. The transcript is written before the bank: an execution
that is in the bank always has its conversation.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from skilldelta.bank import Bank
from skilldelta.bank.batch import Batch
from skilldelta.collect.suite import Suite
from skilldelta.collect.transcript import TRANSCRIPT_FILE, append_lines, encode_row
from skilldelta.records import LISTED, Agent, Execution, Judgement

T = TypeVar("T")
# Executions that wait to be written before collecting waits for the bank.
_MOST_PENDING = 512
# Seconds between two transactions: each has a fixed price, so a fast collection stores many executions in one.
_GATHER = 0.1


class Recorder:
    """Use from one event loop; `close` writes what is pending."""

    def __init__(self, bank: str, folder: Path) -> None:
        self._location = bank
        self._transcript = folder / TRANSCRIPT_FILE
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="recorder")
        self._pending: list[tuple[Execution, bytes]] = []
        self._flushing: asyncio.Task[None] | None = None
        self._bank: Bank | None = None
        self._closing = asyncio.Event()

    async def open(self, suite: Suite, agent: Agent) -> list[Execution]:
        """Open the bank, add the suite's tasks and skills, and return the executions it has of this agent."""
        return await self._in_thread(lambda: self._open(suite, agent))

    async def record(self, execution: Execution, transcript: Mapping[str, Any]) -> None:
        """Take a finished execution. Waits only when the bank cannot keep up; an error of the bank surfaces here."""
        self._pending.append((execution, encode_row(transcript)))
        if self._flushing is None or self._flushing.done():
            if self._flushing is not None and (error := self._flushing.exception()) is not None:
                raise error
            self._flushing = asyncio.get_running_loop().create_task(self._flush())
        if len(self._pending) > _MOST_PENDING:
            await asyncio.shield(self._flushing)

    async def judgements(self, agent: Agent, suite: str) -> list[Judgement]:
        """The self-judgements the bank has."""
        return await self._in_thread(lambda: list(self._opened.judgements(agent, suite)))

    async def add_judgement(self, judgement: Judgement) -> None:
        """Store one self-judgement."""
        await self._in_thread(lambda: self._opened.add_judgements([judgement]))

    async def close(self) -> None:
        """Write what is pending and close the bank."""
        self._closing.set()
        try:
            if self._flushing is not None:
                await asyncio.shield(self._flushing)
        finally:
            await self._in_thread(self._close)
            self._thread.shutdown(wait=True)

    @property
    def _opened(self) -> Bank:
        assert self._bank is not None, "open comes first"
        return self._bank

    def _open(self, suite: Suite, agent: Agent) -> list[Execution]:
        self._bank = Bank.open(self._location, create=True)
        tasks, skills = suite.records()
        self._bank.add(Batch(tasks=tasks, skills=skills))
        return [
            *self._bank.executions(agent=agent, suite=suite.name),
            *self._bank.listed(agent=agent, suite=suite.name),
        ]

    async def _flush(self) -> None:
        while self._pending:
            batch, self._pending = self._pending, []
            await self._in_thread(partial(self._store, batch))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), _GATHER)

    def _store(self, batch: list[tuple[Execution, bytes]]) -> None:
        append_lines(self._transcript, [line for _, line in batch])
        executions = [execution for execution, _ in batch]
        listed = [execution for execution in executions if execution.condition == LISTED]
        pairs = [execution for execution in executions if execution.condition != LISTED]
        self._opened.add(Batch(executions=pairs, listed=listed))

    def _close(self) -> None:
        if self._bank is not None:
            self._bank.close()

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)
