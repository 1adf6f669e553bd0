from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from skilldelta.collect.budget import Budget, Caps, Prices, Retries
from skilldelta.collect.execution_errors import CapReachedError, IncompleteError, StopCollectionError, TransportError
from skilldelta.collect.ledger import Amount, Ledger, read_spend
from skilldelta.collect.transcript import repair_end
from skilldelta.errors import InputError

NO_WAIT = Retries(times=2, first_wait=0.0)


def spending(path: Path, work: Callable[[Budget], Awaitable[None]], caps: Caps | None = None) -> None:
    """Open a budget, do the work, close it: one start of the collector."""

    async def main() -> None:
        budget = Budget(Ledger(path), caps or Caps(), NO_WAIT)
        try:
            await work(budget)
        finally:
            await budget.close()

    asyncio.run(main())


async def call(budget: Budget, *, most: float = 10, spent: float = 4, name: str = "t") -> None:
    async def send() -> float:
        return spent

    await budget.call(name, Amount(most, most / 100), send, lambda tokens: Amount(tokens, tokens / 100))


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_call_is_on_disk_before_it_is_made_and_settled_after(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    seen: list[list[dict[str, object]]] = []

    async def work(budget: Budget) -> None:
        async def send() -> int:
            seen.append(lines(path))
            return 4

        await budget.call("t/use/0", Amount(10, 0.1), send, lambda tokens: Amount(tokens, 0.04))

    spending(path, work)
    assert seen == [[{"call": 0, "name": "t/use/0", "reserved": {"tokens": 10, "usd": 0.1}}]]
    assert lines(path)[1]["settled"] == {"tokens": 4, "usd": 0.04}


def test_the_sum_of_the_ledger_is_what_was_spent_over_all_starts(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    for _ in range(3):
        spending(path, call)
    spend = read_spend(path)
    assert (spend.calls, spend.tokens, spend.unsettled) == (3, 12, 0)
    assert spend.usd == pytest.approx(0.12)
    assert [entry["call"] for entry in lines(path) if "reserved" in entry] == [0, 1, 2]


def test_a_call_that_was_never_settled_counts_as_reserved(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text('{"call":0,"name":"t","reserved":{"tokens":10,"usd":0.1}}\n')
    spend = read_spend(path)
    assert (spend.calls, spend.tokens, spend.usd, spend.unsettled) == (1, 10, 0.1, 1)


def test_a_line_torn_by_a_kill_is_dropped_and_the_ledger_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    spending(path, call)
    with path.open("a") as file:
        file.write('{"call":1,"name":"t","rese')
    spending(path, call)
    assert (read_spend(path).calls, read_spend(path).tokens) == (2, 8)


def test_a_ledger_cut_at_any_byte_of_its_last_line_never_loses_a_reservation(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    spending(path, call)
    whole = path.read_bytes()
    *before, settled, _ = whole.splitlines(keepends=True)
    for cut in range(len(settled) + 1):
        path.write_bytes(b"".join(before) + settled[:cut])
        repair_end(path)
        spending(path, call)
        known = 4 if cut >= len(settled) - 1 else 10  # settled, or else at the most it can have cost
        assert (read_spend(path).calls, read_spend(path).tokens) == (2, known + 4), cut


def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_text("hello\n")
    with pytest.raises(InputError, match=r"ledger\.jsonl:1: not a line of a ledger"):
        read_spend(path)


def test_a_cap_on_calls_is_never_passed_over_restarts(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"

    async def three(budget: Budget) -> None:
        for _ in range(3):
            await call(budget)

    spending(path, three, Caps(calls=4))
    with pytest.raises(CapReachedError, match="cap of 4 calls is reached"):
        spending(path, three, Caps(calls=4))
    assert read_spend(path).calls == 4


def test_a_cap_on_tokens_is_never_passed_by_calls_at_the_same_time(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    refused = 0

    async def many(budget: Budget) -> None:
        nonlocal refused
        results = await asyncio.gather(*(call(budget, most=30, spent=9) for _ in range(20)), return_exceptions=True)
        refused = sum(isinstance(result, CapReachedError) for result in results)

    spending(path, many, Caps(tokens=100))
    spend = read_spend(path)
    # 8 calls of 9 tokens leave 28, too little for a reservation of 30: settled calls made room for others.
    assert (spend.calls, spend.tokens, refused) == (8, 72, 12)


def test_a_cap_on_dollars_and_one_on_time_stop_too(tmp_path: Path) -> None:
    with pytest.raises(CapReachedError, match=r"cap of \$0.05 has no room"):
        spending(tmp_path / "a", call, Caps(usd=0.05))
    (tmp_path / "b").write_text('{"seconds": 100}\n')
    with pytest.raises(CapReachedError, match="cap of 99 s is reached"):
        spending(tmp_path / "b", call, Caps(seconds=99))


@pytest.mark.parametrize("cap", ["calls", "tokens", "usd", "seconds"])
def test_a_cap_of_zero_is_refused_with_a_remedy(cap: str) -> None:
    with pytest.raises(InputError, match=f"a cap of 0 {cap} allows no call"):
        Caps(**{cap: 0})


def test_a_call_without_answer_is_tried_again_and_every_try_is_on_the_ledger(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    tries = 0

    async def work(budget: Budget) -> None:
        async def send() -> int:
            nonlocal tries
            tries += 1
            if tries < 3:
                raise TransportError("gone")
            return 4

        await budget.call("t", Amount(10), send, lambda tokens: Amount(tokens))

    spending(path, work)
    assert (tries, read_spend(path).calls, read_spend(path).tokens) == (3, 3, 4)


def test_after_the_last_try_the_transport_error_surfaces(tmp_path: Path) -> None:
    async def work(budget: Budget) -> None:
        async def send() -> int:
            raise TransportError("gone")

        await budget.call("t", Amount(10), send, lambda tokens: Amount(tokens))

    with pytest.raises(TransportError, match="gone"):
        spending(tmp_path / "l", work)
    assert read_spend(tmp_path / "l").calls == 3


def test_waits_double_stay_below_the_longest_and_follow_the_server() -> None:
    retries = Retries(times=9, first_wait=1, longest_wait=10)
    rng = random.Random(0)
    waits = [retries.wait(attempt, None, rng) for attempt in range(8)]
    assert all(0.5 * min(10, 2**i) <= wait <= min(10, 2**i) for i, wait in enumerate(waits))
    assert retries.wait(0, 7.0, rng) == 7.0
    assert retries.wait(0, 700.0, rng) == 10


def test_prices_are_per_million_tokens() -> None:
    assert Prices(input=3, output=15).usd(1_000_000, 100_000) == pytest.approx(4.5)


@pytest.mark.parametrize(
    ("error", "booked"),
    [
        (TransportError("busy"), 0),
        (TransportError("reset", may_be_paid=True), 10),
        (IncompleteError("refused", may_be_paid=False), 0),
        (IncompleteError("broke down"), 10),
        (StopCollectionError("bad key"), 0),
        (StopCollectionError("another model", may_be_paid=True), 10),
        (RuntimeError("a bug"), 10),
    ],
)
def test_a_failed_call_is_booked_at_its_most_unless_it_was_surely_not_paid(
    tmp_path: Path, error: Exception, booked: float
) -> None:
    async def work(budget: Budget) -> None:
        async def send() -> int:
            raise error

        with pytest.raises(type(error)):
            await budget.call("t", Amount(10, None), send, lambda _: Amount(), retry=False)

    spending(tmp_path / "l", work)
    assert read_spend(tmp_path / "l").tokens == booked


def test_a_call_of_unknown_cost_is_unknown_and_caps_count_its_most(tmp_path: Path) -> None:
    path = tmp_path / "l"

    async def silent(budget: Budget) -> None:
        async def send() -> int:
            return 0

        await budget.call("t", Amount(10, 0.1), send, lambda _: Amount(None, None))

    spending(path, silent)
    spending(path, call)
    spend = read_spend(path)
    assert (spend.tokens, spend.total_tokens, spend.tokens_unknown, spend.most_tokens) == (4, None, 1, 10)
    assert (spend.total_usd, spend.usd_unknown) == (None, 1)
    with pytest.raises(CapReachedError, match=r"cap of 20 tokens has no room for another call \(14 spent\)"):
        spending(path, call, Caps(tokens=20))


@pytest.mark.parametrize("cap", ["calls", "tokens", "usd", "seconds"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_cap_that_could_never_bind_is_refused(cap: str, value: float) -> None:
    with pytest.raises(InputError, match="could never bind"):
        Caps(**{cap: value})  # type: ignore[arg-type]


def test_calls_that_wait_are_counted_with_the_age_of_the_oldest(tmp_path: Path) -> None:
    seen = []

    async def work(budget: Budget) -> None:
        async def send() -> float:
            seen.append(budget.waiting)
            return 1.0

        await budget.call("t", Amount(10, 0.1), send, lambda tokens: Amount(tokens, 0.0))
        seen.append(budget.waiting)

    spending(tmp_path / "ledger.jsonl", work)
    assert [calls for calls, _ in seen] == [1, 0]
    assert seen[0][1] >= 0
    assert seen[1] == (0, 0.0)
