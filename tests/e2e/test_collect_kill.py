"""The collector is killed at random moments and resumed: every planned execution once, every call on the ledger."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from collect.endpoint import Endpoint, serving
from collect.suites import solve, write_suite
from skilldelta.bank import Bank
from skilldelta.collect.ledger import read_spend


def start(suite: Path, bank: Path, endpoint: Endpoint) -> subprocess.Popen[str]:
    options = ["--model", "m", "--bank", str(bank), "--concurrency", "4", "--repetitions", "2", "--json"]
    command = [sys.executable, "-m", "skilldelta", "collect", str(suite), "--base-url", endpoint.url, *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_after_calls(process: subprocess.Popen[str], endpoint: Endpoint, calls: int, moment: float) -> bool:
    """SIGKILL a moment after a number of further calls arrived; False when the collector was done before."""
    wanted = len(endpoint.bodies) + calls
    while len(endpoint.bodies) < wanted and process.poll() is None:
        time.sleep(0.002)
    time.sleep(moment)
    was_running = process.poll() is None
    process.kill()
    process.communicate()
    return was_running


def check_killed_and_resumed(tmp_path: Path, *, kills: int, tasks: int, seed: int) -> None:
    suite = write_suite(tmp_path / "suite", tasks=tasks)
    bank = tmp_path / "b.bank"
    rng = random.Random(seed)
    with serving(solve, delay=0.01) as endpoint:
        for _ in range(kills):
            process = start(suite, bank, endpoint)
            assert kill_after_calls(process, endpoint, rng.randrange(0, 6), rng.uniform(0, 0.03)), (
                "done too early to kill"
            )
        process = start(suite, bank, endpoint)
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        summary = json.loads(output)
        calls_seen = len(endpoint.bodies)

    with Bank.open(bank) as opened:
        executions = list(opened.executions())
        assert opened.verify() == []
    counted = Counter((one.task_id, one.condition, one.repetition) for one in executions)
    assert counted == Counter(
        (f"t{i}", condition, repetition) for i in range(tasks) for condition in ("skip", "use") for repetition in (0, 1)
    )
    assert all(one.status == "completed" for one in executions)
    assert all(one.success == float(one.condition == "use") for one in executions)

    (ledger,) = Path(f"{bank}.collect").glob("*/ledger.jsonl")
    spend = read_spend(ledger)
    assert summary["spend"]["calls"] == spend.calls
    assert summary["spend"]["tokens"] == spend.tokens == sum_of(ledger)
    # Every call that reached the endpoint had been reserved, and what the bank holds was paid.
    assert spend.calls >= calls_seen >= len(executions)
    assert spend.tokens >= sum(one.tokens or 0 for one in executions)


def sum_of(ledger: Path) -> float:
    """The ledger added up by hand: a call counts as settled, or else as reserved."""
    amounts: dict[int, float] = {}
    for line in ledger.read_text().splitlines():
        entry = json.loads(line)
        if "call" in entry:
            amounts[entry["call"]] = (entry.get("settled") or entry["reserved"])["tokens"]
    return sum(amounts.values())


def test_a_killed_collector_resumes_to_exactly_the_planned_executions(tmp_path: Path) -> None:
    check_killed_and_resumed(tmp_path, kills=5, tasks=20, seed=1)


@pytest.mark.slow
def test_twenty_five_kills_at_random_moments_lose_and_double_nothing(tmp_path: Path) -> None:
    check_killed_and_resumed(tmp_path, kills=25, tasks=60, seed=2)
