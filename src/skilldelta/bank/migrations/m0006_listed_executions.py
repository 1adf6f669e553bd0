"""Version 6: executions in which the harness listed the skill and the model chose."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Connection, Index, MetaData, Table, UniqueConstraint
from sqlalchemy.types import BigInteger, Double, Integer, Text

VERSION = 6

_INT = BigInteger().with_variant(Integer, "sqlite")


def upgrade(connection: Connection) -> None:
    """Add the table. What the bank has stays as it is."""
    metadata = MetaData()
    Table(
        "listed_executions",
        metadata,
        Column("key", _INT, primary_key=True, autoincrement=False),
        *(Column(name, _INT, nullable=False) for name in ("agent_key", "task_key", "skill_key")),
        Column("repetition", _INT, CheckConstraint("repetition >= 0"), nullable=False),
        Column("attempt", _INT, nullable=False),
        Column("success", Double, CheckConstraint("success BETWEEN 0 AND 1")),
        *(Column(name, Double) for name in ("tokens", "seconds", "cost_usd")),
        Column("status", Text, nullable=False),
        Column("loaded", _INT, CheckConstraint("loaded IN (0, 1)")),
        Column("recorded_at", Double, nullable=False),
        Column("checksum", _INT, nullable=False),
        UniqueConstraint("task_key", "agent_key", "skill_key", "repetition", "attempt"),
        Index("ix_listed_executions_skill", "skill_key", "agent_key"),
    )
    metadata.create_all(connection)
