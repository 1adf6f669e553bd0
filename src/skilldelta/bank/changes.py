"""What changed in the evidence since it was last read: the pairs of touched tasks, or all of them.

New executions touch their tasks only. A removal, or a new version of a skill in question, may change any pair: then
everything is read again.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from skilldelta.bank import schema
from skilldelta.bank.lookup import read_counter
from skilldelta.bank.pair_reading import PairQuery, read_pairs, versions_of
from skilldelta.bank.reading import read_agents, read_texts, read_versions
from skilldelta.records import Pair


@dataclass(frozen=True, slots=True)
class Mark:
    """How far the evidence was read."""

    revision: int
    removals: int
    last_execution: int
    versions: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """The pairs of the touched tasks in order of arrival, with the keys and texts of their tasks."""

    mark: Mark
    touched: tuple[int, ...] | None
    """Keys of the tasks whose earlier pairs these replace; None replaces everything."""
    pairs: tuple[Pair, ...]
    task_keys: tuple[int, ...]
    texts: tuple[str, ...]


def read_changes(connection: Connection, asked: PairQuery, since: Mark | None) -> Changes:
    """What an earlier reader lacks, in one view of the bank."""
    mark = _mark(connection, asked)
    touched: tuple[int, ...] | None = None
    if since is not None and (since.removals, since.versions) == (mark.removals, mark.versions):
        touched = _touched(connection, asked, since)
    paired = read_pairs(connection, asked, task_keys=touched)
    pairs = paired.pairing.pairs
    task_keys = tuple(paired.key_of(pair) for pair in pairs)
    texts = read_texts(connection, task_keys)
    return Changes(mark, touched, pairs, task_keys, tuple(texts[key] for key in task_keys))


def _mark(connection: Connection, asked: PairQuery) -> Mark:
    versions = versions_of(read_versions(connection).values())
    if asked.skill_id is not None:
        versions = {asked.skill_id: versions.get(asked.skill_id, [])}
    return Mark(
        revision=read_counter(connection, schema.REVISION),
        removals=read_counter(connection, schema.REMOVALS),
        last_execution=int(connection.execute(select(func.max(schema.executions.c.key))).scalar() or 0),
        versions=tuple((skill_id, tuple(digests)) for skill_id, digests in versions.items()),
    )


def _touched(connection: Connection, asked: PairQuery, since: Mark) -> tuple[int, ...]:
    table, tasks = schema.executions, schema.tasks
    agents = [key for key, agent in read_agents(connection).items() if agent == asked.agent]
    query = (
        select(table.c.task_key)
        .select_from(table.join(tasks, table.c.task_key == tasks.c.key))
        .where(table.c.key > since.last_execution, table.c.agent_key.in_(agents))
        .distinct()
    )
    for column, value in ((tasks.c.suite, asked.suite), (tasks.c.family, asked.family)):
        if value is not None:
            query = query.where(column == value)
    return tuple(sorted(key for (key,) in connection.execute(query)))
