"""Copies of a bank: made while others use it, put back in its place, and kept when its schema is upgraded.

SQLite copies its own files page by page as they were at one moment; PostgreSQL does the same with pg_dump. A copy has
everything that the bank holds. What is cached beside a bank can be computed again and is not part of it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import URL

from skilldelta.bank import schema, sqlite_files
from skilldelta.bank.database import Database, backend_of
from skilldelta.bank.driver_errors import DRIVER_ERRORS, explained
from skilldelta.bank.migrations import LATEST
from skilldelta.bank.postgresql import PostgreSQL
from skilldelta.bank.schema import read_counter, read_head, write_counter
from skilldelta.bank.sqlite import SQLite
from skilldelta.bank.store import LOCK_TIMEOUT, Bank
from skilldelta.errors import BankError, DamagedBankError, InputError
from skilldelta.files import check_destination, flush_durably, opened
from skilldelta.redaction import redacted

_DUMP_HEAD = b"PGDMP"
# Where Debian keeps the programs of several versions; the newest can dump every older server.
_PROGRAM_FOLDERS = "/usr/lib/postgresql"


@dataclass(frozen=True, slots=True)
class Upgrade:
    """What became of a bank that was to be upgraded."""

    location: str
    old_version: int
    new_version: int
    copy: Path | None = None
    """The bank as it was before; None where nothing had to be done, or the bank is on a server."""


@dataclass(frozen=True, slots=True)
class Restoration:
    """A bank that was put back, and where the one is that it replaced."""

    location: str
    schema_version: int
    replaced: Path | None = None


def upgrade_bank(location: str | Path, *, timeout: float = LOCK_TIMEOUT) -> Upgrade:
    """Bring a bank to the newest schema version; a file is copied first, to a name beside it.

    Parameters
    ----------
    location
        The bank's path or URL. A bank on a server is upgraded under its write lock; dump it first.
    timeout
        Seconds to wait for other writers.

    Returns
    -------
    Upgrade
        The versions before and after, and the copy.
    """
    with closing(Database.open(location, create=False, readonly=False, timeout=timeout)) as database:
        version, backend = database.version, database.backend
        if version == LATEST:
            return Upgrade(database.location, version, version)
        copy = None
        if isinstance(backend, SQLite):
            copy = _free_name(backend.path, f"schema{version}")
            _copy_file(backend, copy)
        database.upgrade()
        return Upgrade(database.location, version, LATEST, copy)


def backup_bank(location: str | Path, output: Path, *, timeout: float = LOCK_TIMEOUT) -> int:
    """Write a copy of a bank that others may be using to a file that does not exist yet; returns its size in bytes."""
    check_destination(output)
    if output.exists():
        raise InputError(f"cannot write {output}: it exists; name a new file, so that no earlier backup is lost")
    with closing(Database.open(location, create=False, readonly=False, timeout=timeout)) as database:
        backend = database.backend
        if isinstance(backend, SQLite):
            _copy_file(backend, output)
        elif isinstance(backend, PostgreSQL):
            _dump(backend.url, output)
    return output.stat().st_size


def restore_bank(source: Path, location: str | Path, *, timeout: float = LOCK_TIMEOUT) -> Restoration:
    """Put a backup in the place of a bank, or where there is none.

    A file that is replaced is kept under another name. A backup that fails `Bank.verify` is refused.
    """
    backend = backend_of(location, timeout)
    with opened(source) as file:
        is_dump = file.read(len(_DUMP_HEAD)) == _DUMP_HEAD
    if isinstance(backend, PostgreSQL) != is_dump:
        kinds = ("a PostgreSQL dump", "a SQLite bank") if is_dump else ("no PostgreSQL dump", "a PostgreSQL bank")
        raise InputError(f"{source} is {kinds[0]} and {backend.location} {kinds[1]}; restore it to a bank of its kind")
    replaced = None
    if isinstance(backend, PostgreSQL):
        before = _counters(location, timeout)
        _load_dump(backend.url, source)
        _move_counters(location, before, timeout)
    elif isinstance(backend, SQLite):
        with Bank.open(source, readonly=True) as backup:
            problems = backup.verify()
        if problems:
            raise BankError(f"the backup {source} is damaged ({problems[0]}); restore another one")
        try:
            replaced = _restore_file(source, backend)
        except DRIVER_ERRORS as error:
            raise explained(error, backend.location) from error
    with closing(Database.open(location, create=False, readonly=False, timeout=timeout)) as database:
        return Restoration(backend.location, database.version, replaced)


# Files


def _copy_file(backend: SQLite, output: Path) -> None:
    """SQLite's own online backup: one moment of the bank, whoever writes meanwhile."""

    def copy(aside: Path) -> None:
        with closing(backend.connect_reader()) as source, closing(sqlite3.connect(aside)) as target:
            source.backup(target)
            if target.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise DamagedBankError(f"the bank {backend.location} is damaged; see: skilldelta bank verify")

    try:
        sqlite_files.create_aside(output, copy)
    except OSError as error:
        raise InputError(f"cannot write {output} ({error.strerror}); choose another file") from error
    except DRIVER_ERRORS as error:
        raise explained(error, backend.location) from error


