"""An open database: readers without a lock, one writer under it, errors in one line; and what an engine must offer.

Says nothing about what the tables hold. A SQLite writer's connection is opened, used and closed under the write lock,
because closing the last connection checkpoints the log. What differs between the engines is in `sqlite` and `postgresql`
alone.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Connection, Engine, TableClause, make_url
from sqlalchemy.exc import ArgumentError

from skilldelta.bank import schema
from skilldelta.bank.driver_errors import DRIVER_ERRORS, explained
from skilldelta.bank.migrations import LATEST, migrate
from skilldelta.bank.older_schema import views_of
from skilldelta.bank.revisions import panel_revision_query, read_evidence_mark
from skilldelta.bank.schema import Head, append_commit, read_counter
from skilldelta.errors import BankError, BankWarning, InputError, ReplacedBankError, UnwritableBankError
from skilldelta.records import Agent
from skilldelta.redaction import redacted


class NumberReader(Protocol):
    """Reads one number with one statement, as quickly as the driver can: for what is asked before every decision."""

    placeholder: str

    def read(self, statement: str, parameters: Sequence[str]) -> int | None: ...
    def close(self) -> None: ...


class Backend(Protocol):
    """One database engine: `sqlite` or `postgresql`. Everything above them is SQLAlchemy Core."""

    name: str
    location: str
    # What a new reading connection runs first: the views of an older schema version.
    reader_setup: Sequence[str]

    def exists(self) -> bool: ...
    def reader(self) -> Engine: ...
    def writer(self) -> Engine: ...
    def transaction(self, writer: Engine, *, durable: bool) -> AbstractContextManager[Connection]: ...
    def write_lock(self) -> AbstractContextManager[None]: ...
    def version(self, connection: Connection) -> int: ...
    def mark(self, connection: Connection) -> None: ...
    def number_reader(self, engine: Engine) -> NumberReader: ...
    def cache_path(self) -> Path | None: ...
    def insert_many(
        self, connection: Connection, table: TableClause, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None: ...
    def changes(self, connection: Connection) -> int: ...
    def size_bytes(self, connection: Connection) -> int: ...

    # A server needs none of these: it has no file of ours, and keeps and checks its log and its pages itself.

    def create(self, make_tables: Callable[[Connection], None]) -> None:
        return

    def settle(self) -> None:
        return

    def tidy(self) -> None:
        return

    def release(self) -> None:
        return

    def acknowledge(self, head: Head) -> None:
        return

    def identity(self) -> object:
        return None

    def acknowledged(self) -> Head | None:
        return None

    def lost(self, connection: Connection, acknowledged: Head | None) -> str | None:
        return None

    def problems(self, connection: Connection) -> list[str]:
        return []


class Database:
    """Connections to one bank. Threads may share it; a forked process opens its own."""

    def __init__(self, backend: Backend, *, readonly: bool, opened_at: str | Path = "", timeout: float = 30.0) -> None:
        self.backend = backend
        self.timeout = timeout
        self.location = backend.location
        self._opened_at = opened_at or backend.location
        self.readonly = readonly
        self._reader = backend.reader()
        self._identity: object = None
        self._writer: Engine | None = None
        self._numbers: NumberReader | None = None
        self._opening = threading.Lock()
        self.version = LATEST

    @classmethod
    def open(cls, location: str | Path, *, create: bool, readonly: bool, timeout: float) -> Database:
        """Open a bank; with `create`, make it where there is none. A bank of an older version is read as it is."""
        backend = backend_of(location, timeout)
        acknowledged = backend.acknowledged()  # before the bank is looked at, which may grow meanwhile
        database = cls(backend, readonly=readonly, opened_at=location, timeout=timeout)
        try:
            version = database._read_version() if backend.exists() else 0
            if version == 0:
                database._create(create=create)
            elif version < LATEST:
                database._read_as_older(version)
            database._warn_of_lost_commits(acknowledged)
        except BaseException:
            database.close()
            raise
        return database

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One consistent view of the bank; never waits for a writer."""
        self._check_not_replaced()
        with self._errors_explained(), self._reader.connect() as connection:
            if self.version < LATEST:
                self._check_same_version(connection)
            yield connection

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        """One transaction under the write lock; any error undoes it whole.

        One that is not durable survives the death of the process, and a power failure once something durable was written
        after it, or `settle` was called.
        """
        self.check_writable()
        with self._transaction(durable=durable) as connection:
            self._check_same_version(connection)
            self._refuse_lost_commits(connection)
            yield connection

    def check_writable(self) -> None:
        """Refuse a bank that was opened read-only, or has an older schema version."""
        if self.readonly:
            raise BankError(f"the bank {self.location} was opened read-only; open it for writing")
        if self.version < LATEST:
            raise UnwritableBankError(
                f"the bank {self.location} has schema version {self.version} and can only be read until it is upgraded to "
                f"{LATEST}; upgrade it with: skilldelta bank upgrade --bank {self.location}"
            )

    def upgrade(self) -> None:
        """Bring the tables to the newest version, in one transaction. Keeping a copy is left to the caller."""
        with self._transaction() as connection:
            self._make_tables(connection)

    def settle(self) -> None:
        """Make everything durable that was written."""
        with self._errors_explained():
            self._check_not_replaced()
            self.backend.settle()

    @contextmanager
    def _transaction(self, *, durable: bool = True, numbered: bool = True) -> Iterator[Connection]:
        """A transaction under the write lock; if it changed anything it is numbered, and acknowledged when it is safe."""
        with self._errors_explained(), self.backend.write_lock():
            self._check_not_replaced()
            if self._writer is None:
                self._writer = self.backend.writer()
            with self.backend.transaction(self._writer, durable=durable) as connection:
                before = self.backend.changes(connection) if numbered else 0
                yield connection
                is_changed = numbered and self.backend.changes(connection) != before
                head = append_commit(connection) if is_changed else None
            if head is not None and durable:
                self.backend.acknowledge(head)

    @contextmanager
    def write_derived(self, patience: float) -> Iterator[Connection]:
        """A transaction for what can be computed again: it is not numbered, and does not wait for the disk.

        On a connection of its own, with BankError when the write lock is not free within `patience` seconds.
        """
        self.check_writable()
        backend = backend_of(self._opened_at, self.timeout, lock_timeout=patience)
        database = Database(backend, readonly=False, opened_at=self._opened_at)
        try:
            with database._transaction(durable=False, numbered=False) as connection:
                database._check_same_version(connection)
                yield connection
        finally:
            database.close()

    def revision(self) -> int:
        """The counter of changes to the evidence, read in some microseconds."""
        return self._number("SELECT value FROM meta WHERE name = 'revision'") or 0

    def panel_revision(self, agent: Agent, suite: str | None) -> int:
        """A number that is another one whenever the pairs of an agent on a suite may have changed."""
        if self.version == LATEST:
            revision = self._number(*panel_revision_query(agent, suite, self._number_reader().placeholder))
            if revision is not None:
                return revision
        with self.read() as connection:
            return read_evidence_mark(connection)

    def _number(self, statement: str, parameters: Sequence[str] = ()) -> int | None:
        self._check_not_replaced()
        with self._errors_explained():
            return self._number_reader().read(statement, parameters)

    def _number_reader(self) -> NumberReader:
        reader = self._numbers
        if reader is None:
            with self._opening:
                reader = self._numbers = self._numbers or self.backend.number_reader(self._reader)
        return reader

    def close(self) -> None:
        """Close every connection."""
        numbers, self._numbers = self._numbers, None
        if numbers is not None:
            numbers.close()
        self._reader.dispose()
        writer, self._writer = self._writer, None
        if writer is not None:
            try:
                with self.backend.write_lock():
                    writer.dispose()
            except BankError:
                writer.dispose()  # someone holds the lock for long: SQLite's own locks are enough for closing
        elif not self.readonly:
            self.backend.tidy()
        self.backend.release()

    def _read_version(self) -> int:
        with self.read() as connection:
            version = self.backend.version(connection)
        if version > LATEST:
            raise BankError(
                f"the bank {self.location} has schema version {version} and this SkillDelta knows up to {LATEST}; "
                "install a newer SkillDelta, or restore the copy that was kept when the bank was upgraded"
            )
        return version

    def _check_same_version(self, connection: Connection) -> None:
        """Another program may upgrade the bank while it is open here."""
        version = read_counter(connection, schema.SCHEMA_VERSION)
        if version != self.version:
            raise ReplacedBankError(
                f"the bank {self.location} was upgraded to schema version {version} while it was open; open it again"
            )

    def _create(self, *, create: bool) -> None:
        if self.readonly or not create:
            raise BankError(f"there is no bank at {self.location}; make one with: skilldelta import", setting="bank")
        if not self.backend.exists():
            self.backend.create(self._make_first_tables)
        self._identity = self.backend.identity()  # an empty file was replaced, by this process or a faster one
        if self._read_version() == 0:
            self.upgrade()

    def _read_as_older(self, version: int) -> None:
        """Let readers see the tables of the newest version, whatever the bank has."""
        with self.read() as connection:
            self.backend.reader_setup = views_of(connection)
        self._reader.dispose()
        self._reader = self.backend.reader()
        self.version = version

    def _make_first_tables(self, connection: Connection) -> None:
        self._make_tables(connection)
        append_commit(connection)

    def _make_tables(self, connection: Connection) -> None:
        version = self.backend.version(connection)  # again: another process may have been faster
        if version < LATEST:
            self.backend.mark(connection)
            migrate(connection, version)

    def _warn_of_lost_commits(self, acknowledged: Head | None) -> None:
        if acknowledged is None:
            return
        with self.read() as connection:
            lost = self.backend.lost(connection, acknowledged)
        if lost:
            warnings.warn(lost, BankWarning, stacklevel=4)

    def _refuse_lost_commits(self, connection: Connection) -> None:
        """Refuse to write, because new commits would hide the loss. Reading goes on, with a warning."""
        acknowledged = self.backend.acknowledged()
        lost = acknowledged and self.backend.lost(connection, acknowledged)
        if lost:
            raise UnwritableBankError(lost)

    def _check_not_replaced(self) -> None:
        """A file that took the place of an open one has nothing to do with its log, and would be damaged by it."""
        identity = self.backend.identity()
        if self._identity is None:
            self._identity = identity
        if identity != self._identity:
            raise ReplacedBankError(
                f"the file of the bank {self.location} was replaced or removed while it was open; open it again"
            )

    @contextmanager
    def _errors_explained(self) -> Iterator[None]:
        try:
            yield
        except DRIVER_ERRORS as error:
            raise explained(error, self.location) from error


