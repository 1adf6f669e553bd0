"""When evidence has changed: a revision of the whole bank, and one of each panel (an agent on a suite).

The bank's revision counts changes. A panel's revision is a random number that is drawn again whenever the panel's pairs
may have changed, so that only equality means something. It also tells apart two copies of a bank that went different
ways, which a counter would not: what was learned at a revision can be kept outside the bank.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, TableClause, delete, select, update

from skilldelta.bank import schema
from skilldelta.bank.schema import insert_rows, read_counter, row_checksum, write_counter
from skilldelta.records import Agent

if TYPE_CHECKING:
    from skilldelta.bank.database import Backend

Panel = tuple[int, str]  # agent_key, suite

# The revisions of an agent's suites are added up, so that any of them moves the sum. 48 bits leave room for 32,000 suites.
_BITS = 48

# NULL where a program of an older version wrote last, and `panel_revisions` cannot be relied on.
_PANEL_REVISION = """
SELECT (SELECT coalesce(sum(revision), 0) FROM panel_revisions WHERE agent_key =
        (SELECT key FROM agents WHERE name = {0} AND fingerprint = {0}){1})
FROM meta AS whole JOIN meta AS panels ON whole.value = panels.value
WHERE whole.name = 'revision' AND panels.name = 'panels_revision'
"""


def panel_revision_query(agent: Agent, suite: str | None, mark: str) -> tuple[str, tuple[str, ...]]:
    """SQL and parameters for a driver whose placeholder is `mark`; all suites of the agent where `suite` is None."""
    names = (agent.name, agent.fingerprint)
    if suite is None:
        return _PANEL_REVISION.format(mark, ""), names
    return _PANEL_REVISION.format(mark, f" AND suite = {mark}"), (*names, suite)


def read_panel_revision(connection: Connection, agent: Agent, suite: str | None) -> int:
    """The panel's revision in the view of the bank that the connection has."""
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    revision = connection.exec_driver_sql(*panel_revision_query(agent, suite, mark)).scalar()
    return read_evidence_mark(connection) if revision is None else int(revision)


def read_evidence_mark(connection: Connection) -> int:
    """What stands for every panel's revision in a bank of an older schema version, or one that an older program wrote.

    It moves whenever the bank's revision does, and differs between copies of a bank that went different ways.
    """
    executions = schema.executions
    newest = connection.execute(
        select(executions.c.key, executions.c.recorded_at).order_by(executions.c.key.desc()).limit(1)
    ).first()
    counters = [read_counter(connection, name) for name in (schema.REVISION, schema.REMOVALS)]
    content = repr((schema.read_mark(connection, 1), counters, tuple(newest or ())))
    return int.from_bytes(hashlib.sha256(content.encode()).digest()[: _BITS // 8])


def move_revisions(connection: Connection, backend: Backend, panels: Iterable[Panel]) -> None:
    """Move the bank's revision, and those of the panels that have changed. Only under the write lock."""
    counters = (schema.REVISION, schema.PANELS_REVISION)
    meta, table = schema.meta, schema.panel_revisions
    query = select(meta.c.name, meta.c.value).where(meta.c.name.in_(counters))
    values = {row.name: int(row.value) for row in connection.execute(query)}
    revision = values.get(schema.REVISION, 0)
    changed = set(panels)
    if values.get(schema.PANELS_REVISION, 0) != revision:  # nobody knows what an older program changed
        changed |= panels_with(connection)
    rows = []
    for panel in sorted(changed):
        row = (*panel, secrets.randbits(_BITS))
        is_panel = (table.c.agent_key == panel[0]) & (table.c.suite == panel[1])
        moved = update(table).where(is_panel).values(revision=row[2], checksum=row_checksum(row))
        if not connection.execute(moved).rowcount:
            rows.append(row)
    insert_rows(connection, backend, table, rows)
    for counter in counters:
        write_counter(connection, counter, revision + 1)


def drop_revisions_without_agents(connection: Connection) -> None:
    """Forget the panels of agents that are gone: their keys may be given to others."""
    table = schema.panel_revisions
    connection.execute(delete(table).where(table.c.agent_key.not_in(select(schema.agents.c.key))))


def panels_with(connection: Connection, *conditions: Any, table: TableClause = schema.executions) -> set[Panel]:
    """The panels of the executions that fit every condition."""
    tasks = schema.tasks
    query = select(table.c.agent_key, tasks.c.suite).select_from(table.join(tasks, table.c.task_key == tasks.c.key))
    rows = connection.execute(query.where(*conditions).group_by(table.c.agent_key, tasks.c.suite))
    return {(row.agent_key, row.suite) for row in rows}


def panels_with_skills(connection: Connection, skill_ids: Iterable[str]) -> set[Panel]:
    """The panels that have executions with any version of these skills."""
    skills = schema.skills
    keys = select(skills.c.key).where(skills.c.skill_id.in_(list(skill_ids)))
    return panels_with(connection, schema.executions.c.skill_key.in_(keys))
