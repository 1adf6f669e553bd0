"""Small questions to the tables: the next key, a counter, a long list in pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from sqlalchemy import Connection, TableClause, func, insert, select, update

from skilldelta.bank import schema
from skilldelta.bank.checksum import row_checksum

T = TypeVar("T")

_CHUNK = 5_000  # below SQLite's limit of 32,766 parameters a statement


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
