"""An open database: readers without a lock, one writer under it, errors in one line.

Says nothing about what the tables hold. A SQLite writer's connection is opened, used and closed under the write lock,
because closing the last connection checkpoints the log.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from skilldelta.bank import schema
from skilldelta.bank.backend import Backend, Counter, backend_of
from skilldelta.bank.failures import explained
from skilldelta.bank.migrations import LATEST, migrate
from skilldelta.errors import BankError


class Database:
    """Connections to one bank. Threads may share it; a forked process opens its own."""

    def __init__(self, backend: Backend, *, readonly: bool) -> None:
        self.backend = backend
        self.location = backend.location
        self.readonly = readonly
        self._reader = backend.reader()
        self._writer: Engine | None = None
        self._revision: Counter | None = None
        self._opening = threading.Lock()

    @classmethod
    def open(cls, location: str | Path, *, create: bool, readonly: bool, timeout: float) -> Database:
        """Open a bank of the newest version; make it, or bring it there, where that is needed and allowed."""
        backend = backend_of(location, timeout)
        database = cls(backend, readonly=readonly)
        try:
            version = database._version() if backend.exists() else 0
            if version < LATEST:
                database._bring_to_latest(version, create=create)
        except BaseException:
            database.close()
            raise
        return database

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """One consistent view of the bank; never waits for a writer."""
        with self._errors_explained(), self._reader.connect() as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction under the write lock; any error undoes it whole."""
        if self.readonly:
            raise BankError(f"the bank {self.location} was opened read-only; open it for writing")
        with self._errors_explained(), self.backend.write_lock():
            if self._writer is None:
                self._writer = self.backend.writer()
            with self._writer.begin() as connection:
                yield connection

    def revision(self) -> int:
        """The counter of changes to the evidence, read in some microseconds."""
        try:
            counter = self._revision
            if counter is None:
                with self._opening:
                    counter = self._revision = self._revision or self.backend.counter(self._reader, schema.REVISION)
            return counter.read()
        except (DBAPIError, sqlite3.Error) as error:
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
            raise BankError(f"there is no bank at {self.location}; make one with: skilldelta import")
        if self.readonly:
            raise BankError(
                f"the bank {self.location} has the older schema version {version} and was opened read-only; "
                "open it for writing once, so that it can be brought up to date"
            )
        self.backend.prepare()
        with self.write() as connection:
            version = self.backend.version(connection)  # again: another process may have been faster
            if version < LATEST:
                self.backend.mark(connection)
                migrate(connection, version)

    @contextmanager
    def _errors_explained(self) -> Iterator[None]:
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:
            raise explained(error, self.location) from error
