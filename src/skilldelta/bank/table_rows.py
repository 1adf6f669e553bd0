"""Rows of the tables: their checksums, keys and counters, and their insertion.

Every row has a checksum over all of its other columns, so that a bit that flips on a disk is noticed: CRC-32 of the
values in the order of `schema`. Executions and vectors have rules of their own that are quick enough to be checked
whenever they are read. Which row fails is for `verify` and `reading` to say.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from struct import Struct
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

from sqlalchemy import Connection, TableClause, func, insert, select, update

from skilldelta.bank import schema
from skilldelta.bank.schema import columns_of
from skilldelta.errors import BankError

if TYPE_CHECKING:
    from skilldelta.bank.backend import Backend

Row = Sequence[Any]

_UNKNOWN = float("nan")  # stands for NULL; a real one is never stored
_NO_CHECKSUM = -1
_integer, _float, _length = Struct("<cq").pack, Struct("<cd").pack, Struct("<cI").pack
_execution = Struct("<6q5d").pack


def row_checksum(row: Row) -> int:
    """The checksum of a row without its last column, whatever its types."""
    return crc32(b"".join(_encoded(value) for value in row))


def execution_checksum(row: Row) -> int:
    """The same for executions: whole numbers, then numbers, then words."""
    key, agent, task, skill, condition, repetition, attempt, success, tokens, seconds, cost_usd, status, recorded = row
    try:
        packed = _execution(
            *(key, agent, task, skill, repetition, attempt),
            _UNKNOWN if success is None else success,
            _UNKNOWN if tokens is None else tokens,
            _UNKNOWN if seconds is None else seconds,
            _UNKNOWN if cost_usd is None else cost_usd,
            recorded,
        )
    except struct.error:  # a value of another type than was stored
        return _NO_CHECKSUM
    return crc32(f"{condition} {status}".encode(), crc32(packed))


def vector_checksum(row: Row) -> int:
    """The same for vectors: the digest of the text, then the vector."""
    encoder_key, text_digest, vector = row
    try:
        return crc32(vector, crc32(text_digest, encoder_key))
    except TypeError:
        return _NO_CHECKSUM


def checksum_of(table: str) -> Callable[[Row], int]:
    """The rule of a table."""
    return {"executions": execution_checksum, "vectors": vector_checksum}.get(table, row_checksum)


def sealed(table: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows with their checksums behind them."""
    checksum = checksum_of(table)
    return ((*row, checksum(row)) for row in rows)


def changed_row(what: str) -> BankError:
    """What a reader is told who meets a row without its checksum."""
    return BankError(
        f"{what} in the bank was changed by something other than SkillDelta, or its disk fails (wrong checksum); "
        "restore a copy of the bank, and see: skilldelta bank verify"
    )


def _encoded(value: Any) -> bytes:
    if value is None:
        return b"n"
    if isinstance(value, int):
        return _integer(b"i", value)
    if isinstance(value, float):
        return _float(b"f", value + 0.0)  # SQLite keeps no sign of a zero
    if isinstance(value, str):
        raw = value.encode("utf-8", "surrogatepass")
        return _length(b"s", len(raw)) + raw
    return _length(b"b", len(value)) + bytes(value)


T = TypeVar("T")

_CHUNK = 5_000  # below SQLite's limit of 32,766 parameters per statement


def next_key(connection: Connection, table: TableClause) -> int:
    """The first free key. Only under the write lock, which keeps others from taking it."""
    return int(connection.execute(select(func.max(table.c.key))).scalar() or 0) + 1


def bump(connection: Connection, counter: str) -> None:
    """Move a meta counter on by one."""
    write_counter(connection, counter, read_counter(connection, counter) + 1)


def write_counter(connection: Connection, counter: str, value: int) -> None:
    """Give a meta counter a value."""
    row = {"value": value, "checksum": row_checksum((counter, value))}
    meta = schema.meta
    if not connection.execute(update(meta).where(meta.c.name == counter).values(**row)).rowcount:
        connection.execute(insert(meta), {"name": counter, **row})


def read_counter(connection: Connection, counter: str) -> int:
    """A meta counter's value; 0 where it never moved."""
    return int(connection.execute(select(schema.meta.c.value).where(schema.meta.c.name == counter)).scalar() or 0)


def chunked(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """A long list in pieces that fit into one statement."""
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]


def insert_rows(connection: Connection, backend: Backend, table: TableClause, rows: Iterable[Row]) -> None:
    """Insert rows that have the table's columns in order, without the checksum."""
    backend.insert_many(connection, table, columns_of(table), sealed(table.name, rows))
