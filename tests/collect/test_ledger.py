"""A ledger that cannot be written says so to everyone who waits, whatever went wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from skilldelta.collect import ledger as module
from skilldelta.collect.ledger import Amount, Ledger, read_spend
from skilldelta.errors import InputError

FAILURES = [OSError(28, "No space left on device"), AttributeError("no fdatasync"), MemoryError()]


def failing(error: Exception) -> Callable[[int], None]:
    def flush(_: int) -> None:
        raise error

    return flush


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
def test_any_failure_reaches_every_caller_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(module, "flush_durably", failing(error))

    async def reserve_five() -> list[object]:
        ledger = Ledger(tmp_path / "ledger.jsonl")
        calls = [ledger.reserve(ledger.new_call(), "call", Amount(1, 0)) for _ in range(4)]
        waiting = [asyncio.ensure_future(call) for call in calls]
        await asyncio.sleep(0)
        ledger.settle(0, Amount(1, 0), seconds=0)  # queued behind the first flush; nobody waits for it
        results = await asyncio.gather(*waiting, return_exceptions=True)
        results += await asyncio.gather(ledger.reserve(9, "later", Amount(1, 0)), return_exceptions=True)
        with pytest.raises(InputError):
            await ledger.close(0.0)
        return list(results)

    results = asyncio.run(asyncio.wait_for(reserve_five(), 10))
    assert len(results) == 5
    assert all(isinstance(one, InputError) and "the ledger cannot be written" in str(one) for one in results)


def test_a_ledger_works_where_there_is_no_fdatasync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.fdatasync", raising=False)

    async def one_call() -> None:
        ledger = Ledger(tmp_path / "ledger.jsonl")
        await ledger.reserve(ledger.new_call(), "call", Amount(5, 0.5))
        await ledger.close(1.0)

    asyncio.run(asyncio.wait_for(one_call(), 10))
    assert read_spend(tmp_path / "ledger.jsonl").tokens == 5
