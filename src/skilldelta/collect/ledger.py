"""The ledger: every call reserved before it is made and settled after, on disk before the call starts.

One JSON object per line, appended and synced. Lines of calls that happen together are synced together, so a busy collection
pays for a few syncs and not for one per call. A call that was reserved and never settled (the process died) may have been
paid: it stays in the sum at its reserved amount.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilldelta.errors import InputError
from skilldelta.files import flush_durably

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Amount:
    """Tokens and dollars of one call; None is unknown, which is not nothing."""

    tokens: float | None = 0.0
    usd: float | None = 0.0

    @classmethod
    def total(cls, amounts: Iterable[Amount]) -> Amount:
        """The sum; unknown where one of them is."""
        rows = list(amounts)
        return cls(_sum([row.tokens for row in rows]), _sum([row.usd for row in rows]))

    def at_least(self, tokens: float | None, usd: float | None) -> Amount:
        """The larger of this and another amount; what is unknown in one is taken from the other."""
        return Amount(_larger(self.tokens, tokens), _larger(self.usd, usd))


@dataclass(frozen=True, slots=True)
class Spend:
    """A sum of calls. What an endpoint does not say is unknown and counted as such; it is no zero."""

    calls: int = 0
    tokens: float = 0.0
    """Of the calls that told; `total_tokens` is the sum over all, where it is known."""
    usd: float = 0.0
    seconds: float = 0.0
    """Time the collector ran, over all restarts."""
    unsettled: int = 0
    """Calls whose outcome is unknown because the collector died during them."""
    tokens_unknown: int = 0
    """Finished calls without a count of tokens."""
    usd_unknown: int = 0
    """Finished calls without a price."""
    most_tokens: float = 0.0
    """What the calls of unknown tokens can have taken: caps count it."""
    most_usd: float = 0.0

    @property
    def total_tokens(self) -> float | None:
        """The tokens of all calls; None when one of them did not tell."""
        return None if self.tokens_unknown else self.tokens

    @property
    def total_usd(self) -> float | None:
        """The dollars of all calls; None when one of them has no price."""
        return None if self.usd_unknown else self.usd

    def plus(self, spent: Amount, reserved: Amount) -> Spend:
        """With one finished call more; what is unknown of it counts in the sums of the most that calls can have taken."""
        tokens, usd = spent.tokens, spent.usd
        return Spend(  # once per call: `replace` takes three times as long
            calls=self.calls,
            tokens=self.tokens + (tokens or 0.0),
            usd=self.usd + (usd or 0.0),
            seconds=self.seconds,
            unsettled=self.unsettled,
            tokens_unknown=self.tokens_unknown + (tokens is None),
            usd_unknown=self.usd_unknown + (usd is None),
            most_tokens=self.most_tokens + ((reserved.tokens or 0.0) if tokens is None else 0.0),
            most_usd=self.most_usd + ((reserved.usd or 0.0) if usd is None else 0.0),
        )


class Ledger:
    """An open ledger file. Use from one event loop; `close` before the loop ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        before, self._next_id, length = _replay(path)
        self.before = before
        self._file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
        os.ftruncate(self._file, length)  # a line that was torn when the process died was never promised to anyone
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._lines: list[str] = []
        self._synced: asyncio.Future[None] | None = None
        self._broken: InputError | None = None
        self._flushing: asyncio.Task[None] | None = None

    def new_call(self) -> int:
        """The number of a call that is about to be reserved."""
        self._next_id += 1
        return self._next_id - 1

    async def reserve(self, number: int, name: str, most: Amount) -> None:
        """Put a call on disk; it may be made when this returns."""
        await asyncio.shield(
            self._queue({"call": number, "name": name, "reserved": {"tokens": most.tokens, "usd": most.usd}})
        )

    def settle(self, number: int, spent: Amount, *, seconds: float) -> None:
        """Replace a reservation by what the call came to. On disk with the next sync; until then the reservation holds."""
        settled = {"tokens": spent.tokens, "usd": spent.usd}
        self._queue({"call": number, "settled": settled, "seconds": round(seconds, 3)})

    async def close(self, seconds: float) -> None:
        """Write what is queued and the time that was spent."""
        try:
            await asyncio.shield(self._queue({"seconds": round(seconds, 3)}))
        finally:
            self._thread.shutdown(wait=True)
            os.close(self._file)

    def _queue(self, entry: dict[str, Any]) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        if self._broken is not None:
            # A line may be half on disk; one written after it would be lost with it.
            raise self._broken
        self._lines.append(_encode(entry))
        if self._synced is None:
            self._synced = loop.create_future()
        synced = self._synced
        if self._flushing is None or self._flushing.done():
            self._flushing = loop.create_task(self._flush())
        return synced

    async def _flush(self) -> None:
        loop = asyncio.get_running_loop()
        while self._lines:
            synced, self._synced = self._synced, None
            lines, self._lines = self._lines, []
            try:
                await loop.run_in_executor(
                    self._thread, self._write, ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")
                )
            except BaseException as error:
                # Whatever went wrong, everyone who waits must hear of it: a future left open would never end.
                self._break(error, synced)
                if not isinstance(error, Exception):
                    raise
            else:
                if synced is not None:
                    synced.set_result(None)

    def _break(self, error: BaseException, synced: asyncio.Future[None] | None) -> None:
        """Fail those who wait for this flush and for the next, and refuse whatever comes later."""
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        self._broken = InputError(f"{self.path}: the ledger cannot be written ({reason}); nothing more was called")
        for waiting in (synced, self._synced):
            if waiting is not None:
                waiting.set_exception(self._broken)
                waiting.exception()  # nobody waits for a settlement: Python would warn that its failure went unseen
        self._synced, self._lines = None, []

    def _write(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._file, data) :]
        flush_durably(self._file)


def read_spend(path: Path) -> Spend:
    """The sum of a ledger file; an absent one is an empty sum."""
    return _replay(path)[0]


def _replay(path: Path) -> tuple[Spend, int, int]:
    """The sum so far, the next call's number, and how many bytes of the file are whole lines."""
    if not path.exists():
        return Spend(), 0, 0
    data = path.read_bytes()
    length = data.rfind(b"\n") + 1
    spend, last = Spend(), -1
    open_calls: dict[int, Amount] = {}
    for number, line in enumerate(data[:length].splitlines(), start=1):
        try:
            entry = json.loads(line)
            spend = replace(spend, seconds=entry.get("seconds", spend.seconds))
            if "reserved" in entry:
                open_calls[entry["call"]] = _amount(entry["reserved"])
                last = max(last, entry["call"])
                spend = replace(spend, calls=spend.calls + 1)
            elif "settled" in entry:
                spent = _amount(entry["settled"])
                spend = spend.plus(spent, open_calls.pop(entry["call"], spent))
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(f"{path}:{number}: not a line of a ledger; restore the file or move it away") from None
    for reserved in open_calls.values():
        spend = spend.plus(reserved, reserved)
    return replace(spend, unsettled=len(open_calls)), last + 1, length


def _amount(entry: Mapping[str, float | None]) -> Amount:
    return Amount(entry["tokens"], entry["usd"])


def _sum(values: Sequence[float | None]) -> float | None:
    return None if None in values else sum(value for value in values if value is not None)


def _larger(first: float | None, other: float | None) -> float | None:
    return max((value for value in (first, other) if value is not None), default=None)