def _restore_file(source: Path, backend: SQLite) -> Path | None:
    """The content of a backup into the bank's file, in one transaction; the bank as it was is copied first."""
    path = backend.path
    with backend.write_lock():
        if not backend.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _copy_file(SQLite(source, backend.timeout), path)
            _acknowledge_restored(backend, {})
            return None
        aside = _free_name(path, "replaced")
        try:
            _copy_file(backend, aside)
            with closing(backend.connect_reader()) as connection:
                counters = dict(connection.execute("SELECT name, value FROM meta").fetchall())
        except (BankError, *DRIVER_ERRORS):  # the bank is damaged: set it and its log aside as they are
            counters = {}
            for suffix in ("-wal", "-shm", ""):
                if os.path.exists(f"{path}{suffix}"):
                    os.replace(f"{path}{suffix}", f"{aside}{suffix}")
            _copy_file(SQLite(source, backend.timeout), path)
        else:
            source_file = SQLite(source, backend.timeout)
            with closing(source_file.connect_reader()) as backup, closing(backend.connect_writer()) as target:
                backup.backup(target)
        _acknowledge_restored(backend, counters)
        return aside


def _acknowledge_restored(backend: SQLite, counters: Mapping[str, int]) -> None:
    """Let those who have the bank open read everything again; the last acknowledged commit is now the backup's.

    `counters` are those of the bank that was replaced: whatever it had is gone, as after a removal.
    """
    engine = backend.writer()
    try:
        with engine.begin() as connection:
            if read_counter(connection, schema.SCHEMA_VERSION) == LATEST:
                for counter in (schema.REVISION, schema.REMOVALS):
                    moved = max(counters.get(counter, 0), read_counter(connection, counter)) + 1
                    write_counter(connection, counter, moved)
                write_counter(connection, schema.PANELS_REVISION, read_counter(connection, schema.REVISION))
            has_commits = read_counter(connection, schema.SCHEMA_VERSION) > 1
            head = read_head(connection) if has_commits else None
    finally:
        engine.dispose()
    backend.restart_commits(head)


def _counters(location: str | Path, timeout: float) -> dict[str, int]:
    """The counters of the bank that is to be replaced; none where there is no such bank."""
    try:
        with (
            closing(Database.open(location, create=False, readonly=True, timeout=timeout)) as database,
            database.read() as connection,
        ):
            return {name: read_counter(connection, name) for name in (schema.REVISION, schema.REMOVALS)}
    except BankError:
        return {}


def _move_counters(location: str | Path, before: Mapping[str, int], timeout: float) -> None:
    """Let those who have the bank open read everything again, as after a removal."""
    with closing(Database.open(location, create=False, readonly=False, timeout=timeout)) as database:
        if database.version < LATEST:
            return
        with database.write() as connection:
            for counter in (schema.REVISION, schema.REMOVALS):
                moved = max(before.get(counter, 0), read_counter(connection, counter)) + 1
                write_counter(connection, counter, moved)
            write_counter(connection, schema.PANELS_REVISION, read_counter(connection, schema.REVISION))


def _free_name(path: Path, word: str) -> Path:
    """A name beside the bank that nothing has: my.bank.schema4, my.bank.schema4-2, …"""
    name = Path(f"{path}.{word}")
    number = 1
    while name.exists():
        number += 1
        name = Path(f"{path}.{word}-{number}")
    return name


# Servers


def _dump(url: URL, output: Path) -> None:
    aside = output.with_name(f"{output.name}.partial")
    try:
        _run("pg_dump", url, "--format=custom", "--schema=skilldelta", "--no-owner", "--no-acl", f"--file={aside}")
        aside.chmod(0o600)
        with aside.open("rb+") as file:
            flush_durably(file.fileno())
        aside.rename(output)
    finally:
        aside.unlink(missing_ok=True)


def _load_dump(url: URL, source: Path) -> None:
    """One transaction: what was there is gone only when the backup is in its place.

    `pg_restore --clean` removes only what is in the dump itself; a bank of a newer schema version has more.
    """
    with tempfile.TemporaryDirectory(dir=source.absolute().parent, prefix=f".{source.name}.") as folder:
        script = os.path.join(folder, "restore.sql")
        _run("pg_restore", None, "--no-owner", "--no-acl", f"--file={script}", str(source))
        replace = ("--command=SET client_min_messages = warning", "--command=DROP SCHEMA IF EXISTS skilldelta CASCADE")
        options = ("--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", "--output=/dev/null")
        _run("psql", url, *options, *replace, f"--file={script}")


def _run(name: str, url: URL | None, *arguments: str) -> None:
    """One of PostgreSQL's own programs, on the bank's server if it has a URL; a password travels in the environment."""
    program = shutil.which(name) or max(map(str, Path(_PROGRAM_FOLDERS).glob(f"*/bin/{name}")), default=None)
    if program is None:
        raise BankError(
            f"{name} is needed for a PostgreSQL bank and is not installed; install PostgreSQL's client programs"
        )
    command, environment, place = [program, *arguments], dict(os.environ), ""
    if url is not None:
        where = url.set(drivername="postgresql", password=None)
        environment |= {"PGPASSWORD": str(url.password)} if url.password else {}
        command[1:1] = [f"--dbname={where.render_as_string(hide_password=False)}", "--no-password"]
        place = f" on {redacted(where.render_as_string())}"
    result = subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if result.returncode:
        reason = (result.stderr.strip().splitlines() or ["no reason given"])[0]
        raise BankError(f"{name} failed{place}: {reason}")


def dump_command(location: str) -> str:
    """What a person types to keep a copy of a bank on a server."""
    return f"skilldelta bank backup --bank {redacted(location)} --output before.dump"
