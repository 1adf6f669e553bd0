"""Commits that were acknowledged and are no longer there are noticed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.schema import Head, read_head
from skilldelta.bank.sqlite_files import acknowledge, acknowledged
from skilldelta.bank.store import Bank
from skilldelta.errors import BankError, BankWarning

from .small import AGENT, THREE_PAIRS, TinyEncoder, use

_KILLED_WRITER = """
import os, signal, sqlite3, sys
from skilldelta.bank.store import Bank
from skilldelta.bank.batch import Batch
from bank.small import THREE_PAIRS, use
bank = Bank.open(sys.argv[1], create=True)
bank.add(THREE_PAIRS)
bank.close()
bank = Bank.open(sys.argv[1], create=True)
for number in range(1, 6):
    bank.add(Batch(executions=[use("t1", 1.0, repetition=number)]))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the test's bank is."""
    return tmp_path / "my.bank"


def add_one(path: Path, repetition: int) -> None:
    """One more commit."""
    with Bank.open(path) as bank:
        bank.add(Batch(executions=[use("t1", 1.0, repetition=repetition)]))


def warning_of(path: Path) -> str:
    """The one warning that a reader gets."""
    with pytest.warns(BankWarning) as said:
        Bank.open(path, readonly=True).close()
    (warning,) = said
    assert "\n" not in str(warning.message)
    return str(warning.message)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_log_that_was_removed_is_noticed_by_readers_writers_and_verification(path: Path) -> None:
    script = [sys.executable, "-c", _KILLED_WRITER, str(path)]
    assert subprocess.run(script, cwd=Path(__file__).parents[1], timeout=60).returncode == -signal.SIGKILL
    Path(f"{path}-wal").unlink()
    assert "5 acknowledged commits are missing: its log was removed" in warning_of(path)
    with pytest.warns(BankWarning):
        bank = Bank.open(path)
    with bank:
        assert len(bank.support(TinyEncoder(), agent=AGENT)) == 3  # readers go on
        assert "5 acknowledged commits are missing" in bank.verify()[0]
        with pytest.raises(BankError, match=r"5 acknowledged commits are missing.* remove .*commits to go on without"):
            bank.add(THREE_PAIRS)
    Path(f"{path}.commits").unlink()  # the remedy
    with Bank.open(path) as bank:
        assert bank.verify() == []
        assert bank.add(THREE_PAIRS).unchanged == 10


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_a_killed_writer_whose_log_is_there_lost_nothing(path: Path) -> None:
    script = [sys.executable, "-c", _KILLED_WRITER, str(path)]
    subprocess.run(script, cwd=Path(__file__).parents[1], timeout=60, check=False)
    with Bank.open(path) as bank:
        assert bank.verify() == []
        assert len(list(bank.executions())) == 11


def test_an_older_copy_in_the_place_of_the_bank_is_noticed(path: Path, tmp_path: Path) -> None:
    with Bank.open(path, create=True) as bank:
        bank.add(THREE_PAIRS)
    shutil.copy(path, tmp_path / "copy")
    add_one(path, 1)
    shutil.copy(tmp_path / "copy", path)
    assert "1 acknowledged commit is missing" in warning_of(path)


def test_a_copy_that_was_written_elsewhere_is_noticed(path: Path, tmp_path: Path) -> None:
    with Bank.open(path, create=True) as bank:
        bank.add(THREE_PAIRS)
    shutil.copy(path, tmp_path / "elsewhere.bank")
    add_one(path, 1)
    for repetition in (2, 3, 4):
        add_one(tmp_path / "elsewhere.bank", repetition)
    shutil.copy(tmp_path / "elsewhere.bank", path)
    assert "a copy that was written elsewhere was put in its place" in warning_of(path)


def test_copies_new_banks_and_other_banks_are_not_blamed(path: Path, tmp_path: Path) -> None:
    with Bank.open(path, create=True) as bank:
        bank.add(THREE_PAIRS)
    add_one(path, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shutil.copy(path, tmp_path / "copy.bank")
        add_one(tmp_path / "copy.bank", 2)
        with Bank.open(tmp_path / "other.bank", create=True) as bank:
            bank.add(THREE_PAIRS)
        (tmp_path / "other.bank").replace(path)  # another bank in its place
        add_one(path, 3)
        path.unlink()
        with Bank.open(path, create=True) as bank:  # a new one
            assert bank.verify() == []
            bank.add(THREE_PAIRS)


def test_a_commit_that_was_not_acknowledged_is_no_loss(path: Path) -> None:
    """A kill between the commit and the record leaves the record behind, never ahead."""
    with Bank.open(path, create=True) as bank:
        bank.add(THREE_PAIRS)
    record = Path(f"{path}.commits").read_bytes()
    add_one(path, 1)
    Path(f"{path}.commits").write_bytes(record)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        add_one(path, 2)
    assert Path(f"{path}.commits").read_bytes() != record


@pytest.mark.parametrize("damage", [b"", b"nonsense", b"skilldelta-commits 1 1 1 00000000\n", b"\xff" * 96])
def test_a_record_that_cannot_be_read_is_no_record(path: Path, damage: bytes) -> None:
    with Bank.open(path, create=True) as bank:
        bank.add(THREE_PAIRS)
    Path(f"{path}.commits").write_bytes(damage)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        add_one(path, 1)
    assert acknowledged(Path(f"{path}.commits")) is not None


def test_a_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    for head in (Head(2**62 - 1, 10**12, 2**62 - 1), Head(0, 1, 0), Head(5, 123, 7)):
        acknowledge(tmp_path / "record", head)
        assert acknowledged(tmp_path / "record") == head
    assert acknowledged(tmp_path / "none") is None


def test_a_record_that_cannot_be_written_costs_no_commit(path: Path) -> None:
    with Bank.open(path, create=True) as bank:
        os.mkdir(f"{path}.commits")
        assert bank.add(THREE_PAIRS).executions == 6
    assert Bank.open(path).verify() == []


def test_only_what_changed_the_bank_is_a_commit(filled: Bank) -> None:
    def number() -> int:
        with filled._database.read() as connection:
            head = read_head(connection)
        return 0 if head is None else head.number

    before = number()
    filled.add(THREE_PAIRS)
    assert number() == before
    filled.add(Batch(executions=[use("t1", 1.0, repetition=1)]))
    assert number() == before + 1
    with pytest.raises(ZeroDivisionError), filled._database.write():
        raise ZeroDivisionError
    assert number() == before + 1
