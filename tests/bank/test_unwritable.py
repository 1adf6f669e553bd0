"""Banks that may be read and not written: everything committed is shown, vectors are computed in memory."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.store import Bank

from .small import THREE_PAIRS, use

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="rights are permission bits here")

_AS_AN_ORDINARY_USER = """
import os, sys, tempfile, warnings
from skilldelta.bank.store import Bank
from skilldelta.errors import BankError
from bank.small import AGENT, THREE_PAIRS, TinyEncoder
if os.geteuid() == 0:
    with tempfile.TemporaryDirectory() as folder, Bank.open(folder + "/warm.bank", create=True) as bank:
        bank.add(THREE_PAIRS)  # loads what is loaded late, from folders that only root may read
        bank.support(TinyEncoder(), agent=AGENT)
    import skilldelta.bank.sqlite_files, shutil, tempfile
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
path = sys.argv[1]
tempfile.tempdir = tempfile.mkdtemp()
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    with Bank.open(path, readonly=True) as reader:
        reader.revision()
    with Bank.open(path) as bank:
        print(len(list(bank.executions())), bank.revision(), len(bank.support(TinyEncoder(), agent=AGENT)))
        try:
            bank.add(THREE_PAIRS)
            print("written")
        except BankError as error:
            print(error)
for message in dict.fromkeys(str(warning.message) for warning in said):
    print(message)
assert not os.listdir(tempfile.gettempdir())
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users can reach; pytest's own are closed to them."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
        Path(name).chmod(0o755)


def as_an_ordinary_user(path: Path) -> list[str]:
    """What another user is told: executions, revision and pairs; the answer to a write; warnings."""
    answer = subprocess.run(
        [sys.executable, "-c", _AS_AN_ORDINARY_USER, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[1],
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout.splitlines()


def filled(path: Path) -> Path:
    """A bank of three pairs that all may read, and that only its lock's owner may write."""
    with Bank.open(path, create=True) as bank:
        bank.add(THREE_PAIRS)
    path.chmod(0o644)
    return path


def with_a_log(path: Path) -> None:
    """Leave a commit in the log, as a killed writer does."""
    with Bank.open(path) as bank:
        holder = sqlite3.connect(path)
        holder.execute("BEGIN")
        holder.execute("SELECT count(*) FROM meta").fetchone()
        bank.add(Batch(executions=[use("t1", 0.0, repetition=1)]))
        log = Path(f"{path}-wal").read_bytes()
        before = path.read_bytes()
        holder.close()
    path.write_bytes(before)
    Path(f"{path}-wal").write_bytes(log)
    Path(f"{path}-wal").chmod(0o644)
    Path(f"{path}-shm").unlink(missing_ok=True)


def test_a_bank_in_a_folder_that_cannot_be_written_is_read_and_not_written(folder: Path) -> None:
    bank = filled(folder / "fixed.bank")
    Path(f"{bank}.lock").unlink()
    folder.chmod(0o555)
    shown, writing = as_an_ordinary_user(bank)
    assert shown == "6 1 3"
    assert "cannot write to the bank" in writing


def test_a_new_bank_in_a_folder_that_cannot_be_written_is_refused(folder: Path) -> None:
    folder.chmod(0o555)
    script = _AS_AN_ORDINARY_USER.replace(
        "with Bank.open(path, readonly=True) as reader:", "with Bank.open(path, create=True) as reader:"
    )
    answer = subprocess.run(
        [sys.executable, "-c", script, str(folder / "a.bank")],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[1],
    )
    assert "BankError: cannot write to the bank" in answer.stderr.splitlines()[-1]
    assert list(folder.iterdir()) == []


def test_a_file_that_cannot_be_written_is_read_and_not_written(folder: Path) -> None:
    bank = filled(folder / "fixed.bank")
    bank.chmod(0o444)
    folder.chmod(0o777)
    shown, writing = as_an_ordinary_user(bank)
    assert shown == "6 1 3"
    assert "cannot" in writing


def test_a_log_in_a_folder_that_cannot_be_written_is_read(folder: Path) -> None:
    bank = filled(folder / "fixed.bank")
    with_a_log(bank)
    folder.chmod(0o555)
    shown, writing = as_an_ordinary_user(bank)
    assert shown == "7 2 3"
    assert "cannot write to the bank" in writing


def test_a_log_behind_a_link_is_read(folder: Path) -> None:
    (folder / "real").mkdir()
    bank = filled(folder / "real" / "fixed.bank")
    with_a_log(bank)
    (folder / "link.bank").symlink_to(bank)
    (folder / "real").chmod(0o555)
    assert as_an_ordinary_user(folder / "link.bank")[0] == "7 2 3"
    (folder / "real").chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make another user's file")
def test_a_log_that_may_not_be_read_is_missed_aloud(folder: Path) -> None:
    bank = filled(folder / "fixed.bank")
    with_a_log(bank)
    Path(f"{bank}-wal").chmod(0o600)
    folder.chmod(0o555)
    shown, _, warning = as_an_ordinary_user(bank)
    assert shown == "6 1 3"
    assert f"shown without its newest changes: its log {bank}-wal cannot be read (Permission denied)" in warning


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can make another user's file")
def test_a_bank_that_may_not_be_read_is_refused_with_its_reason(folder: Path) -> None:
    bank = filled(folder / "fixed.bank")
    bank.chmod(0o600)
    with pytest.raises(AssertionError, match=r"cannot be read \(Permission denied\)"):
        as_an_ordinary_user(bank)


def test_the_copy_of_a_bank_is_removed_when_it_is_closed(folder: Path) -> None:
    from skilldelta.bank.sqlite_files import Copy

    bank = filled(folder / "fixed.bank")
    with_a_log(bank)
    copy = Copy.of(bank, Path(f"{bank}-wal"), "fixed.bank")
    with sqlite3.connect(copy.path) as connection:
        assert connection.execute("SELECT count(*) FROM executions").fetchone() == (7,)
    connection.close()
    copy.remove()
    assert not copy.path.parent.exists()
