"""What was learned from the evidence, cached: opaque parts under a name, good for one revision of a panel.

The name says everything else that the parts depend on; its last word is the version of the code. Parts can be learned
again at any time, so that nothing here is precious: a newer state of the same panel takes an older one's place, damaged
parts are never handed out, and old states make room for new ones. A state of an
earlier revision stays until then: a server may answer from it while it learns the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, select

from skilldelta.bank import schema
from skilldelta.bank.database import Backend
from skilldelta.bank.schema import insert_rows, row_checksum

# Bytes that all states may take; a single one that is larger is not kept. A value in SQLite has at most 10^9 bytes.
LIMIT = 4 * 2**30
_LARGEST_PART = 900_000_000


@dataclass(frozen=True, slots=True)
class LearnedStates:
    """How much is cached."""

    states: int = 0
    size_bytes: int = 0


def read_part(connection: Connection, name: str, part: str, revision: int) -> bytes | None:
    """A part that was learned at a revision of its panel; None where there is none, or it is damaged."""
    table = schema.learned_states
    query = select(*table.c).where(table.c.name == name, table.c.part == part, table.c.revision == revision)
    row = connection.execute(query).first()
    if row is None or row_checksum(row[:-1]) != row.checksum:
        return None
    return bytes(row.data)


def read_revision(connection: Connection, name: str) -> int | None:
    """The revision at which the kept state of a name was learned; None where none is kept."""
    table = schema.learned_states
    revision = connection.execute(select(table.c.revision).where(table.c.name == name).limit(1)).scalar()
    return None if revision is None else int(revision)


def keep(
    connection: Connection,
    backend: Backend,
    name: str,
    parts: Mapping[str, bytes],
    *,
    revision: int,
    now: float,
    limit: int = LIMIT,
) -> bool:
    """Put all parts of a state in place of what its name had; False where it is too large."""
    size = sum(map(len, parts.values()))
    if not parts or size > limit or max(map(len, parts.values())) > _LARGEST_PART:
        return False
    table = schema.learned_states
    of_any_code = table.c.name.startswith(f"{name.rpartition(' ')[0]} ", autoescape=True)
    connection.execute(delete(table).where((table.c.name == name) | of_any_code))
    _make_room(connection, limit - size)
    insert_rows(connection, backend, table, [(name, part, revision, now, data) for part, data in parts.items()])
    return True


def drop(connection: Connection, name: str) -> None:
    """Forget the state of a name."""
    connection.execute(delete(schema.learned_states).where(schema.learned_states.c.name == name))


def drop_all(connection: Connection) -> None:
    """Forget everything learned: it may hold words of texts that are being forgotten."""
    connection.execute(delete(schema.learned_states))


def read_learned(connection: Connection) -> LearnedStates:
    """Counts for the bank's status."""
    table = schema.learned_states
    query = select(func.count(table.c.name.distinct()), func.sum(func.length(table.c.data)))
    states, size = connection.execute(query).one()
    return LearnedStates(int(states), int(size or 0))


def _make_room(connection: Connection, room: int) -> None:
    """Drop the states kept longest ago until the others fit."""
    table = schema.learned_states
    query = select(table.c.name, func.sum(func.length(table.c.data))).group_by(table.c.name)
    for name, size in connection.execute(query.order_by(func.max(table.c.kept_at).desc(), table.c.name)).all():
        room -= int(size)
        if room < 0:
            connection.execute(delete(table).where(table.c.name == name))
