"""A bank that a team shares, in PostgreSQL. Writers take turns by an advisory lock; readers never wait."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from sqlalchemy import Connection, Engine, TableClause, create_engine, event, insert, make_url, text

from skilldelta.bank.backend import Counter
from skilldelta.bank.lookup import read_counter
from skilldelta.bank.schema import SCHEMA_VERSION
from skilldelta.errors import MissingExtraError

_ADVISORY_LOCK = 0x536B446C


class PostgreSQL:
    """A bank that a team shares, in the schema `skilldelta` of a database."""

    name = "postgresql"

    def __init__(self, url: str, timeout: float) -> None:
        parsed = make_url(url)
        if parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        self._url = parsed
        self._timeout = timeout
        self.location = parsed.render_as_string(hide_password=True)

    def exists(self) -> bool:
        return True

    def prepare(self) -> None:
        """Nothing: the database itself is made by its administrator."""

    def reader(self) -> Engine:
        return self._engine()

    def writer(self) -> Engine:
        engine = self._engine()

        @event.listens_for(engine, "begin")
        def _lock(connection: Connection) -> None:
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{int(self._timeout * 1000)}ms'")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")

        return engine

    def write_lock(self) -> AbstractContextManager[None]:
        return nullcontext()

    def tidy(self) -> None:
        """Nothing: a server leaves no files behind."""

    def version(self, connection: Connection) -> int:
        found = connection.execute(text("SELECT to_regclass('skilldelta.meta')")).scalar()
        return read_counter(connection, SCHEMA_VERSION) if found else 0

    def mark(self, connection: Connection) -> None:
        connection.execute(text("CREATE SCHEMA IF NOT EXISTS skilldelta"))

    def counter(self, engine: Engine, name: str) -> Counter:
        return _Counter(engine, name)

    def insert_many(
        self, connection: Connection, table: TableClause, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        listed = [dict(zip(columns, row, strict=True)) for row in rows]
        if listed:
            connection.execute(insert(table), listed)

    def problems(self, connection: Connection) -> list[str]:
        """Nothing of its own: PostgreSQL enforces references and checks its pages itself."""
        return []

    def size_bytes(self, connection: Connection) -> int:
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar() or 0)

    def _engine(self) -> Engine:
        try:
            return create_engine(self._url, connect_args={"options": "-csearch_path=skilldelta"})
        except ModuleNotFoundError:
            raise MissingExtraError("a PostgreSQL bank", "postgres") from None


class _Counter:
    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._name = name

    def read(self) -> int:
        with self._engine.connect() as connection:
            return read_counter(connection, self._name)

    def close(self) -> None:
        """Nothing: the engine closes its connections."""
