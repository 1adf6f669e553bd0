"""A study is killed while it prepares, collects, judges and writes its tables: it pays nothing twice and ends the same."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from collect.endpoint import Endpoint, serving
from skilldelta.bank import Bank
from suites import fake_models, sra_files

TASKS, CONCURRENCY = 12, 2
CALLS = 3 * TASKS
"""Two arms, and one judgement, per task."""


def start(folder: Path, output: Path, endpoint: Endpoint) -> subprocess.Popen[str]:
    words = ["study", "logicbench", "--from", str(folder / "logicbench.json"), "--skills", str(folder / "corpus.json")]
    where = ["--base-url", endpoint.url, "--model", "m", "--output", str(output), "--concurrency", str(CONCURRENCY)]
    more = ["--repetitions", "1", "--resamples", "50", "--yes", "--json"]
    command = [sys.executable, "-m", "skilldelta", *words, *where, *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_when(process: subprocess.Popen[str], reached: Callable[[], bool]) -> None:
    """SIGKILL as soon as a study has come this far."""
    deadline = time.monotonic() + 120
    while process.poll() is None and not reached() and time.monotonic() < deadline:
        time.sleep(0.002)
    assert process.poll() is None, process.communicate()
    process.kill()
    process.communicate()


def test_a_study_that_is_killed_at_every_phase_ends_with_the_same_tables(tmp_path: Path) -> None:
    rows = sra_files.logicbench(TASKS)
    sra_files.write(tmp_path, "logicbench.json", rows)
    sra_files.write(tmp_path, "corpus.json", sra_files.corpus(rows))
    with serving(fake_models.logicbench, delay=0.02) as endpoint:
        straight, errors = start(tmp_path, tmp_path / "straight", endpoint).communicate(timeout=120)
        assert len(endpoint.bodies) == CALLS, errors
        endpoint.bodies.clear()
        kills: tuple[Callable[[], bool], ...] = (
            lambda: (tmp_path / "killed").exists(),  # preparing
            lambda: len(endpoint.bodies) >= 9,  # collecting
            lambda: len(endpoint.bodies) >= 2 * TASKS + 8,  # judging
            lambda: (tmp_path / "killed" / "tables.json").exists(),  # writing tables and the report
        )
        for reached in kills:
            kill_when(start(tmp_path, tmp_path / "killed", endpoint), reached)
        ended, errors = start(tmp_path, tmp_path / "killed", endpoint).communicate(timeout=120)
        paid = len(endpoint.bodies)
    assert json.loads(ended)["tables"] == json.loads(straight)["tables"], errors
    for name in ("tables.json", "tables.md"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()
    assert CALLS <= paid <= CALLS + len(kills) * 2 * CONCURRENCY  # calls in flight when it was killed are made again
    with Bank.open(tmp_path / "killed" / "study.bank") as bank:
        executions = list(bank.executions())
        assert bank.verify() == []
    counted = Counter((one.task_id, one.condition) for one in executions)
    assert set(counted.values()) == {1}
    assert len(counted) == 2 * TASKS
