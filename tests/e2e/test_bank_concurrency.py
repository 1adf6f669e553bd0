"""Several processes write one bank, one of them is killed with SIGKILL, and nothing that was acknowledged is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.store import Bank
from skilldelta.records import Task

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is POSIX")

EXECUTIONS, A_BATCH = 10_000, 250

_WRITER = """
import json, os, sys
from skilldelta.bank.batch import Batch
from skilldelta.bank.store import Bank
from skilldelta.records import Agent, Execution

path, log, name, count, size = *sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5])
agent = Agent(name)
with Bank.open(path, timeout=120) as bank, open(log, "w") as acknowledged:
    for start in range(0, count, size):
        numbers = range(start, start + size)
        runs = [Execution(agent, "default", f"t{n % 50}", "skip", n // 50, (n % 2) / 1) for n in numbers]
        added = bank.add(Batch(executions=runs)).executions
        acknowledged.write(json.dumps([start, added]) + "\\n")
        acknowledged.flush()
        os.fsync(acknowledged.fileno())
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A bank with fifty tasks."""
    with Bank.open(tmp_path / "shared.bank", create=True) as bank:
        bank.add(Batch(tasks=[Task(f"t{i}", f"Question {i}?", "f") for i in range(50)]))
    return tmp_path / "shared.bank"


def start_writer(path: Path, name: str, count: int = EXECUTIONS, size: int = A_BATCH) -> subprocess.Popen[bytes]:
    """A process that appends `count` executions as the agent `name` and logs every acknowledged batch."""
    arguments = [str(path), str(path.with_name(f"{name}.log")), name, str(count), str(size)]
    return subprocess.Popen([sys.executable, "-c", _WRITER, *arguments], stderr=subprocess.PIPE)


def acknowledged(path: Path, name: str) -> list[int]:
    """The first execution of each batch whose commit was acknowledged; a torn last line was not."""
    log = path.with_name(f"{name}.log")
    lines = log.read_text().splitlines() if log.exists() else []
    starts = []
    for line in lines:
        try:
            start, added = json.loads(line)
        except ValueError:
            continue
        assert added == A_BATCH
        starts.append(start)
    return starts


def has_acknowledged(path: Path, name: str, batches: int) -> bool:
    """Whether a writer got that far."""
    return len(acknowledged(path, name)) >= batches


def numbers(bank: Bank) -> dict[str, set[int]]:
    """The executions in the bank by writer."""
    found: dict[str, set[int]] = {}
    for execution in bank.executions():
        number = execution.repetition * 50 + int(execution.task_id.removeprefix("t"))
        found.setdefault(execution.agent.name, set()).add(number)
        assert execution.success == number % 2
    return found


def wait_until(condition: Callable[[], bool], seconds: float) -> None:
    """Poll until a condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the writers did not get far enough"
        time.sleep(0.005)


def test_four_writers_lose_nothing_that_was_acknowledged_when_one_is_killed(path: Path) -> None:
    names = ["w0", "w1", "w2", "w3"]
    writers = {name: start_writer(path, name) for name in names}
    try:
        wait_until(partial(has_acknowledged, path, "w3", 5), 60)
        os.kill(writers["w3"].pid, signal.SIGKILL)
        with Bank.open(path, readonly=True) as reader:  # readers need no lock and see whole batches only
            for seen in numbers(reader).values():
                assert len(seen) % A_BATCH == 0
        for name in names[:3]:
            _, errors = writers[name].communicate(timeout=120)
            assert writers[name].returncode == 0, errors.decode()
        assert writers["w3"].wait() == -signal.SIGKILL
    finally:
        for writer in writers.values():
            if writer.poll() is None:
                writer.kill()
                writer.wait()
    with Bank.open(path) as bank:
        assert bank.verify() == []
        found = numbers(bank)
        for name in names[:3]:
            assert found[name] == set(range(EXECUTIONS))
        kept = acknowledged(path, "w3")
        assert all(set(range(start, start + A_BATCH)) <= found["w3"] for start in kept)
        # At most one batch beyond the acknowledged ones: committed, and killed before it could say so.
        assert len(found["w3"]) - A_BATCH * len(kept) in (0, A_BATCH)
        assert len(found["w3"]) < EXECUTIONS


def test_writers_killed_one_after_another_never_corrupt_the_bank_or_leave_it_locked(path: Path) -> None:
    for round_, name in enumerate(["w0", "w1", "w2"]):
        writer = start_writer(path, name)
        wait_until(partial(has_acknowledged, path, name, round_ + 1), 60)
        writer.kill()
        writer.wait()
        with Bank.open(path, timeout=1) as bank:  # the dead holder's lock is free at once
            assert bank.verify() == []
            assert len(numbers(bank)[name]) >= A_BATCH * len(acknowledged(path, name))
            assert bank.add(Batch(tasks=[Task(f"after {name}", "Still writable?", "f")])).tasks == 1


def test_two_processes_that_create_one_bank_at_once_both_find_it(tmp_path: Path) -> None:
    script = "import sys; from skilldelta.bank.store import Bank; Bank.open(sys.argv[1], create=True).close()"
    makers = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "new.bank")]) for _ in range(2)]
    assert [maker.wait(timeout=120) for maker in makers] == [0, 0]
    with Bank.open(tmp_path / "new.bank", readonly=True) as bank:
        assert bank.verify() == []
