"""A kill while a bank is made leaves none, or a whole one; a bank is for its owner alone."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from skilldelta.bank import sqlite_files
from skilldelta.bank.migrations import LATEST
from skilldelta.bank.sqlite import SQLite
from skilldelta.bank.store import Bank
from skilldelta.errors import BankError

from .small import THREE_PAIRS

_KILLED_AT = """
import os, signal, sys
from skilldelta.bank import database, sqlite_files
from skilldelta.bank.store import Bank
where, place = sys.argv[2], {"migrate": database, "_take_name": sqlite_files, "flush_folder": sqlite_files, "rmtree": sqlite_files.shutil,
                             "flush_durably": sqlite_files, "write_lock": sqlite_files, "mkdtemp": sqlite_files.tempfile}[sys.argv[2]]
def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)
setattr(place, where, die)
Bank.open(sys.argv[1], create=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize(
    "step", ["write_lock", "mkdtemp", "migrate", "flush_durably", "_take_name", "flush_folder", "rmtree"]
)
def test_a_kill_at_any_step_leaves_a_bank_that_can_be_opened(tmp_path: Path, step: str) -> None:
    path = tmp_path / "my.bank"
    killed = subprocess.run([sys.executable, "-c", _KILLED_AT, str(path), step], timeout=60, check=False)
    assert killed.returncode == -signal.SIGKILL
    is_made = step in ("flush_folder", "rmtree")
    assert path.exists() == is_made
    if not is_made:
        with pytest.raises(BankError, match="there is no bank at"):
            Bank.open(path, readonly=True)
    with Bank.open(path, create=True) as bank:
        bank.add(THREE_PAIRS)
        assert bank.verify() == []
    if not is_made:  # what was left aside is gone
        assert sorted(file.name for file in tmp_path.iterdir()) == ["my.bank", "my.bank.commits", "my.bank.lock"]


def test_a_file_that_an_older_program_left_half_made_is_recovered(tmp_path: Path) -> None:
    """A rollback journal beside a file that readers may not roll back themselves."""
    path = tmp_path / "half.bank"
    Bank.open(path, create=True).close()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA cache_size = 1")
    connection.execute("BEGIN IMMEDIATE")
    for number in range(300):
        connection.execute("INSERT INTO meta VALUES (?, 1, 0)", (f"x{number}" * 50,))
    torn, journal = path.read_bytes(), Path(f"{path}-journal").read_bytes()
    connection.execute("ROLLBACK")
    connection.close()
    path.write_bytes(torn)
    Path(f"{path}-journal").write_bytes(journal)
    with Bank.open(path, readonly=True) as bank:
        assert bank.status().schema_version == LATEST
        assert bank.verify() == []


def test_a_file_that_appeared_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "my.txt"

    def appear(aside: Path) -> None:
        aside.write_text("new")
        path.write_text("not ours")

    sqlite_files.create_aside(path, appear)
    assert path.read_text() == "not ours"
    assert list(tmp_path.iterdir()) == [path]


def test_a_disk_without_hard_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with Bank.open(tmp_path / "my.bank", create=True) as bank:
        assert bank.add(THREE_PAIRS).executions == 6


def test_processes_that_make_a_bank_at_once_make_one(tmp_path: Path) -> None:
    script = "import sys; from skilldelta.bank.store import Bank; from bank.small import THREE_PAIRS\n"
    script += "with Bank.open(sys.argv[1], create=True) as bank: print(bank.add(THREE_PAIRS).executions)"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "my.bank")],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[1],
        )
        for _ in range(3)
    ]
    assert sorted(process.communicate(timeout=60)[0] for process in running) == ["0\n", "0\n", "6\n"]


def test_threads_that_make_a_bank_at_once_make_one(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        banks = list(pool.map(lambda _: Bank.open(tmp_path / "my.bank", create=True), range(8)))
    assert {bank.status().schema_version for bank in banks} == {LATEST}
    for bank in banks:
        bank.close()


@pytest.mark.parametrize("is_there", [False, True])
def test_a_bank_that_appears_while_it_is_opened_is_the_bank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    path = tmp_path / "my.bank"
    if is_there:
        path.touch()
    exists = SQLite.exists
    asked: list[bool] = []

    def appear(backend: SQLite) -> bool:
        if not asked:
            asked.append(True)
            Bank.open(path, create=True).close()
        return exists(backend)

    monkeypatch.setattr(SQLite, "exists", appear)
    with Bank.open(path) as bank:
        assert bank.add(THREE_PAIRS).executions == 6


@pytest.mark.skipif(sys.platform == "win32", reason="rights are no permission bits there")
def test_a_bank_and_the_files_beside_it_are_for_their_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with Bank.open(tmp_path / "new folder" / "my.bank", create=True) as bank:
            bank.add(THREE_PAIRS)
            bank.revision()
            files = {file.name: stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "new folder").iterdir()}
    finally:
        os.umask(before)
    assert sorted(files) == [f"my.bank{end}" for end in ("", "-shm", "-wal", ".commits", ".lock")]
    assert set(files.values()) == {0o600}


def test_an_empty_file_that_becomes_a_bank_is_for_its_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "my.bank").touch(0o644)
    Bank.open(tmp_path / "my.bank", create=True).close()
    if sys.platform != "win32":
        assert stat.S_IMODE((tmp_path / "my.bank").stat().st_mode) == 0o600


_FORK_AND_KILL = """
import os, signal, sys, time
from skilldelta.bank.store import Bank

def making(path):
    child = os.fork()
    if not child:
        Bank.open(path, create=True).close()
        os._exit(0)
    return child

def seconds(path):  # as long as it takes now: the machine may be busy
    start = time.perf_counter()
    os.waitpid(making(path), 0)
    return time.perf_counter() - start

Bank.open(sys.argv[1] + ".warm", create=True).close()
for number, share in enumerate(sys.stdin.read().split()):
    if number % 20 == 0:
        whole = min(seconds(f"{sys.argv[1]}.timed-{number}-{i}") for i in range(3))
    child = making(f"{sys.argv[1]}.{number}")
    time.sleep(float(share) * whole)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills a forked process")
def test_600_kills_while_a_bank_is_made_leave_no_bank_that_cannot_be_opened(
    tmp_path: Path, rng: np.random.Generator
) -> None:
    shares = " ".join(f"{share:.6f}" for share in rng.uniform(0, 1.4, 600))
    subprocess.run([sys.executable, "-c", _FORK_AND_KILL, str(tmp_path / "b")], input=shares, text=True, check=True)
    outcomes = {"none": 0, "whole": 0}
    for number in range(600):
        path = tmp_path / f"b.{number}"
        outcomes["whole" if path.exists() else "none"] += 1
        if path.exists():
            Bank.open(path, readonly=True).close()
        with Bank.open(path, create=True) as bank:
            assert bank.verify() == []
    print(outcomes)
    assert min(outcomes.values()) > 30, "the kills must come before and after a bank has its name"
