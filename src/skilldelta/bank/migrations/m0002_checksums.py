"""Version 2: a checksum for every row, and the list of commits.

Columns are named here as they were at this version; see `schema` for the rule.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, Connection, Integer, MetaData, Table, text

from skilldelta.bank.schema import checksum_of

VERSION = 2

_INT = BigInteger().with_variant(Integer, "sqlite")
_ROWS_AT_ONCE = 5_000

_KEYS = {"meta": ("name",), "vectors": ("encoder_key", "text_digest")}
_COLUMNS = {
    "meta": "name value",
    "agents": "key name fingerprint",
    "skills": "key skill_id digest text",
    "tasks": "key suite task_id family text text_digest",
    "executions": "key agent_key task_key skill_key condition repetition attempt success tokens seconds cost_usd status "
    "recorded_at",
    "encoders": "key identity dimension",
    "vectors": "encoder_key text_digest vector",
    "decisions": "key time agent fingerprint skill_id skill_digest task_id text_digest action gain threshold reason "
    "evidence",
    "judgements": "key agent_key task_key skill_key use tokens answer",
}


def upgrade(connection: Connection) -> None:
    """Compute the checksums of what is there."""
    for name, columns in _COLUMNS.items():
        connection.execute(text(f"ALTER TABLE {name} ADD COLUMN checksum BIGINT NOT NULL DEFAULT 0"))
        _seal(connection, name, columns.split())
    _commits().create(connection)


def _commits() -> Table:
    return Table(
        "commits",
        MetaData(),
        Column("number", _INT, primary_key=True, autoincrement=False),
        Column("mark", _INT, nullable=False),
        Column("checksum", _INT, nullable=False),
    )


def _seal(connection: Connection, name: str, columns: list[str]) -> None:
    keys = _KEYS.get(name, ("key",))
    listed, ordered = ", ".join(f'"{column}"' for column in columns), ", ".join(keys)
    after = f"({ordered}) > ({', '.join(f':{key}' for key in keys)})"
    first = text(f"SELECT {listed} FROM {name} ORDER BY {ordered} LIMIT {_ROWS_AT_ONCE}")
    following = text(f"SELECT {listed} FROM {name} WHERE {after} ORDER BY {ordered} LIMIT {_ROWS_AT_ONCE}")
    update = text(f"UPDATE {name} SET checksum = :sum WHERE {' AND '.join(f'{key} = :{key}' for key in keys)}")
    checksum = checksum_of(name)
    rows = connection.execute(first).all()
    while rows:
        values: list[dict[str, Any]] = [{key: getattr(row, key) for key in keys} for row in rows]
        connection.execute(
            update, [{**key, "sum": checksum(tuple(row))} for key, row in zip(values, rows, strict=True)]
        )
        rows = connection.execute(following, values[-1]).all()
