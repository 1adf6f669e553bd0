"""What is a bank, what is not, and who may write it."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path, PureWindowsPath

import pytest
from sqlalchemy import Connection, inspect, text

from skilldelta.bank import backup, database, schema
from skilldelta.bank.batch import Batch
from skilldelta.bank.migrations import LATEST, MIGRATIONS, Migration, migrate
from skilldelta.bank.sqlite import _uri
from skilldelta.bank.sqlite_files import write_lock
from skilldelta.bank.store import Bank
from skilldelta.errors import BankError, InputError

from .small import THREE_PAIRS, use


def refusal(path: Path, **options: object) -> str:
    """The one line with which opening fails."""
    with pytest.raises(BankError) as error:
        Bank.open(path, **options)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_new_bank_is_made_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "my.bank"
    with Bank.open(path, create=True) as bank:
        assert bank.location == str(path)
        assert bank.status().schema_version == LATEST
    assert path.read_bytes()[:15] == b"SQLite format 3"


def test_a_bank_uses_a_write_ahead_log_and_foreign_keys(sqlite_bank: Bank, tmp_path: Path) -> None:
    assert sqlite3.connect(tmp_path / "test.bank").execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with sqlite_bank._database.write() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_an_empty_file_becomes_a_bank(tmp_path: Path) -> None:
    path = tmp_path / "empty.bank"
    path.touch()
    assert "there is no bank at" in refusal(path, readonly=True)
    Bank.open(path, create=True).close()
    assert Bank.open(path, readonly=True).verify() == []


@pytest.mark.parametrize("options", [{}, {"create": False}, {"readonly": True}])
def test_a_missing_bank_is_only_made_when_asked(tmp_path: Path, options: dict[str, bool]) -> None:
    assert "there is no bank at" in refusal(tmp_path / "none.bank", **options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"hello\n", b"SQLite format 4\x00 or so", b"PK\x03\x04" * 100])
def test_a_file_that_is_not_a_bank_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    assert f"{path} is not a SkillDelta bank" in refusal(path)
    assert path.read_bytes() == content
    assert list(tmp_path.iterdir()) == [path]


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE tasks (id)")
    before = path.read_bytes()
    assert "is not a SkillDelta bank: it is another program's database" in refusal(path)
    assert path.read_bytes() == before


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "is not a SkillDelta bank" in refusal(tmp_path)


def test_a_damaged_bank_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "damaged.bank"
    with Bank.open(path, create=True) as bank:
        bank.add(THREE_PAIRS)
    raw = bytearray(path.read_bytes())
    raw[100:4096] = b"\xff" * 3996
    path.write_bytes(raw)
    assert "damaged" in refusal(path)


def test_a_bank_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "newer.bank"
    Bank.open(path, create=True).close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE name = 'schema_version'", (LATEST + 3,))
    connection.close()
    for options in ({}, {"readonly": True}):
        message = refusal(path, **options)
        assert f"schema version {LATEST + 3}" in message
        assert f"knows up to {LATEST}" in message
        assert "upgrade" in message


def test_a_migration_that_fails_leaves_the_bank_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "older.bank"
    Bank.open(path, create=True).close()

    def fail_halfway(connection: Connection) -> None:
        connection.execute(text("CREATE TABLE half (x INTEGER)"))
        raise InputError("stopped")

    with monkeypatch.context() as patched:
        patched.setattr(database, "LATEST", LATEST + 1)
        patched.setattr(backup, "LATEST", LATEST + 1)
        patched.setattr(database, "migrate", partial(migrate, steps=[Migration(LATEST + 1, fail_halfway)]))
        with pytest.raises(InputError, match="stopped"):
            backup.upgrade_bank(path)
    with Bank.open(path) as bank:
        assert bank.status().schema_version == LATEST
        assert bank.verify() == []
    assert sqlite3.connect(path).execute("SELECT name FROM sqlite_master WHERE name = 'half'").fetchall() == []


def test_migrations_are_numbered_without_gaps() -> None:
    assert [step.version for step in MIGRATIONS] == list(range(1, LATEST + 1))


def test_only_the_missing_migrations_run_and_the_version_is_recorded(bank: Bank) -> None:
    ran: list[int] = []
    steps = [Migration(version, lambda _, version=version: ran.append(version)) for version in (1, 2, 3)]  # type: ignore[misc]
    with bank._database.write() as connection:
        assert migrate(connection, 1, steps=steps) == 3
        assert bank._database.backend.version(connection) == 3
        assert migrate(connection, LATEST, steps=MIGRATIONS) == LATEST
        migrate(connection, LATEST, steps=())
    assert ran == [2, 3]


def test_the_migrated_tables_are_the_tables_that_queries_use(bank: Bank) -> None:
    with bank._database.read() as connection:
        tables = inspect(connection)
        for table in schema.TABLES:
            assert [column["name"] for column in tables.get_columns(table.name)] == [column.name for column in table.c]
        assert set(tables.get_table_names()) == {table.name for table in schema.TABLES}


def test_a_locked_bank_names_its_lock_and_its_holder_and_is_still_readable(tmp_path: Path) -> None:
    path = tmp_path / "busy.bank"
    with Bank.open(path, timeout=0.05, create=True) as bank:
        bank.add(THREE_PAIRS)
        with write_lock(Path(f"{path}.lock"), 1):
            with pytest.raises(BankError, match=rf"busy\.bank\.lock is held by process {os.getpid()}.*0\.05 s"):
                bank.add(THREE_PAIRS)
            assert len(list(bank.executions())) == 6
            with Bank.open(path, readonly=True) as reader:
                assert len(reader.tasks()) == 3
        assert bank.add(THREE_PAIRS).unchanged == 10


def test_a_bank_locked_by_another_program_is_refused_after_the_timeout(tmp_path: Path) -> None:
    path = tmp_path / "busy.bank"
    with Bank.open(path, timeout=0.05, create=True) as bank:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BankError, match="is locked by another program"):
            bank.add(THREE_PAIRS)
        other.execute("ROLLBACK")
        other.close()
        assert bank.add(THREE_PAIRS).executions == 6


def test_a_read_only_bank_cannot_be_changed(filled: Bank, location: str) -> None:
    with Bank.open(location, readonly=True) as reader:
        for change in (
            lambda: reader.add(THREE_PAIRS),
            lambda: reader.forget(suite="default"),
            lambda: reader.add_judgements([]),
        ):
            with pytest.raises(BankError, match="was opened read-only"):
                change()


def test_closing_leaves_the_bank_its_lock_and_its_count_of_commits(tmp_path: Path) -> None:
    with Bank.open(tmp_path / "one.bank", create=True) as bank:
        bank.add(THREE_PAIRS)
        bank.revision()
        list(bank.executions())
    bank.close()
    with Bank.open(tmp_path / "one.bank") as bank:
        list(bank.executions())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.bank", "one.bank.commits", "one.bank.lock"]


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("mysql://host/db", "'mysql' banks are not supported"),
        ("sqlite://", "names no file"),
        ("://", "is not a path or a database URL"),
        ("my\0.bank", "it holds a null character"),
        ("~no-such-user/my.bank", "there is no such user"),
    ],
)
def test_a_location_that_is_no_bank_is_refused(location: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        Bank.open(location)
    assert words in str(error.value)


def test_a_sqlite_url_is_a_path(tmp_path: Path) -> None:
    with Bank.open(f"sqlite:///{tmp_path}/url.bank", create=True) as bank:
        assert bank.location == f"{tmp_path}/url.bank"


@pytest.mark.parametrize(
    "name",
    ["with space.bank", "what?.bank", "100%25.bank", "a#b.bank", "größe 日本.bank", "a&mode=ro.bank", "'\"[x]*.bank"],
)
def test_no_character_of_a_name_has_a_meaning(tmp_path: Path, name: str) -> None:
    if sys.platform == "win32" and set(name) & set('?"*'):
        pytest.skip("Windows allows no such name")
    for _ in range(2):
        with Bank.open(tmp_path / name, create=True) as bank:
            bank.add(THREE_PAIRS)
            assert bank.verify() == []
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, f"{name}.lock", f"{name}.commits"])


def test_a_windows_path_is_a_path_to_sqlite_too() -> None:
    assert _uri(PureWindowsPath(r"C:\My data\a.bank")) == "file:///C%3A/My%20data/a.bank"  # type: ignore[arg-type]
    assert _uri(PureWindowsPath(r"\\server\share\a.bank")) == "file:////server/share/a.bank"  # type: ignore[arg-type]


def test_a_name_too_long_for_the_files_beside_it_is_refused(tmp_path: Path) -> None:
    assert "name too long" in refusal(tmp_path / ("n" * 253), create=True).lower()
    assert list(tmp_path.iterdir()) == []
    with Bank.open(tmp_path / ("n" * 240), create=True) as bank:
        assert bank.add(THREE_PAIRS).executions == 6


@pytest.mark.skipif(sys.platform == "win32", reason="there are no named pipes in folders")
def test_a_pipe_is_refused_without_waiting_for_a_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is not a SkillDelta bank: it is not a file" in refusal(tmp_path / "pipe")


def test_a_clock_that_goes_backwards_changes_no_order(tmp_path: Path) -> None:
    times = iter([2_000.0, 1_000.0])
    with Bank.open(tmp_path / "clock.bank", clock=lambda: next(times), create=True) as bank:
        bank.add(THREE_PAIRS)
        bank.add(Batch(executions=[use("t1", 0.0, repetition=1)]))
        assert [e.repetition for e in bank.executions()] == [0] * 6 + [1]
        assert bank.revision() == 2
        assert bank.verify() == []


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be replaced there")
@pytest.mark.parametrize("way", ["replaced", "removed"])
def test_a_file_that_was_replaced_while_open_is_noticed(tmp_path: Path, way: str) -> None:
    for name in ("my.bank", "other.bank"):
        with Bank.open(tmp_path / name, create=True) as bank:
            bank.add(THREE_PAIRS)
    with Bank.open(tmp_path / "my.bank") as bank:
        assert bank.revision() == 1
        if way == "replaced":
            os.replace(tmp_path / "other.bank", tmp_path / "my.bank")
        else:
            (tmp_path / "my.bank").unlink()
        for action in (bank.revision, bank.tasks, lambda: bank.add(THREE_PAIRS)):
            with pytest.raises(BankError, match="was replaced or removed while it was open; open it again"):
                action()
    if way == "replaced":
        with Bank.open(tmp_path / "my.bank") as bank:
            assert bank.verify() == []


_ON_A_SMALL_DISK = """
import resource, sys
from skilldelta.bank.store import Bank
from skilldelta.bank.batch import Batch
from skilldelta.errors import BankError
from skilldelta.records import Task
with Bank.open(sys.argv[1], create=True) as bank:
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
    try:
        bank.add(Batch([Task(f"n{i}", f"Question {i}? " * 50, "f") for i in range(2_000)]))
    except BankError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file sizes cannot be limited there")
def test_a_write_that_the_disk_has_no_room_for_leaves_the_bank_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "my.bank"
    with Bank.open(path, create=True) as bank:
        bank.add(THREE_PAIRS)
    script = [sys.executable, "-c", _ON_A_SMALL_DISK, str(path)]
    answer = subprocess.run(script, capture_output=True, text=True, timeout=60)
    assert "full" in answer.stdout, answer.stderr
    assert len(answer.stdout.splitlines()) == 1
    with Bank.open(path) as bank:
        assert bank.verify() == []
        assert len(bank.tasks()) == 3
