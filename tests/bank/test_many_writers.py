"""Eight writers at once, clocks that go backwards, and a quota: nothing is lost, and nothing is counted twice."""

from __future__ import annotations

import multiprocessing
import sys
import time
from pathlib import Path

import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.entries import RecordedOutcome
from skilldelta.bank.store import Bank
from skilldelta.errors import BankError
from skilldelta.records import Task

from .small import AGENT, DECISION, THREE_PAIRS, TinyEncoder, skip, use

WRITERS = 8
BATCHES = 8


def write(location: str, writer: int) -> None:
    """Add pairs, some of which every writer adds, and decisions; read in between."""
    with Bank.open(location, timeout=60) as bank:
        for number in range(BATCHES):
            task = Task(f"{writer}-{number}", f"Question {number} of {writer}?", "f")
            shared = Task(f"shared-{number}", f"Question {number} of all?", "f")
            runs = [skip(task.task_id, 0.0), use(task.task_id, 1.0), skip(shared.task_id, 1.0)]
            bank.add(Batch([task, shared], executions=runs))
            decision = bank.record_decision(DECISION)
            bank.record_outcome(RecordedOutcome(decision, time.time(), success=1))
            if number % 5 == 0:
                bank.support(TinyEncoder(), agent=AGENT)


@pytest.mark.skipif(sys.platform == "win32", reason="processes are not forked there")
def test_eight_writers_lose_nothing_and_double_nothing(location: str) -> None:
    Bank.open(location, create=True).close()
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=write, args=(location, number)) for number in range(WRITERS)]
    for process in writers:
        process.start()
    for process in writers:
        process.join(120)
    assert [process.exitcode for process in writers] == [0] * WRITERS
    with Bank.open(location) as bank:
        assert len(bank.tasks()) == WRITERS * BATCHES + BATCHES
        assert len(list(bank.executions())) == 2 * WRITERS * BATCHES + BATCHES
        assert len(bank.pairing(agent=AGENT).pairs) == WRITERS * BATCHES
        decisions = bank.decisions()
        assert len({record.decision_id for record in decisions}) == len(decisions) == WRITERS * BATCHES
        assert all(len(record.outcomes) == 1 for record in decisions)
        assert bank.revision() == WRITERS * BATCHES
        assert bank.verify() == []


def test_a_clock_that_goes_backwards_loses_no_evidence(location: str) -> None:
    """Days back between two additions: the order of arrival, ids of decisions and what is learned do not depend on it."""
    times = iter([2_000_000.0, 1_000.0, 999.0, 998.0, 997.0])
    with Bank.open(location, create=True, clock=lambda: next(times)) as bank:
        bank.add(THREE_PAIRS)
        before = bank.panel_revision(AGENT, "default")
        bank.add(Batch(executions=[skip("t1", 1.0, repetition=1)]))
        assert bank.panel_revision(AGENT, "default") != before
        assert [execution.repetition for execution in bank.executions()] == [0] * 6 + [1]
        assert bank.keep_learned("a", {"part": b"1"}, revision=1)
        assert bank.keep_learned("a", {"part": b"2"}, revision=2)
        assert bank.learned("a", "part", revision=2) == b"2"
        ids = [bank.record_decision(DECISION) for _ in range(3)]
        assert ids == sorted(set(ids))
        (age,) = bank.evidence_ages()
        assert age.executions == 3


_QUOTA = """
import resource, sys
from skilldelta.bank.store import Bank
from skilldelta.bank.batch import Batch
from skilldelta.errors import BankError
from skilldelta.records import Task
added = 0
with Bank.open(sys.argv[1], create=True) as bank:
    resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))
    for number in range(400):
        try:
            bank.add(Batch([Task(f"n{number}", f"Question {number}? " * 100, "f")]))
            added += 1
        except BankError as error:
            assert len(str(error).splitlines()) == 1
    print(added)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file sizes cannot be limited there")
def test_a_quota_ends_additions_and_keeps_those_that_were_acknowledged(tmp_path: Path) -> None:
    import subprocess

    path = tmp_path / "my.bank"
    result = subprocess.run([sys.executable, "-c", _QUOTA, str(path)], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    added = int(result.stdout)
    assert 10 < added < 400
    with Bank.open(path) as bank:
        assert len(bank.tasks()) == added
        assert bank.verify() == []
        assert bank.add(Batch([Task("after", "With room again?", "f")])).tasks == 1


def test_a_locked_writer_gives_up_in_one_line(location: str) -> None:
    with Bank.open(location, create=True, timeout=0.3) as bank, Bank.open(location, timeout=5) as other:
        with other._database.write() as connection:
            connection.exec_driver_sql("SELECT 1")
            started = time.monotonic()
            with pytest.raises(BankError) as error:
                bank.add(THREE_PAIRS)
            assert time.monotonic() - started < 5
            assert "\n" not in str(error.value)
        assert bank.add(THREE_PAIRS).executions == 6
