"""A copy of a bank in use is whole, and takes the bank's place again without anything lost."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from skilldelta.bank.backup import backup_bank, restore_bank
from skilldelta.bank.batch import Batch
from skilldelta.bank.index import Index
from skilldelta.bank.store import Bank
from skilldelta.errors import BankError, InputError
from skilldelta.records import Task

from .older import current_bank, older_bank
from .small import AGENT, DECISION, THREE_PAIRS, TinyEncoder, skip


def test_a_backup_holds_everything_and_is_restored(filled: Bank, location: str, tmp_path: Path) -> None:
    filled.record_decision(DECISION)
    filled.use(agent=AGENT)
    expected = (list(filled.executions()), filled.tasks(), filled.decisions(), filled.skills())
    copy = tmp_path / "copy"
    assert backup_bank(location, copy) == copy.stat().st_size
    filled.forget(suite="default")
    filled.forget_decisions()
    filled.close()
    restored = restore_bank(copy, location)
    with Bank.open(location) as bank:
        assert (list(bank.executions()), bank.tasks(), bank.decisions(), bank.skills()) == expected
        assert bank.verify() == []
        assert bank.add(THREE_PAIRS).unchanged == 10
        assert bank.defaults().agent == AGENT
    if restored.replaced is not None:
        with Bank.open(restored.replaced, readonly=True) as replaced:
            assert (list(replaced.executions()), replaced.decisions()) == ([], [])


def test_a_backup_while_another_thread_writes_shows_one_moment(location: str, tmp_path: Path) -> None:
    """Each batch adds a task with both of its executions; a copy never has a part of one."""
    stop = threading.Event()
    written = [0]

    def write() -> None:
        with Bank.open(location) as bank:
            while not stop.is_set() and written[0] < 2_000:
                number = written[0] = written[0] + 1
                task = Task(f"n{number}", f"Question {number}?", "f")
                bank.add(Batch([task], executions=[skip(task.task_id, 1.0), skip(task.task_id, 0.0, repetition=1)]))

    Bank.open(location, create=True).close()
    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            backup_bank(location, tmp_path / f"copy{number}")
    finally:
        stop.set()
        writer.join()
    assert written[0] > 0
    if "://" in location:
        return
    for number in range(3):
        with Bank.open(tmp_path / f"copy{number}", readonly=True) as copy:
            assert len(list(copy.executions())) == 2 * len(copy.tasks())
            assert copy.verify() == []


def test_a_dump_takes_the_place_of_a_bank_of_a_newer_schema_version(postgres_emptied: str, tmp_path: Path) -> None:
    """Where the bank has a table that the dump does not know, and somebody has it open."""
    with Bank.open(postgres_emptied, create=True) as bank:
        bank.add(THREE_PAIRS)
        backup_bank(postgres_emptied, tmp_path / "before.dump")
        backend = bank._database.backend
        engine = backend.writer()
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE skilldelta.later (key bigint REFERENCES skilldelta.tasks (key))")
        engine.dispose()
        bank.add(Batch([Task("later", "Later?", "f")], executions=[skip("later", 1.0)]))
        assert len(bank.tasks()) == 4
        restore_bank(tmp_path / "before.dump", postgres_emptied)
        assert [task.task_id for task in bank.tasks()] == ["t1", "t2", "t3"]
        assert len(bank.pairing(agent=AGENT).pairs) == 3
        assert bank.verify() == []


def test_a_restored_bank_is_noticed_by_those_who_have_it_open(sqlite_filled: Bank, tmp_path: Path) -> None:
    location = sqlite_filled.location
    backup_bank(location, tmp_path / "copy.bank")
    before = sqlite_filled.revision()
    sqlite_filled.add(Batch(executions=[skip("t1", 1.0, repetition=1)]))
    with Bank.open(location) as reader:
        newer = reader.revision()
        index = Index(reader, TinyEncoder(), AGENT, suite="default")
        assert len(list(reader.executions())) == 7
        assert index.scope(skill="dates").r0.tolist() == [2, 1, 1]
        restore_bank(tmp_path / "copy.bank", location)
        assert reader.revision() not in (before, newer)
        assert len(list(reader.executions())) == 6
        assert index.scope(skill="dates").r0.tolist() == [1, 1, 1]
        assert reader.verify() == []
        assert reader.add(Batch(executions=[skip("t1", 1.0, repetition=1)])).executions == 1


@pytest.mark.parametrize("version", [1, 4])
def test_an_older_bank_is_copied_and_restored_as_it_is(tmp_path: Path, version: int) -> None:
    current_bank(tmp_path / "new.bank")
    older_bank(str(tmp_path / "old.bank"), version, tmp_path / "new.bank")
    backup_bank(tmp_path / "old.bank", tmp_path / "copy.bank")
    assert restore_bank(tmp_path / "copy.bank", tmp_path / "old.bank").schema_version == version
    assert restore_bank(tmp_path / "copy.bank", tmp_path / "other.bank").schema_version == version
    with Bank.open(tmp_path / "old.bank") as bank:
        assert len(list(bank.executions())) == 6


def test_a_damaged_bank_is_replaced_and_kept_as_it_is(sqlite_filled: Bank, tmp_path: Path) -> None:
    path = Path(sqlite_filled.location)
    backup_bank(path, tmp_path / "copy.bank")
    sqlite_filled.close()
    raw = bytearray(path.read_bytes())
    raw[100:9000] = b"\xff" * 8900
    path.write_bytes(raw)
    restored = restore_bank(tmp_path / "copy.bank", path)
    assert restored.replaced is not None
    assert restored.replaced.read_bytes() == bytes(raw)
    with Bank.open(path) as bank:
        assert bank.verify() == []
        assert len(bank.support(TinyEncoder(), agent=AGENT)) == 3


def test_a_damaged_backup_is_refused_and_the_bank_stays(sqlite_filled: Bank, tmp_path: Path) -> None:
    copy = tmp_path / "copy.bank"
    backup_bank(sqlite_filled.location, copy)
    raw = copy.read_bytes()
    copy.write_bytes(raw.replace(b"What day is it?", b"What day is he?"))
    with pytest.raises(BankError, match=r"the backup .*copy.bank is damaged"):
        restore_bank(copy, sqlite_filled.location)
    assert sqlite_filled.tasks()[0].text == "What day is it?"


def test_a_backup_never_takes_the_place_of_a_file(filled: Bank, location: str, tmp_path: Path) -> None:
    (tmp_path / "copy").write_text("mine")
    with pytest.raises(InputError, match="it exists; name a new file"):
        backup_bank(location, tmp_path / "copy")
    assert (tmp_path / "copy").read_text() == "mine"


def test_what_is_no_backup_of_this_kind_is_refused(filled: Bank, location: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises((BankError, InputError)):
        restore_bank(tmp_path / "notes.txt", location)
    assert len(filled.tasks()) == 3
    with pytest.raises(InputError, match="there is no such file"):
        restore_bank(tmp_path / "none", location)
