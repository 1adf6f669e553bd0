"""Rows into a table, each with its checksum behind it."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, TableClause

from skilldelta.bank.backend import Backend
from skilldelta.bank.checksum import Row, sealed
from skilldelta.bank.schema import columns_of


def insert_rows(connection: Connection, backend: Backend, table: TableClause, rows: Iterable[Row]) -> None:
    """Insert rows that have the table's columns in order, without the checksum."""
    backend.insert_many(connection, table, columns_of(table), sealed(table.name, rows))
