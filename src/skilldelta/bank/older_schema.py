"""How a bank of an older schema version is read as it is: temporary views stand for what its tables lack.

A table that came later reads as empty, and a column that came later as unknown. The views belong to one connection, hide
the bank's own table of that name from its queries, and leave the bank unchanged.
"""

from __future__ import annotations

from sqlalchemy import Connection, TableClause, inspect

from skilldelta.bank import schema


def views_of(connection: Connection) -> list[str]:
    """Statements that make the views, for the bank that the connection reads."""
    tables = inspect(connection)
    existing = set(tables.get_table_names())
    views = []
    for table in schema.TABLES:
        columns = {column["name"] for column in tables.get_columns(table.name)} if table.name in existing else set()
        if columns != {column.name for column in table.c}:
            views.append(_view(connection, table, columns))
    return views


def _view(connection: Connection, table: TableClause, existing: set[str]) -> str:
    """A view with all columns of a table, of which the bank's own has only the `existing` ones, or none at all."""
    columns = []
    for column in table.c:
        if column.name in existing:
            columns.append(f'"{column.name}"')
        else:
            value = schema.UNCHECKED if existing and column.name == "checksum" else "NULL"
            columns.append(f'CAST({value} AS {column.type.compile(connection.dialect)}) AS "{column.name}"')
    home = "main" if connection.dialect.name == "sqlite" else "skilldelta"
    source = f"FROM {home}.{table.name}" if existing else "WHERE 1 = 0"
    return f"CREATE TEMPORARY VIEW {table.name} AS SELECT {', '.join(columns)} {source}"
