"""Version 1: agents, skills, tasks, executions, vectors, decisions and judgements.

A migration is frozen once released: a later change of the tables is a new file.
"""

from __future__ import annotations

from sqlalchemy import (
    CheckConstraint,
    Column,
    Connection,
    ForeignKey,
    Index,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)
from sqlalchemy.types import BigInteger, Boolean, Double, Integer, LargeBinary, Text

VERSION = 1

# INTEGER PRIMARY KEY is SQLite's own row id; BIGINT would cost a second index there.
_INT = BigInteger().with_variant(Integer, "sqlite")


def upgrade(connection: Connection) -> None:
    """Make the tables in an empty database."""
    _metadata().create_all(connection)


def _metadata() -> MetaData:
    metadata = MetaData()
    Table("meta", metadata, Column("name", Text, primary_key=True), Column("value", _INT, nullable=False))
    _names(metadata)
    _facts(metadata)
    _derived(metadata)
    return metadata


def _names(metadata: MetaData) -> None:
    """Who ran what: agents, skill versions, tasks."""
    Table(
        "agents",
        metadata,
        _key(),
        Column("name", Text, nullable=False),
        Column("fingerprint", Text, nullable=False),
        UniqueConstraint("name", "fingerprint"),
    )
    Table(
        "skills",
        metadata,
        _key(),
        Column("skill_id", Text, nullable=False),
        Column("digest", Text, nullable=False),
        Column("text", Text, nullable=False),
        UniqueConstraint("skill_id", "digest"),
    )
    Table(
        "tasks",
        metadata,
        _key(),
        Column("suite", Text, nullable=False),
        Column("task_id", Text, nullable=False),
        Column("family", Text, nullable=False),
        Column("text", Text, nullable=False),
        Column("text_digest", LargeBinary, nullable=False),
        UniqueConstraint("suite", "task_id"),
        Index("ix_tasks_family", "family"),
    )


def _facts(metadata: MetaData) -> None:
    """What happened: executions, decisions, judgements."""
    Table(
        "executions",
        metadata,
        _key(),
        _reference("agent_key", "agents"),
        _reference("task_key", "tasks"),
        _reference("skill_key", "skills"),
        Column("condition", Text, CheckConstraint("condition IN ('use', 'skip')"), nullable=False),
        Column("repetition", _INT, CheckConstraint("repetition >= 0"), nullable=False),
        Column("attempt", _INT, nullable=False),
        Column("success", Double, CheckConstraint("success BETWEEN 0 AND 1")),
        Column("tokens", Double),
        Column("seconds", Double),
        Column("cost_usd", Double),
        Column("status", Text, nullable=False),
        Column("recorded_at", Double, nullable=False),
        UniqueConstraint("task_key", "agent_key", "skill_key", "condition", "repetition", "attempt"),
        Index("ix_executions_skill", "skill_key", "agent_key"),
    )
    Table(
        "decisions",
        metadata,
        _key(),
        Column("time", Double, nullable=False),
        *(Column(name, Text, nullable=False) for name in ("agent", "fingerprint", "skill_id", "skill_digest")),
        *(Column(name, Text, nullable=False) for name in ("task_id", "text_digest", "action")),
        Column("gain", Double, nullable=False),
        Column("threshold", Double, nullable=False),
        Column("reason", Text, nullable=False),
        Column("evidence", Text, nullable=False),
    )
    Table(
        "judgements",
        metadata,
        _key(),
        _reference("agent_key", "agents"),
        _reference("task_key", "tasks"),
        _reference("skill_key", "skills"),
        Column("use", Boolean, nullable=False),
        Column("tokens", Double),
        Column("answer", Text, nullable=False),
        UniqueConstraint("task_key", "agent_key", "skill_key"),
    )


def _derived(metadata: MetaData) -> None:
    """What can be computed again: vectors."""
    Table(
        "encoders",
        metadata,
        _key(),
        Column("identity", Text, nullable=False, unique=True),
        Column("dimension", _INT, nullable=False),
    )
    Table(
        "vectors",
        metadata,
        _reference("encoder_key", "encoders"),
        Column("text_digest", LargeBinary, nullable=False),
        Column("vector", LargeBinary, nullable=False),
        PrimaryKeyConstraint("encoder_key", "text_digest"),
    )


def _key() -> Column[int]:
    return Column("key", _INT, primary_key=True, autoincrement=False)


def _reference(name: str, target: str) -> Column[int]:
    return Column(name, _INT, ForeignKey(f"{target}.key"), nullable=False)
