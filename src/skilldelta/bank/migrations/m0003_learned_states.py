"""Version 3: what was learned from the evidence, kept for the next process."""

from __future__ import annotations

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, Table
from sqlalchemy.types import BigInteger, Double, Integer, LargeBinary, Text

VERSION = 3

_INT = BigInteger().with_variant(Integer, "sqlite")


def upgrade(connection: Connection) -> None:
    """Add the table; it is empty until something is learned."""
    metadata = MetaData()
    Table(
        "learned_states",
        metadata,
        Column("name", Text, nullable=False),
        Column("part", Text, nullable=False),
        Column("revision", _INT, nullable=False),
        Column("kept_at", Double, nullable=False),
        Column("data", LargeBinary, nullable=False),
        Column("checksum", _INT, nullable=False),
        PrimaryKeyConstraint("name", "part"),
    )
    metadata.create_all(connection)
