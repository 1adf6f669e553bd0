"""A bank that a team shares, in PostgreSQL. Writers take turns by an advisory lock; readers never wait.

Each read is one snapshot. Every wait has an end: for a connection, for the lock, for an answer, for a sign of life.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from sqlalchemy import URL, Connection, Engine, TableClause, create_engine, event, insert, make_url, text
from sqlalchemy.exc import DBAPIError

from skilldelta.bank.database import Backend
from skilldelta.bank.schema import SCHEMA_VERSION, read_counter
from skilldelta.errors import MissingExtraError
from skilldelta.redaction import redacted

_ADVISORY_LOCK = 0x536B446C
_CONNECT_SECONDS = 10
# Rows from which COPY, which needs a round trip more, is quicker than INSERT.
_ENOUGH_TO_COPY = 50
# A dead peer is noticed within 30 s. What the URL says about these takes precedence.
_KEEP_ALIVE = {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 4, "tcp_user_timeout": 30_000}


class PostgreSQL(Backend):
    """A bank that a team shares, in the schema `skilldelta` of a database."""

    name = "postgresql"

    def __init__(self, url: str | URL, timeout: float, *, lock_timeout: float | None = None) -> None:
        parsed = make_url(url)
        if parsed.drivername == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
        self.url = parsed
        self._timeout = timeout
        self._lock_timeout = timeout if lock_timeout is None else lock_timeout
        self.reader_setup = ()
        # As people write it, without the driver.
        shown = parsed.set(drivername="postgresql") if parsed.drivername == "postgresql+psycopg" else parsed
        self.location = redacted(shown.render_as_string(hide_password=True))

    def exists(self) -> bool:
        return True

    def reader(self) -> Engine:
        """Transactions that see one snapshot: a read of several statements never meets half of a write."""
        return self._engine(self.reader_setup, isolation_level="REPEATABLE READ", postgresql_readonly=True)

    def writer(self) -> Engine:
        engine = self._engine((), isolation_level="READ COMMITTED")

        @event.listens_for(engine, "begin")
        def _lock(connection: Connection) -> None:
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{int(self._lock_timeout * 1000)}ms'")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_ADVISORY_LOCK})")

        return engine

    @contextmanager
    def transaction(self, writer: Engine, *, durable: bool) -> Iterator[Connection]:
        """Without durability the commit does not wait for the disk; the server writes it within a second."""
        with writer.begin() as connection:
            if not durable:
                connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
            yield connection

    def write_lock(self) -> AbstractContextManager[None]:
        return nullcontext()

    def version(self, connection: Connection) -> int:
        has_tables = connection.execute(text("SELECT to_regclass('skilldelta.meta')")).scalar()
        return read_counter(connection, SCHEMA_VERSION) if has_tables else 0

    def mark(self, connection: Connection) -> None:
        connection.execute(text("CREATE SCHEMA IF NOT EXISTS skilldelta"))

    def number_reader(self, engine: Engine) -> _NumberReader:
        return _NumberReader(engine)

    def cache_path(self) -> None:
        """None: vectors and learned states are in the bank's own tables, where the whole team finds them."""

    def insert_many(
        self, connection: Connection, table: TableClause, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        listed = list(rows)
        if not listed:
            return
        if len(listed) < _ENOUGH_TO_COPY:
            connection.execute(insert(table), [dict(zip(columns, row, strict=True)) for row in listed])
            return
        import psycopg

        statement = f"COPY {table.name} ({', '.join(columns)}) FROM STDIN"
        driver: Any = connection.connection.driver_connection
        try:
            with driver.cursor() as cursor, cursor.copy(statement) as copy:
                for row in listed:
                    copy.write_row(row)
        except psycopg.Error as error:
            raise DBAPIError(statement, None, error) from error

    def changes(self, connection: Connection) -> int:
        return int(connection.exec_driver_sql("SELECT pg_current_xact_id_if_assigned() IS NOT NULL").scalar() or 0)

    def size_bytes(self, connection: Connection) -> int:
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar() or 0)

    def _engine(self, setup: Sequence[str], **options: Any) -> Engine:
        try:
            from skilldelta.bank.impatient_connection import ImpatientConnection
        except ImportError:
            raise MissingExtraError("a PostgreSQL bank", "postgres") from None
        # A pooled connection that was dropped meanwhile is replaced before it is used (pre-ping).
        engine = create_engine(
            self.url, connect_args=self._connect_arguments(), pool_pre_ping=True, execution_options=options
        )

        @event.listens_for(engine, "do_connect")
        def _connect(dialect: Any, record: Any, arguments: list[Any], options: dict[str, Any]) -> ImpatientConnection:
            connection = ImpatientConnection.connect(*arguments, **options)
            connection.patience = 1.5 * self._timeout
            for statement in setup:
                connection.execute(statement.encode())
            connection.commit()
            return connection

        return engine

    def _connect_arguments(self) -> dict[str, Any]:
        """The lock may take the whole timeout, a statement a little longer, and silence is borne longest."""
        statement = f"-cstatement_timeout={int(1_250 * self._timeout)}ms"
        bounds = {"connect_timeout": max(2, min(_CONNECT_SECONDS, int(self._timeout))), **_KEEP_ALIVE}
        chosen = {name: value for name, value in bounds.items() if name not in self.url.query}
        return {**chosen, "options": f"-csearch_path=skilldelta {statement}"}


class _NumberReader:
    """Reads on a connection of its own, past SQLAlchemy, and without a transaction: one round trip."""

    placeholder = "%s"

    def __init__(self, engine: Engine) -> None:
        import psycopg

        self._engine = engine
        self._lock = threading.Lock()
        self._connection: Any = None
        self._error = psycopg.Error

    def read(self, statement: str, parameters: Sequence[str]) -> int | None:
        with self._lock:
            # A connection that fails once was perhaps dropped while it was idle, or the server was restarted.
            for attempt in (1, 2):
                if self._connection is None or self._connection.closed:
                    self._connect()
                try:
                    row = self._connection.execute(statement, parameters).fetchone()
                    break
                except self._error as error:
                    if attempt == 2 or not self._connection.closed:
                        raise DBAPIError(statement, parameters, error) from error
        return None if row is None or row[0] is None else int(row[0])

    def _connect(self) -> None:
        pooled = self._engine.raw_connection()
        self._connection = pooled.driver_connection
        pooled.detach()
        self._connection.autocommit = True

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
