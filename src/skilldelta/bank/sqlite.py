"""A bank in one SQLite file. Readers open it read-only and take no lock; its one writer holds the lock file beside it."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, TableClause, create_engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import QueuePool

from skilldelta.bank import sqlite_files
from skilldelta.bank.driver_errors import DRIVER_ERRORS, not_a_bank
from skilldelta.bank.schema import SCHEMA_VERSION, Head, read_counter
from skilldelta.errors import BankError, UnwritableBankError
from skilldelta.files import flush_durably
from skilldelta.nouns import plural

# Marks a SQLite file as a bank ("SkDl"), so that no other program's file is taken for one.
APPLICATION_ID = 0x536B446C

_MAGIC = b"SQLite format 3\x00"
_CACHE_KIB = 65_536
_PAGE_BYTES = 8_192  # holds five vectors of 384 dimensions; the usual 4,096 waste a quarter


class SQLite:
    """A bank in one file, in WAL mode with synchronous=FULL: an acknowledged commit survives a kill and a power cut."""

    name = "sqlite"

    def __init__(self, path: Path, timeout: float) -> None:
        self.location = str(path)
        # Behind every link, as SQLite itself looks for the log: all who reach one bank meet at one lock.
        self.path = Path(os.path.realpath(path))
        self._lock = self._beside(".lock")
        self._wal = self._beside("-wal")
        self._commits = self._beside(".commits")
        self.timeout = timeout
        self._copy: sqlite_files.Copy | None = None
        self.reader_setup: Sequence[str] = ()

    def exists(self) -> bool:
        """Whether the file holds something; anything but a SQLite file is refused. An empty file is a new bank."""
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise not_a_bank(self.location, "it is not a file")  # reading from a pipe might never end
            with self.path.open("rb") as file:
                head = file.read(len(_MAGIC))
        except FileNotFoundError:
            return False
        except PermissionError as error:
            raise BankError(
                f"the bank {self.location} cannot be read ({error.strerror}); ask its owner for the right to read it",
                setting="bank",
            ) from None
        except OSError as error:
            raise not_a_bank(self.location, error.strerror or str(error)) from None
        if head and head != _MAGIC:
            raise not_a_bank(self.location, "it is not a SQLite file")
        return bool(head)

    def create(self, make_tables: Callable[[Connection], None]) -> None:
        """A new bank, readable by its owner alone; nothing if another process was faster."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.write_lock():
                if not self.exists():
                    self._commits.unlink(missing_ok=True)  # of a bank that was here before
                    sqlite_files.create_aside(self.path, lambda aside: self._make(aside, make_tables))
        except OSError as error:
            raise UnwritableBankError(
                f"cannot make the bank {self.location} ({error.strerror}); choose another path"
            ) from None

    def identity(self) -> tuple[int, int] | None:
        """Which file has the bank's name; None if none has."""
        try:
            file = self.path.stat()
        except OSError:
            return None
        return file.st_dev, file.st_ino

    def reader(self) -> Engine:
        return _sqlite_engine(self.connect_reader, "BEGIN")

    def writer(self) -> Engine:
        return _sqlite_engine(self.connect_writer, "BEGIN IMMEDIATE")

    @contextmanager
    def transaction(self, writer: Engine, *, durable: bool) -> Iterator[Connection]:
        """With NORMAL a commit is in the log without waiting for the disk; the next FULL one takes it along."""
        with writer.connect() as connection:
            _driver(connection).execute(
                f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}"
            )  # only outside of a transaction
            with connection.begin():
                yield connection

    def settle(self) -> None:
        """Wait until the disk has the log."""
        with suppress(FileNotFoundError):  # no log: everything is in the file
            descriptor = os.open(self._wal, os.O_RDWR)
            try:
                flush_durably(descriptor)
            finally:
                os.close(descriptor)

    def write_lock(self) -> AbstractContextManager[None]:
        return sqlite_files.write_lock(self._lock, self.timeout)

    def tidy(self) -> None:
        """Remove the empty log files that a reader makes and cannot remove, unless someone is writing or may not.

        A log with content stays: the next writer moves it into the file, which a reader must not change.
        """
        with suppress(OSError, BankError, *DRIVER_ERRORS):
            if self._wal.stat().st_size == 0:
                with sqlite_files.write_lock(self._lock, 0):
                    self.connect_writer().close()

    def release(self) -> None:
        """Remove the copy that was read, if one was needed."""
        copy, self._copy = self._copy, None
        if copy is not None:
            copy.remove()

    def version(self, connection: Connection) -> int:
        """The schema version, 0 for an empty database; any other program's database is refused."""
        if connection.exec_driver_sql("PRAGMA application_id").scalar() == APPLICATION_ID:
            return read_counter(connection, SCHEMA_VERSION)
        if connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar():
            raise not_a_bank(self.location, "it is another program's database")
        return 0

    def mark(self, connection: Connection) -> None:
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")

    def number_reader(self, engine: Engine) -> _NumberReader:
        return _NumberReader(self.connect_reader())

    def cache_path(self) -> Path:
        """Where vectors and learned states are kept, so that reading a bank does not change it."""
        return self._beside(".cache")

    def insert_many(
        self, connection: Connection, table: TableClause, columns: Sequence[str], rows: Iterable[Sequence[Any]]
    ) -> None:
        """Plain tuples straight to the driver, which is several times faster than a dict per row."""
        marks = ", ".join("?" * len(columns))
        statement = f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({marks})"
        _driver(connection).executemany(statement, rows)

    def changes(self, connection: Connection) -> int:
        """A number that moves when a row is written."""
        return _driver(connection).total_changes

    def acknowledge(self, head: Head) -> None:
        sqlite_files.acknowledge(self._commits, head)

    def restart_commits(self, head: Head | None) -> None:
        """Let another content of the file begin at its own last commit."""
        self._commits.unlink(missing_ok=True)
        if head is not None:
            self.acknowledge(head)

    def acknowledged(self) -> Head | None:
        return sqlite_files.acknowledged(self._commits)

    def lost(self, connection: Connection, acknowledged: Head | None) -> str | None:
        return sqlite_files.lost(connection, acknowledged, self.location, self._commits)

    def problems(self, connection: Connection) -> list[str]:
        """Damaged pages and indexes, and rows whose reference leads nowhere."""
        try:
            lines = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(100)")]
        except DBAPIError as error:  # some damage ends the check itself
            return [f"damaged file: {error.orig}"]
        orphans: dict[tuple[str, str], int] = {}
        for table, _, parent, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
            orphans[table, parent] = orphans.get((table, parent), 0) + 1
        return [f"damaged file: {line}" for line in lines if line != "ok"] + [
            f"{plural(count, 'orphan row')} in {table}: the {parent} row is missing"
            for (table, parent), count in orphans.items()
        ]

    def size_bytes(self, connection: Connection) -> int:
        return self.path.stat().st_size + (self._wal.stat().st_size if os.path.exists(self._wal) else 0)

    def _beside(self, suffix: str) -> Path:
        return Path(f"{self.path}{suffix}")

    def _make(self, aside: Path, make_tables: Callable[[Connection], None]) -> None:
        engine = SQLite(aside, self.timeout).writer()
        try:
            with engine.begin() as connection:
                make_tables(connection)
        finally:
            engine.dispose()  # the last connection moves the log into the file

    def connect_reader(self) -> sqlite3.Connection:
        """Read-only. A file whose log SQLite cannot use, for want of the right to write there, is read by other ways."""
        try:
            return self._read(self.path)
        except sqlite3.OperationalError:
            if os.path.exists(self._beside("-journal")):
                self._recover()
                return self._read(self.path)
            if os.access(self.path.parent, os.W_OK):
                raise
        if not (os.path.exists(self._wal) and self._wal.stat().st_size):
            return self._read(self.path, "&immutable=1")
        if self._copy is None:
            self._copy = sqlite_files.Copy.of(self.path, self._wal, self.location)
        return self._read(self._copy.path)

    def _read(self, path: Path, options: str = "") -> sqlite3.Connection:
        return self._connect(path, f"mode=ro{options}", *self.reader_setup, "PRAGMA query_only = ON")

    def _recover(self) -> None:
        """Let SQLite undo what a killed program began: a reader may not."""
        with self.write_lock():
            self.connect_writer().close()

    def connect_writer(self) -> sqlite3.Connection:
        connection = self._connect(self.path, "mode=rw", "PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")  # takes effect in a new file only
        mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
        if mode != "wal":
            connection.close()
            raise BankError(f"{self.location} cannot keep a write-ahead log (mode {mode}); put it on a local disk")
        return connection

    def _connect(self, path: Path, mode: str, *setup: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{_uri(path)}?{mode}",
            uri=True,
            timeout=self.timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            for statement in (*setup, "PRAGMA foreign_keys = ON", f"PRAGMA cache_size = -{_CACHE_KIB}"):
                connection.execute(statement)
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection


def _driver(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


def _uri(path: Path) -> str:
    """A path as SQLite takes it: no name has a meaning, and a Windows share keeps its two slashes."""
    name = path.as_posix()
    return f"file://{'' if name.startswith('/') else '/'}{quote(os.fsencode(name))}"


class _NumberReader:
    """Reads on a connection of its own, past SQLAlchemy: some microseconds instead of a hundred."""

    placeholder = "?"

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()

    def read(self, statement: str, parameters: Sequence[str]) -> int | None:
        with self._lock:
            # All rows are fetched, so that the statement ends and the next one sees what was committed meanwhile.
            rows = self._connection.execute(statement, parameters).fetchall()
        return None if not rows or rows[0][0] is None else int(rows[0][0])

    def close(self) -> None:
        self._connection.close()


def _sqlite_engine(connect: Callable[[], sqlite3.Connection], begin: str) -> Engine:
    engine = create_engine("sqlite+pysqlite://", creator=connect, poolclass=QueuePool)

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # The driver's own transactions are off (isolation_level None): a writer must take SQLite's lock at once.
        connection.exec_driver_sql(begin)

    return engine
