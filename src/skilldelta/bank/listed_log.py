"""Executions of the third arm, in which the harness listed the skill and the model chose: kept beside the pairs, never in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, select

from skilldelta.bank import schema
from skilldelta.bank.batch import describe
from skilldelta.bank.database import Backend
from skilldelta.bank.reading import read_agents, read_versions, skill_keys
from skilldelta.bank.revisions import Panel
from skilldelta.bank.schema import changed_row, chunked, insert_rows, is_intact, next_key
from skilldelta.errors import InputError
from skilldelta.records import LISTED, Agent, Execution

_Key = tuple[int, int, int, int]  # task, agent, skill, repetition
_Content = tuple[float | None, float | None, float | None, float | None, str, int | None]


class Keys(NamedTuple):
    """The keys of the names that executions refer to."""

    agents: Mapping[Agent, int]
    tasks: Mapping[tuple[str, str], int]
    skills: Mapping[tuple[str, str], int]


class AddedListed(NamedTuple):
    """How many executions were new, and the panels that they belong to."""

    number: int
    panels: set[Panel]


def add_listed(
    connection: Connection, backend: Backend, executions: Sequence[Execution], keys: Keys, now: float
) -> AddedListed:
    """Store what is new. The same repetition with another outcome is refused; one without an outcome may be tried again."""
    if not executions:
        return AddedListed(0, set())
    task_keys = {keys.tasks[e.suite, e.task_id] for e in executions if (e.suite, e.task_id) in keys.tasks}
    stored = _stored(connection, sorted(task_keys))
    rows = []
    panels: set[Panel] = set()
    row_key = next_key(connection, schema.listed_executions)
    for e in executions:
        task_key = keys.tasks.get((e.suite, e.task_id))
        if task_key is None:
            raise InputError(
                f"{describe(e)} is about a task that neither the bank nor the batch has; give the task too"
            )
        key = (task_key, keys.agents[e.agent], keys.skills[e.skill_id, e.skill_digest], e.repetition)
        content = _content(e)
        earlier = stored.setdefault(key, [])
        if content in earlier:
            continue
        if content[0] is not None and any(known[0] is not None for known in earlier):
            raise InputError(
                f"{describe(e)} is known with another outcome or other amounts; executions are never changed: import it "
                "under another agent or suite name, or as another repetition"
            )
        rows.append((row_key, key[1], key[0], key[2], e.repetition, len(earlier), *content, now))
        earlier.append(content)
        panels.add((key[1], e.suite))
        row_key += 1
    insert_rows(connection, backend, schema.listed_executions, rows)
    return AddedListed(len(rows), panels)


def read_listed(
    connection: Connection, *, agent: Agent | None = None, suite: str | None = None, skill_id: str | None = None
) -> Iterator[Execution]:
    """Executions in order of arrival; one that was changed since it was stored is refused."""
    table, tasks = schema.listed_executions, schema.tasks
    agents, skills = read_agents(connection), read_versions(connection)
    query = (
        select(*table.c, tasks.c.suite, tasks.c.task_id)
        .select_from(table.join(tasks, table.c.task_key == tasks.c.key))
        .order_by(table.c.key)
    )
    if agent is not None:
        query = query.where(table.c.agent_key.in_([key for key, stored in agents.items() if stored == agent]))
    if suite is not None:
        query = query.where(tasks.c.suite == suite)
    if skill_id is not None:
        query = query.where(table.c.skill_key.in_(skill_keys(skills, skill_id)))
    for row in connection.execute(query):
        *stored, suite_name, task_id = row
        if not is_intact(table.name, stored):
            raise changed_row(f"an execution of task {task_id!r} in suite {suite_name!r}")
        skill = skills[row.skill_key]
        yield Execution(
            agent=agents[row.agent_key],
            suite=suite_name,
            task_id=task_id,
            condition=LISTED,
            repetition=row.repetition,
            success=row.success,
            skill_id=skill.skill_id,
            skill_digest=skill.digest,
            tokens=row.tokens,
            seconds=row.seconds,
            cost_usd=row.cost_usd,
            status=row.status,
            loaded=None if row.loaded is None else bool(row.loaded),
        )


def _stored(connection: Connection, task_keys: Sequence[int]) -> dict[_Key, list[_Content]]:
    """The attempts that the bank has of some tasks, in order of arrival."""
    table = schema.listed_executions
    attempts: dict[_Key, list[_Content]] = {}
    names = ("success", "tokens", "seconds", "cost_usd", "status", "loaded")
    query = select(*table.c["task_key", "agent_key", "skill_key", "repetition"], *table.c[names]).order_by(table.c.key)
    for chunk in chunked(task_keys):
        for task, agent, skill, repetition, *content in connection.execute(query.where(table.c.task_key.in_(chunk))):
            success, tokens, seconds, cost_usd, status, loaded = content
            attempts.setdefault((task, agent, skill, repetition), []).append(
                (success, tokens, seconds, cost_usd, status, loaded)
            )
    return attempts


def _content(e: Execution) -> _Content:
    """What was observed. The success of an execution that was not completed is no observation."""
    success, *amounts = (
        None if value is None else float(value) + 0.0  # SQLite keeps no sign of a zero
        for value in (e.success if e.status == "completed" else None, e.tokens, e.seconds, e.cost_usd)
    )
    tokens, seconds, cost_usd = amounts
    return success, tokens, seconds, cost_usd, e.status, None if e.loaded is None else int(e.loaded)
