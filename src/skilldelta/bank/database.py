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
from skilldelta.bank.schema import Head, append_commit
from skilldelta.errors import BankError, BankWarning, InputError, ReplacedBankError, UnwritableBankError
from skilldelta.redaction import redacted


class Counter(Protocol):
    """A meta counter that is read often."""

    def read(self) -> int: ...
    def close(self) -> None: ...


class Backend(Protocol):
    """One database engine: `sqlite` or `postgresql`. Everything above them is SQLAlchemy Core."""

    name: str
    location: str

    def exists(self) -> bool: ...
    def reader(self) -> Engine: ...
    def writer(self) -> Engine: ...
    def transaction(self, writer: Engine, *, durable: bool) -> AbstractContextManager[Connection]: ...
    def write_lock(self) -> AbstractContextManager[None]: ...
    def version(self, connection: Connection) -> int: ...
    def mark(self, connection: Connection) -> None: ...
    def counter(self, engine: Engine, name: str) -> Counter: ...
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

    def __init__(self, backend: Backend, *, readonly: bool, opened_at: str | Path = "") -> None:
        self.backend = backend
        self.location = backend.location
        self._opened_at = opened_at or backend.location
        self.readonly = readonly
        self._reader = backend.reader()
        self._identity: object = None
        self._writer: Engine | None = None
        self._revision: Counter | None = None
        self._opening = threading.Lock()

    @classmethod
    def open(cls, location: str | Path, *, create: bool, readonly: bool, timeout: float) -> Database:
        """Open a bank of the newest version; make it, or bring it there, where that is needed and allowed."""
        backend = backend_of(location, timeout)
        acknowledged = backend.acknowledged()  # before the bank is looked at, which may grow meanwhile
        database = cls(backend, readonly=readonly, opened_at=location)
        try:
            version = database._version() if backend.exists() else 0
            if version < LATEST:
                database._bring_to_latest(version, create=create)
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
            yield connection

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Connection]:
        """One transaction under the write lock; any error undoes it whole.

        One that is not durable survives the death of the process, and a power failure once something durable was written
        after it, or `settle` was called.
        """
        if self.readonly:
            raise BankError(f"the bank {self.location} was opened read-only; open it for writing")
        with self._transaction(durable=durable) as connection:
            self._refuse_lost_commits(connection)
            yield connection

    def settle(self) -> None:
        """Make everything durable that was written."""
        with self._errors_explained():
            self._check_not_replaced()
            self.backend.settle()

    @contextmanager
    def _transaction(self, *, durable: bool = True) -> Iterator[Connection]:
        """A transaction under the write lock; if it changed anything it is numbered, and acknowledged when it is safe."""
        with self._errors_explained(), self.backend.write_lock():
            self._check_not_replaced()
            if self._writer is None:
                self._writer = self.backend.writer()
            with self.backend.transaction(self._writer, durable=durable) as connection:
                before = self.backend.changes(connection)
                yield connection
                head = append_commit(connection) if self.backend.changes(connection) != before else None
            if head is not None and durable:
                self.backend.acknowledge(head)

    @contextmanager
    def write_soon(self, patience: float) -> Iterator[Connection]:
        """`write` on a connection of its own, for what is not worth waiting for: BankError after `patience` seconds."""
        if self.readonly:
            raise BankError(f"the bank {self.location} was opened read-only; open it for writing")
        database = Database(backend_of(self._opened_at, patience), readonly=False, opened_at=self._opened_at)
        try:
            with database.write() as connection:
                yield connection
        finally:
            database.close()

    def revision(self) -> int:
        """The counter of changes to the evidence, read in some microseconds."""
        self._check_not_replaced()
        try:
            counter = self._revision
            if counter is None:
                with self._opening:
                    counter = self._revision = self._revision or self.backend.counter(self._reader, schema.REVISION)
            return counter.read()
        except DRIVER_ERRORS as error:
            raise explained(error, self.location) from error

    def close(self) -> None:
        """Close every connection."""
        revision, self._revision = self._revision, None
        if revision is not None:
            revision.close()
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

    def _version(self) -> int:
        with self.read() as connection:
            version = self.backend.version(connection)
        if version > LATEST:
            raise BankError(
                f"the bank {self.location} has schema version {version} and this SkillDelta knows up to {LATEST}; "
                "upgrade it with: pip install --upgrade skilldelta"
            )
        return version

    def _bring_to_latest(self, version: int, *, create: bool) -> None:
        if version == 0 and (self.readonly or not create):
            raise BankError(f"there is no bank at {self.location}; make one with: skilldelta import", setting="bank")
        if self.readonly:
            raise BankError(
                f"the bank {self.location} has the older schema version {version} and was opened read-only; "
                "open it for writing once, so that it can be brought up to date: skilldelta bank status"
            )
        if not self.backend.exists():
            self.backend.create(self._make_first_tables)
        self._identity = self.backend.identity()  # an empty file was replaced, by this process or a faster one
        if self._version() < LATEST:
            with self._transaction() as connection:
                self._make_tables(connection)

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
        """Whoever writes on would bury the loss; whoever reads goes on with a warning."""
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


def backend_of(location: str | Path, timeout: float) -> Backend:
    """The database for a path or a SQLAlchemy URL."""
    from skilldelta.bank.postgresql import PostgreSQL
    from skilldelta.bank.sqlite import SQLite

    if "\0" in str(location):
        raise InputError(
            f"{str(location)!r} is not a path: it holds a null character; give a path or postgresql://…", setting="bank"
        )
    if isinstance(location, Path) or "://" not in location:
        return SQLite(_expanded(Path(location)), timeout)
    try:
        url = make_url(location)
    except (ArgumentError, ValueError):  # ValueError: a port that is no number
        raise InputError(
            f"{redacted(location)!r} is not a path or a database URL; give a path or postgresql://…", setting="bank"
        ) from None
    family = url.get_backend_name()
    if family == "sqlite":
        if not url.database or url.database == ":memory:":
            raise InputError(f"{redacted(location)!r} names no file; give sqlite:///path, or a path", setting="bank")
        return SQLite(Path(url.database), timeout)
    if family == "postgresql":
        return PostgreSQL(location, timeout)
    raise InputError(f"{family!r} banks are not supported; give a path (SQLite) or a postgresql:// URL", setting="bank")


def _expanded(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:
        raise InputError(
            f"{str(path)!r}: there is no such user; write ./~… for a file whose name begins so", setting="bank"
        ) from None
