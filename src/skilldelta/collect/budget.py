"""The budget: caps on calls, tokens, dollars and time, and the one way to make a paid call.

A call is reserved at its largest possible amount before it is made, so a cap is never passed; when it ends, the ledger
holds what it came to. One reservation is one request: a call that broke off and may have been paid is booked at its most,
and trying again reserves again. Where reservations of calls in flight leave no room, a new call waits for them to settle.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from skilldelta.collect.execution_errors import CapReachedError, IncompleteError, StopCollectionError, TransportError
from skilldelta.collect.ledger import Amount as Amount
from skilldelta.collect.ledger import Ledger, Spend
from skilldelta.errors import InputError
from skilldelta.nouns import plural

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars per million tokens."""

    input: float
    output: float

    def __post_init__(self) -> None:
        for price in (self.input, self.output):
            if not math.isfinite(price) or price < 0:
                raise InputError(f"a price must be a number of dollars of at least 0, got {price:g}")

    def usd(self, tokens_in: float, tokens_out: float) -> float:
        return (tokens_in * self.input + tokens_out * self.output) / 1e6


def priced(tokens_in: int, tokens_out: int, prices: Prices | None) -> Amount:
    """Tokens with their price, where it is known."""
    return Amount(float(tokens_in + tokens_out), prices.usd(tokens_in, tokens_out) if prices else None)


@dataclass(frozen=True, slots=True)
class Caps:
    """The most a collection may take over all its restarts; None is no cap."""

    calls: int | None = None
    tokens: float | None = None
    usd: float | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        for name in ("calls", "tokens", "usd", "seconds"):
            value = getattr(self, name)
            if value is not None and not math.isfinite(value):
                raise InputError(f"a cap of {value} {name} could never bind; give a number or leave the cap out")
            if value is not None and value <= 0:
                raise InputError(f"a cap of {value} {name} allows no call; give a larger one or leave the cap out")


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call without answer is made again, and how long to wait in between."""

    times: int = 4
    first_wait: float = 1.0
    longest_wait: float = 60.0

    def wait(self, attempt: int, retry_after: float | None, rng: random.Random) -> float:
        """Doubling waits with jitter, so that many workers do not come back at the same moment."""
        backoff = min(self.longest_wait, self.first_wait * 2.0**attempt) * rng.uniform(0.5, 1.0)
        return min(max(backoff, retry_after or 0.0), self.longest_wait)


@dataclass(slots=True)
class Budget:
    """Spending under caps. One per collection; every paid call goes through `call`."""

    ledger: Ledger
    caps: Caps = field(default_factory=Caps)
    retries: Retries = field(default_factory=Retries)
    _calls: int = field(init=False)
    _finished: Spend = field(init=False)
    _held_tokens: float = 0.0
    _held_usd: float = 0.0
    _flying: int = 0
    _sent: dict[int, float] = field(default_factory=dict)
    _room: asyncio.Event = field(default_factory=asyncio.Event)
    _started: float = field(default_factory=time.monotonic)
    _rng: random.Random = field(default_factory=lambda: random.Random(0))

    def __post_init__(self) -> None:
        self._calls = self.ledger.before.calls
        self._finished = self.ledger.before

    @property
    def seconds(self) -> float:
        """Time spent collecting, over all restarts."""
        return self.ledger.before.seconds + time.monotonic() - self._started

    @property
    def spend(self) -> Spend:
        """What finished calls came to, over all restarts; it never falls. Calls in flight are only counted."""
        return replace(self._finished, calls=self._calls, seconds=self.seconds)

    @property
    def waiting(self) -> tuple[int, float]:
        """How many calls wait for their answers, and the seconds for which the oldest has waited."""
        sent = self._sent.values()
        return len(sent), time.monotonic() - min(sent) if sent else 0.0

    async def call(
        self,
        name: str,
        most: Amount,
        send: Callable[[], Awaitable[T]],
        amount_of: Callable[[T], Amount],
        *,
        retry: bool = True,
    ) -> T:
        """Make one call within the caps; transport errors are tried again, each time as a new call on the ledger.

        Without `retry` the caller tries again itself.
        """
        times = self.retries.times if retry else 0
        for attempt in range(times + 1):
            number = await self._reserve(name, most)
            spent = most  # whatever ends the call early, the endpoint may well have done the work
            self._sent[number] = time.monotonic()
            try:
                result = await send()
                spent = amount_of(result)
                return result
            except Exception as error:
                if _is_unpaid(error):
                    spent = Amount()
                if attempt == times or not isinstance(error, TransportError):
                    raise
                wait = self.retries.wait(attempt, error.retry_after, self._rng)
            finally:
                del self._sent[number]
                self._settle(number, most, spent)
            await asyncio.sleep(wait)
        raise AssertionError("the loop returns or raises")

    async def close(self) -> None:
        """Put everything on disk and close the ledger."""
        await self.ledger.close(self.seconds)

    async def _reserve(self, name: str, most: Amount) -> int:
        while reason := self._full(most):
            if not self._flying:
                raise CapReachedError(f"{reason}; raise the cap and run the same command to go on")
            self._room.clear()
            await self._room.wait()
        self._calls += 1
        self._flying += 1
        self._held_tokens += most.tokens or 0.0
        self._held_usd += most.usd or 0.0
        number = self.ledger.new_call()
        try:
            await self.ledger.reserve(number, name, most)
        except BaseException:
            self._settle(number, most, Amount())  # stopped before the call was made
            raise
        return number

    def _settle(self, number: int, most: Amount, spent: Amount) -> None:
        self._flying -= 1
        self._held_tokens -= most.tokens or 0.0
        self._held_usd -= most.usd or 0.0
        self._finished = self._finished.plus(spent, most)
        self.ledger.settle(number, spent, seconds=self.seconds)
        self._room.set()

    def _full(self, most: Amount) -> str:
        """Why another call of this size does not fit, or nothing. A call of unknown cost counts at its most."""
        caps, done = self.caps, self._finished
        tokens = done.tokens + done.most_tokens + self._held_tokens
        usd = done.usd + done.most_usd + self._held_usd
        if caps.calls is not None and self._calls + 1 > caps.calls:
            return f"the cap of {plural(caps.calls, 'call')} is reached"
        if caps.tokens is not None and tokens + (most.tokens or 0.0) > caps.tokens:
            return f"the cap of {plural(caps.tokens, 'token')} has no room for another call ({tokens:,.0f} spent)"
        if caps.usd is not None and usd + (most.usd or 0.0) > caps.usd:
            return f"the cap of ${caps.usd:,.2f} has no room for another call (${usd:,.2f} spent)"
        if caps.seconds is not None and self.seconds >= caps.seconds:
            return f"the cap of {caps.seconds:,.0f} s is reached"
        return ""


def _is_unpaid(error: Exception) -> bool:
    """A refusal, or a failure before anything was sent; `status_code` is a refusal as Inspect's providers raise it."""
    if isinstance(error, TransportError | IncompleteError | StopCollectionError):
        return not error.may_be_paid
    return isinstance(getattr(error, "status_code", None), int)
