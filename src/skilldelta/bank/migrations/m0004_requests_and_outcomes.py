"""Version 4: where a decision was asked for, and what happened after it."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Connection, ForeignKey, MetaData, Table, UniqueConstraint
from sqlalchemy.types import BigInteger, Double, Integer, Text

VERSION = 4

_INT = BigInteger().with_variant(Integer, "sqlite")


def upgrade(connection: Connection) -> None:
    """Add the tables; decisions of earlier versions have neither a request nor an outcome."""
    metadata = MetaData()
    Table("decisions", metadata, Column("key", _INT, primary_key=True))  # made before; here for the reference only
    requests, outcomes = _requests(metadata), _outcomes(metadata)
    metadata.create_all(connection, tables=[requests, outcomes])


def _requests(metadata: MetaData) -> Table:
    return Table(
        "requests",
        metadata,
        Column("decision_key", _INT, ForeignKey("decisions.key"), primary_key=True, autoincrement=False),
        Column("skill_id", Text, nullable=False),
        Column("conversation", Text),
        Column("source", Text, nullable=False),
        Column("text", Text),
        Column("checksum", _INT, nullable=False),
        UniqueConstraint("conversation", "skill_id"),  # requests without a conversation (NULL) do not collide
    )


def _outcomes(metadata: MetaData) -> Table:
    return Table(
        "outcomes",
        metadata,
        Column("key", _INT, primary_key=True, autoincrement=False),
        Column("decision_key", _INT, ForeignKey("decisions.key"), nullable=False),
        Column("idempotency_key", Text, nullable=False),
        Column("time", Double, nullable=False),
        Column("success", Double, CheckConstraint("success BETWEEN 0 AND 1")),
        Column("tokens", Double),
        Column("seconds", Double),
        Column("cost_usd", Double),
        Column("checksum", _INT, nullable=False),
        UniqueConstraint("decision_key", "idempotency_key"),
    )
