"""Decisions and outcomes go to the log, many in one commit; each caller is answered once its row is committed.

A commit costs about the same for one row as for fifty. While one is under way, what arrives is gathered for the next. An
outcome is on the disk when it is acknowledged, and its decision with it. A decision alone survives the death of the
process at once, and a power failure a second later: an agent that waits for its answer does not wait for a disk.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import TypeVar

from skilldelta.bank.entries import DecisionRecord, Logged, RecordedOutcome
from skilldelta.bank.store import Bank
from skilldelta.errors import BankError, InputError

Entry = TypeVar("Entry", DecisionRecord, RecordedOutcome)

# Rows of one commit; the others wait for the next.
_AT_ONCE = 256
# Seconds without anything to write, after which decisions are made durable.
_SETTLE_AFTER = 1.0


@dataclass(frozen=True, slots=True)
class _Waiting:
    entry: DecisionRecord | RecordedOutcome
    answer: Future[Logged]


class LogWriter:
    """The one writer of a process to the log of one bank. Its thread starts with the first entry."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._queue: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._is_closed = False

    def write(self, entry: DecisionRecord | RecordedOutcome) -> Logged:
        """Store an entry; returns its id."""
        return self.submit(entry).result()

    def submit(self, entry: DecisionRecord | RecordedOutcome) -> Future[Logged]:
        """The future id of an entry, known when the entry is committed."""
        answer: Future[Logged] = Future()
        with self._starting:
            if self._is_closed:
                raise BankError("the log is closed: the service is shutting down")
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="skilldelta-log", daemon=True)
                self._thread.start()
            self._queue.put(_Waiting(entry, answer))
        return answer

    def close(self) -> None:
        """Write what is waiting, and stop."""
        with self._starting:
            self._is_closed = True
            thread = self._thread
            self._queue.put(None)
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        unsettled = False
        while True:
            batch, is_last = self._gathered(_SETTLE_AFTER if unsettled else None)
            decisions = [waiter for waiter in batch if isinstance(waiter.entry, DecisionRecord)]
            outcomes = [waiter for waiter in batch if isinstance(waiter.entry, RecordedOutcome)]
            self._store(decisions, partial(self._bank.record_decisions, durable=False))
            self._store(outcomes, self._bank.record_outcomes)
            if is_last or (unsettled and not batch):
                with suppress(BankError, OSError):  # replaced or gone: there is nothing left to settle
                    self._bank.settle()
            unsettled = bool(decisions) and not outcomes
            if is_last:
                return

    def _gathered(self, patience: float | None) -> tuple[list[_Waiting], bool]:
        """Everything that waits, or nothing after so many seconds; and whether the writer has to stop after it."""
        batch: list[_Waiting] = []
        try:
            item = self._queue.get(timeout=patience)
            while item is not None:
                batch.append(item)
                if len(batch) == _AT_ONCE:
                    return batch, False
                item = self._queue.get_nowait()
        except Empty:
            return batch, False
        return batch, True

    def _store(
        self, waiting: list[_Waiting], record: Callable[[list[Entry]], list[Logged] | list[Logged | InputError]]
    ) -> None:
        if not waiting:
            return
        try:
            answers = record([waiter.entry for waiter in waiting])  # type: ignore[misc]
        except BaseException as error:  # whoever waits gets it
            for waiter in waiting:
                waiter.answer.set_exception(error)
            return
        for waiter, answer in zip(waiting, answers, strict=True):
            if isinstance(answer, InputError):
                waiter.answer.set_exception(answer)
            else:
                waiter.answer.set_result(answer)
