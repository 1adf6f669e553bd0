"""Removal of evidence, with what it leaves behind: tasks, skill versions, agents and vectors that nothing refers to.

What was learned from the evidence goes with any of it. Decisions stay: they are an audit log and name a task by digest.
Vectors go with the last task that has their text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, TableClause, and_, delete, false, not_, select, union

from skilldelta.bank import schema
from skilldelta.bank.database import Backend
from skilldelta.bank.learned import drop_all
from skilldelta.bank.reading import read_versions
from skilldelta.bank.revisions import drop_revisions_without_agents, move_revisions, panels_with, panels_with_skills
from skilldelta.bank.schema import chunked, count_rows, read_counter, write_counter
from skilldelta.errors import InputError
from skilldelta.records import Agent

# What refers to agents, tasks and skills.
_OF_RUNS = (schema.executions, schema.listed_executions)
_USERS = (*_OF_RUNS, schema.judgements)


@dataclass(frozen=True, slots=True)
class Foreseen:
    """How many rows a removal would take away, before anybody agrees to it."""

    executions: int = 0
    tasks: int = 0
    skills: int = 0
    judgements: int = 0


@dataclass(frozen=True, slots=True)
class Forgotten:
    """How many rows a removal took away."""

    executions: int = 0
    tasks: int = 0
    skills: int = 0
    agents: int = 0
    vectors: int = 0
    judgements: int = 0


@dataclass(frozen=True, slots=True)
class Removal:
    """What to remove: everything that fits all of the given filters. `before` is in seconds since 1970."""

    agent: Agent | None = None
    suite: str | None = None
    skill_id: str | None = None
    task_id: str | None = None
    before: float | None = None

    def __post_init__(self) -> None:
        if all(value is None for value in (self.agent, self.suite, self.skill_id, self.task_id, self.before)):
            raise InputError("forget needs at least one of agent, suite, skill, task and before; nothing was removed")


def forget(connection: Connection, backend: Backend, removal: Removal) -> tuple[Forgotten, list[bytes]]:
    """Remove and count; and the digests of the texts that no task has any more.

    A baseline that a task's skills share stays when one of the skills is forgotten. Judgements carry no time and stay
    when `before` is given.
    """
    agents, tasks, skills = (_touched(connection, removal, name) for name in ("agent_key", "task_key", "skill_key"))
    panels = panels_with(connection, _fits(removal, schema.executions))
    listed = schema.listed_executions
    panels |= panels_with(connection, _fits(removal, listed), table=listed)
    names = {key: skill.skill_id for key, skill in read_versions(connection).items() if key in set(skills)}
    judgements = _remove(connection, schema.judgements, _fits(removal, schema.judgements))
    executions = sum(_remove(connection, table, _fits(removal, table)) for table in _OF_RUNS)
    gone_tasks, digests = _remove_tasks(connection, tasks)
    gone_skills = _remove_unused(connection, schema.skills, "skill_key", skills)
    files = schema.skill_files
    _remove(connection, files, files.c.skill_key.not_in(select(schema.skills.c.key)))
    gone_agents = _remove_unused(connection, schema.agents, "agent_key", agents)
    still_used = {
        digest
        for chunk in chunked(digests)
        for digest in connection.execute(
            select(schema.tasks.c.text_digest).where(schema.tasks.c.text_digest.in_(chunk))
        ).scalars()
    }
    forgotten_texts = [digest for digest in digests if digest not in still_used]
    vectors = forget_derived(connection, forgotten_texts)
    if executions or gone_tasks or gone_skills:
        # Where a version of a skill is gone, another may have become the current one.
        left = read_versions(connection)
        panels |= panels_with_skills(connection, {name for key, name in names.items() if key not in left})
        move_revisions(connection, backend, panels)
        drop_revisions_without_agents(connection)
        write_counter(connection, schema.REMOVALS, read_counter(connection, schema.REMOVALS) + 1)
    forgotten = Forgotten(
        executions=executions,
        tasks=gone_tasks,
        skills=gone_skills,
        agents=gone_agents,
        vectors=vectors,
        judgements=judgements,
    )
    return forgotten, forgotten_texts


def forget_derived(connection: Connection, digests: Sequence[bytes]) -> int:
    """Remove everything learned, which may hold words of forgotten texts, and the vectors of these; returns how many."""
    drop_all(connection)
    table = schema.vectors
    return sum(_remove(connection, table, table.c.text_digest.in_(chunk)) for chunk in chunked(digests))


def foreseen(connection: Connection, removal: Removal) -> Foreseen:
    """What `forget` would count now. Nothing is written."""
    return Foreseen(
        executions=sum(count_rows(connection, table, _fits(removal, table)) for table in _OF_RUNS),
        tasks=_would_be_unused(connection, schema.tasks, "task_key", removal),
        skills=_would_be_unused(connection, schema.skills, "skill_key", removal),
        judgements=count_rows(connection, schema.judgements, _fits(removal, schema.judgements)),
    )


def _would_be_unused(connection: Connection, table: TableClause, column: str, removal: Removal) -> int:
    """Touched rows that nothing which stays refers to."""
    unused = _unused(table, [select(user.c[column]).where(not_(_fits(removal, user))) for user in _USERS])
    keys = _touched(connection, removal, column)
    return sum(count_rows(connection, table, and_(table.c.key.in_(chunk), unused)) for chunk in chunked(keys))


def _unused(table: TableClause, uses: Iterable[Select[Any]]) -> ColumnElement[bool]:
    """Rows that are in none of the uses; the nameless skill of shared baselines always stays."""
    stays = [table.c.skill_id == schema.SHARED_SKILL] if table is schema.skills else []
    return and_(*(table.c.key.not_in(used) for used in uses), *map(not_, stays))


def _fits(removal: Removal, table: TableClause) -> ColumnElement[bool]:
    """The rows of executions or judgements that every filter takes; judgements carry no time."""
    agents, tasks, skills = schema.agents, schema.tasks, schema.skills
    conditions: list[ColumnElement[bool]] = []
    if removal.agent is not None:
        is_agent = (agents.c.name == removal.agent.name) & (agents.c.fingerprint == removal.agent.fingerprint)
        conditions.append(table.c.agent_key.in_(select(agents.c.key).where(is_agent)))
    if removal.skill_id is not None:
        conditions.append(table.c.skill_key.in_(select(skills.c.key).where(skills.c.skill_id == removal.skill_id)))
    if removal.suite is not None:
        conditions.append(table.c.task_key.in_(select(tasks.c.key).where(tasks.c.suite == removal.suite)))
    if removal.task_id is not None:
        conditions.append(table.c.task_key.in_(select(tasks.c.key).where(tasks.c.task_id == removal.task_id)))
    if removal.before is not None:
        conditions.append(table.c.recorded_at < removal.before if "recorded_at" in table.c else false())
    return and_(*conditions)


def _touched(connection: Connection, removal: Removal, column: str) -> list[int]:
    """Keys of the names that lose a row, or that the filters name by themselves; they go if nothing is left of them."""
    parts = [select(user.c[column]).where(_fits(removal, user)) for user in _USERS]
    keys = set(connection.execute(union(*parts)).scalars())
    tasks, skills = schema.tasks, schema.skills
    if column == "task_key" and removal.agent is None and removal.skill_id is None and removal.before is None:
        chosen = [
            tasks.c[name] == value
            for name, value in (("suite", removal.suite), ("task_id", removal.task_id))
            if value is not None
        ]
        keys.update(connection.execute(select(tasks.c.key).where(*chosen)).scalars())
    if column == "skill_key" and removal == Removal(skill_id=removal.skill_id or ""):
        keys.update(connection.execute(select(skills.c.key).where(skills.c.skill_id == removal.skill_id)).scalars())
    return sorted(keys)


def _remove_tasks(connection: Connection, keys: list[int]) -> tuple[int, list[bytes]]:
    """Remove unused tasks; returns how many, and the digests of the texts asked about."""
    tasks = schema.tasks
    digests: dict[bytes, None] = {}
    for chunk in chunked(keys):
        rows = connection.execute(select(tasks.c.text_digest).where(tasks.c.key.in_(chunk)))
        digests.update((digest, None) for (digest,) in rows)
    return _remove_unused(connection, tasks, "task_key", keys), list(digests)


def _remove_unused(connection: Connection, table: TableClause, column: str, keys: list[int]) -> int:
    unused = _unused(table, [select(user.c[column]).distinct() for user in _USERS])
    return sum(_remove(connection, table, and_(table.c.key.in_(chunk), unused)) for chunk in chunked(keys))


def _remove(connection: Connection, table: TableClause, condition: ColumnElement[bool]) -> int:
    return connection.execute(delete(table).where(condition)).rowcount