def backend_of(location: str | Path, timeout: float, *, lock_timeout: float | None = None) -> Backend:
    """The database for a path or a SQLAlchemy URL. Its write lock is waited for as long as for anything, or shorter."""
    from skilldelta.bank.postgresql import PostgreSQL
    from skilldelta.bank.sqlite import SQLite

    if "\0" in str(location):
        raise InputError(
            f"{str(location)!r} is not a path: it holds a null character; give a path or postgresql://…", setting="bank"
        )
    if isinstance(location, Path) or "://" not in location:
        return SQLite(_expanded(Path(location)), timeout if lock_timeout is None else lock_timeout)
    try:
        url = make_url(location)
    except (ArgumentError, ValueError):  # ValueError: a port that is no number
        raise InputError(
            f"{redacted(location)!r} is not a path or a database URL; give a path or postgresql://…", setting="bank"
        ) from None
    if url.drivername == "postgres":  # how many hosting services spell it
        url = url.set(drivername="postgresql")
    family = url.get_backend_name()
    if family == "sqlite":
        if not url.database or url.database == ":memory:":
            raise InputError(f"{redacted(location)!r} names no file; give sqlite:///path, or a path", setting="bank")
        return SQLite(Path(url.database), timeout if lock_timeout is None else lock_timeout)
    if family == "postgresql":
        return PostgreSQL(url, timeout, lock_timeout=lock_timeout)
    raise InputError(f"{family!r} banks are not supported; give a path (SQLite) or a postgresql:// URL", setting="bank")


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:
        raise InputError(
            f"{str(path)!r}: there is no such user; write ./~… for a file whose name begins so", setting="bank"
        ) from None
