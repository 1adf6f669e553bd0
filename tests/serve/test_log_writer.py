"""Many entries in one commit; each caller gets its own answer."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from skilldelta.bank import Bank, DecisionRecord, RecordedOutcome
from skilldelta.bank.entries import Logged
from skilldelta.errors import BankError, NotRecordedError
from skilldelta.records import Agent
from skilldelta.serve import log_writer
from skilldelta.serve.log_writer import LogWriter

DECISION = DecisionRecord(1.0, Agent("a"), "s", "", "use", 0.5, 0.0, "because")


class CountingBank:
    """A real bank that says how often it was written to, slowly enough for others to wait."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self.commits = 0
        self.settled = threading.Event()

    def record_decisions(self, records: list[DecisionRecord], *, durable: bool) -> list[Logged]:
        self.commits += 1
        time.sleep(0.05)
        return self._bank.record_decisions(records, durable=durable)

    def record_outcomes(self, outcomes: list[RecordedOutcome]) -> object:
        return self._bank.record_outcomes(outcomes)

    def settle(self) -> None:
        self._bank.settle()
        self.settled.set()


def test_entries_that_wait_together_are_committed_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_writer, "_SETTLE_AFTER", 0.05)
    with Bank.open(tmp_path / "log.bank", create=True) as bank:
        counting = CountingBank(bank)
        writer = LogWriter(counting)  # type: ignore[arg-type]
        waiting = [writer.submit(DECISION) for _ in range(40)]
        assert sorted(one.result().id for one in waiting) == list(range(1, 41))
        assert counting.commits <= 3
        assert counting.settled.wait(5)
        good, bad = (
            writer.submit(RecordedOutcome(1, 1.0, success=1)),
            writer.submit(RecordedOutcome(99, 1.0, success=1)),
        )
        assert good.result().is_new
        with pytest.raises(NotRecordedError):
            bad.result()
        writer.close()
        with pytest.raises(BankError, match="shutting down"):
            writer.write(DECISION)
