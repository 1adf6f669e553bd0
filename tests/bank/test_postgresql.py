"""What can be said of a PostgreSQL bank without a server: its tables compile, and its password stays hidden."""

from __future__ import annotations

import pytest
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateTable

from skilldelta.bank import schema
from skilldelta.bank.migrations import m0001_first_tables
from skilldelta.bank.postgresql import PostgreSQL


@pytest.mark.parametrize("table", [table.name for table in schema.TABLES])
def test_every_table_compiles_for_both_databases_with_the_same_columns(table: str) -> None:
    made = m0001_first_tables._metadata().tables[table]
    assert [column.name for column in made.c] == [column.name for column in getattr(schema, table).c]
    large = str(CreateTable(made).compile(dialect=postgresql.dialect()))
    small = str(CreateTable(made).compile(dialect=sqlite.dialect())).replace('"', "")
    assert "SERIAL" not in large  # keys are given by the bank, not by a sequence
    if "key" in made.c:
        assert "key BIGINT NOT NULL" in large
        assert "key INTEGER NOT NULL" in small  # SQLite's own row id


def test_the_location_hides_the_password() -> None:
    location = PostgreSQL("postgresql://ann:secret@db.example/bank", timeout=1).location
    assert location == "postgresql+psycopg://ann:***@db.example/bank"
