"""Version 5: a revision for each agent and suite, and what the bank prefers where a name is left out."""

from __future__ import annotations

import secrets

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, Table, insert, text
from sqlalchemy.types import BigInteger, Integer, Text

from skilldelta.bank.schema import row_checksum

VERSION = 5

_INT = BigInteger().with_variant(Integer, "sqlite")


def upgrade(connection: Connection) -> None:
    """Add the tables, and give every panel its first revision.

    What was learned is dropped: it belongs to a revision of the whole bank, and can be learned again.
    """
    metadata = MetaData()
    revisions = Table(
        "panel_revisions",
        metadata,
        Column("agent_key", _INT, nullable=False),
        Column("suite", Text, nullable=False),
        Column("revision", _INT, nullable=False),
        Column("checksum", _INT, nullable=False),
        PrimaryKeyConstraint("agent_key", "suite"),
    )
    Table(
        "preferences",
        metadata,
        Column("name", Text, primary_key=True),
        Column("value", Text, nullable=False),
        Column("checksum", _INT, nullable=False),
    )
    metadata.create_all(connection)
    panels = connection.execute(
        text("SELECT DISTINCT e.agent_key, t.suite FROM executions e JOIN tasks t ON t.key = e.task_key")
    ).all()
    for agent_key, suite in panels:
        row = (agent_key, suite, secrets.randbits(62))
        values = dict(zip(("agent_key", "suite", "revision"), row, strict=True))
        connection.execute(insert(revisions), {**values, "checksum": row_checksum(row)})
    revision = connection.execute(text("SELECT value FROM meta WHERE name = 'revision'")).scalar() or 0
    counter = ("panels_revision", int(revision))
    connection.execute(
        text("INSERT INTO meta (name, value, checksum) VALUES (:name, :value, :checksum)"),
        {"name": counter[0], "value": counter[1], "checksum": row_checksum(counter)},
    )
    connection.execute(text("DELETE FROM learned_states"))
