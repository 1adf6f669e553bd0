"""What can be computed again: vectors of texts and learned states, kept where that does not change the bank.

For a SQLite bank that is a folder beside it (`my.bank.cache`), which may be removed at any time. Its database has the
bank's own tables, of which only those of derived data are filled. A PostgreSQL bank keeps them in its own tables, where
everybody who works with the bank finds them; they count as no change of the bank. A cache that is damaged or of another
version is made again. One that cannot be read or written is done without.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from skilldelta.bank.database import Database
from skilldelta.bank.migrations import LATEST
from skilldelta.errors import BankError, DamagedBankError

P = ParamSpec("P")
T = TypeVar("T")

# Seconds to wait for another writer before something is not cached.
CACHE_PATIENCE = 0.2
_FILE = "derived.bank"


class Cache:
    """The derived data of one open bank."""

    def __init__(self, bank: Database) -> None:
        self._bank = bank
        self._folder = bank.backend.cache_path()
        self._database: Database | None = bank if self._folder is None else None
        self._opening = threading.Lock()

    @property
    def path(self) -> Path | None:
        """The folder; None where the bank itself holds derived data."""
        return self._folder

    def read(
        self, default: T, ask: Callable[Concatenate[Connection, P], T], *arguments: P.args, **options: P.kwargs
    ) -> T:
        """What `ask` finds in the cache; `default` where there is none, or none that can be read."""
        try:
            database = self._opened(create=False)
            if database is None:
                return default
            with database.read() as connection:
                return ask(connection, *arguments, **options)
        except (BankError, OSError) as error:
            self._close_damaged(error)
            return default

    def write(
        self,
        change: Callable[Concatenate[Connection, P], T],
        *arguments: P.args,
        **options: P.kwargs,
    ) -> T | None:
        """Change the cache, unless that would have to wait: None where nothing was stored."""
        try:
            return self.change(CACHE_PATIENCE, change, *arguments, **options)
        except (BankError, OSError) as error:
            self._close_damaged(error)
            return None

    def change(
        self, patience: float, change: Callable[Concatenate[Connection, P], T], *arguments: P.args, **options: P.kwargs
    ) -> T | None:
        """`write`, waiting for `patience` seconds, with the error that stands against it."""
        if self._bank.readonly:
            return None
        database = self._opened(create=True)
        if database is None:
            return None
        with database.write_derived(patience) as connection:
            return change(connection, *arguments, **options)

    def exists(self) -> bool:
        """Whether anything was ever cached."""
        return self._folder is None or (self._folder / _FILE).exists()

    def close(self) -> None:
        """Close the cache's connections; the bank's own are the bank's to close."""
        database, self._database = self._database, None
        if database is not None and database is not self._bank:
            database.close()

    def _opened(self, *, create: bool) -> Database | None:
        if self._database is not None or self._folder is None:
            return self._database
        with self._opening:
            path = self._folder / _FILE
            if self._database is None and (create or path.exists()):
                if create:
                    self._folder.mkdir(mode=0o700, exist_ok=True)
                self._database = self._open(path, create=create)
            return self._database

    def _open(self, path: Path, *, create: bool) -> Database | None:
        timeout = self._bank.timeout
        try:
            database = Database.open(path, create=create, readonly=self._bank.readonly, timeout=timeout)
            if database.version == LATEST:
                return database
            database.close()
        except DamagedBankError:
            pass
        if not create:
            return None
        shutil.rmtree(path.parent, ignore_errors=True)
        path.parent.mkdir(mode=0o700, exist_ok=True)
        return Database.open(path, create=True, readonly=False, timeout=timeout)

    def _close_damaged(self, error: Exception) -> None:
        """The next use opens the cache again: it was removed or replaced, or is removed here because it is damaged."""
        if self._folder is None:
            return
        self.close()
        if isinstance(error, DamagedBankError) and not self._bank.readonly:
            shutil.rmtree(self._folder, ignore_errors=True)
