"""Version 7: the files that belong to a version of a skill besides its text."""

from __future__ import annotations

from sqlalchemy import Column, Connection, MetaData, Table
from sqlalchemy.types import BigInteger, Integer, Text

VERSION = 7

_INT = BigInteger().with_variant(Integer, "sqlite")


def upgrade(connection: Connection) -> None:
    """Add the table; versions that were stored before have no such files, as far as the bank knows."""
    metadata = MetaData()
    Table(
        "skill_files",
        metadata,
        Column("skill_key", _INT, primary_key=True, autoincrement=False),
        Column("files", Text, nullable=False),
        Column("sketch", Text, nullable=False),
        Column("checksum", _INT, nullable=False),
    )
    metadata.create_all(connection)
