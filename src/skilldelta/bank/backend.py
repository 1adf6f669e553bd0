"""What a database must offer to hold a bank, and which one a location means.

Everything above is SQLAlchemy Core; what differs between the databases is in `sqlite` and `postgresql` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Connection, Engine, TableClause, make_url
from sqlalchemy.exc import ArgumentError

from skilldelta.bank.commits import Head
from skilldelta.errors import InputError
from skilldelta.redaction import redacted


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


class Counter(Protocol):
    """A meta counter that is read often."""

    def read(self) -> int: ...
    def close(self) -> None: ...


class Backend(Protocol):
    """One database engine; see the two classes below."""

    name: str
    location: str

    def exists(self) -> bool: ...
    def create(self, make_tables: Callable[[Connection], None]) -> None: ...
    def identity(self) -> object: ...
    def reader(self) -> Engine: ...
    def writer(self) -> Engine: ...
    def transaction(self, writer: Engine, *, durable: bool) -> AbstractContextManager[Connection]: ...
    def settle(self) -> None: ...
    def write_lock(self) -> AbstractContextManager[None]: ...
    def tidy(self) -> None: ...
    def release(self) -> None: ...
    def version(self, connection: Connection) -> int: ...
    def mark(self, connection: Connection) -> None: ...
    def counter(self, engine: Engine, name: str) -> Counter: ...
    def insert_many(
        self, connection: Connection, table: TableClause, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None: ...
    def changes(self, connection: Connection) -> int: ...
    def acknowledge(self, head: Head) -> None: ...
    def acknowledged(self) -> Head | None: ...
    def lost(self, connection: Connection, acknowledged: Head | None) -> str | None: ...
    def problems(self, connection: Connection) -> list[str]: ...
    def size_bytes(self, connection: Connection) -> int: ...
