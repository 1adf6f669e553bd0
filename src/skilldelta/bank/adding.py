"""A batch into the tables, inside one transaction: what is new is inserted, what is known counts as unchanged.

Executions are append-only facts: the same key with another outcome is refused, and so is a task or a vector that
contradicts the bank. An attempt that ended without an outcome (a transport error, say) does not use up its key: the
repetition can be run again and both attempts are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from skilldelta.bank import schema
from skilldelta.bank.batch import Added, Batch, Known, describe
from skilldelta.bank.database import Backend
from skilldelta.bank.name_tables import NamedTasks, SkillName, add_agents, add_skills, add_tasks
from skilldelta.bank.schema import bump, chunked, insert_rows, next_key
from skilldelta.bank.vectors import add_vectors
from skilldelta.errors import InputError
from skilldelta.records import Agent, Execution

_Key = tuple[int, int, int, str, int]  # task, agent, skill, condition, repetition
_Content = tuple[float | None, float | None, float | None, float | None, str]


def add_batch(connection: Connection, backend: Backend, batch: Batch, now: float) -> Added:
    """Add a checked batch; an InputError leaves it to the caller's transaction to undo everything."""
    agents = add_agents(connection, backend, batch)
    tasks = add_tasks(connection, backend, batch)
    skills = add_skills(connection, backend, batch)
    executions = _add_executions(connection, backend, batch.executions, _Keys(agents.keys, tasks, skills.keys), now)
    vectors = add_vectors(connection, backend, batch.vectors)
    if agents.added or tasks.added or skills.added or executions.added:
        bump(connection, schema.REVISION)
    known = Known(tasks.unchanged, skills.unchanged, executions.unchanged, vectors.unchanged)
    return Added(
        tasks=tasks.added,
        skills=skills.added,
        agents=agents.added,
        executions=executions.added,
        vectors=vectors.added,
        unchanged=known.tasks + known.skills + known.executions + known.vectors,
        known=known,
    )


@dataclass(slots=True)
class _Count:
    added: int = 0
    unchanged: int = 0


@dataclass(frozen=True, slots=True)
class _Keys:
    agents: Mapping[Agent, int]
    tasks: NamedTasks
    skills: Mapping[SkillName, int]


def _add_executions(
    connection: Connection, backend: Backend, executions: Sequence[Execution], keys: _Keys, now: float
) -> _Count:
    count = _Count()
    known, attempts = _known_executions(connection, executions, keys)
    rows = []
    row_key = next_key(connection, schema.executions)
    agent_keys = {id(e.agent): keys.agents[e.agent] for e in {id(e.agent): e for e in executions}.values()}
    for e in executions:
        task_key = keys.tasks.keys.get((e.suite, e.task_id))
        if task_key is None:
            raise InputError(
                f"{describe(e)} is about a task that neither the bank nor the batch has; give the task too"
            )
        agent_key, skill_key = agent_keys[id(e.agent)], keys.skills[e.skill_id, e.skill_digest]
        key = (task_key, agent_key, skill_key, e.condition, e.repetition)
        content = _content(e)
        earlier = known.get(key)
        attempt = 0
        if earlier is None:
            known[key] = (content,)
        elif content in earlier:
            count.unchanged += 1
            continue
        else:
            _check_no_contradiction(e, earlier, content)
            known[key] = (*earlier, content)
            attempt = attempts[key] = attempts.get(key, 0) + 1
        rows.append((row_key, agent_key, task_key, skill_key, e.condition, e.repetition, attempt, *content, now))
        row_key += 1
    insert_rows(connection, backend, schema.executions, rows)
    count.added = len(rows)
    return count


def _content(e: Execution) -> _Content:
    """What was observed. The success of an execution that was not completed is no observation and stays unknown."""
    success = e.success if e.status == "completed" else None
    return (_stored(success), _stored(e.tokens), _stored(e.seconds), _stored(e.cost_usd), e.status)


def _stored(value: float | None) -> float | None:
    """A number as it comes back: SQLite keeps no sign of a zero."""
    return None if value is None else float(value) + 0.0


def _known_executions(
    connection: Connection, executions: Sequence[Execution], keys: _Keys
) -> tuple[dict[_Key, tuple[_Content, ...]], dict[_Key, int]]:
    """Contents and last attempts of the executions that the bank has for the same tasks."""
    contents: dict[_Key, tuple[_Content, ...]] = {}
    attempts: dict[_Key, int] = {}
    names = dict.fromkeys((e.suite, e.task_id) for e in executions) if keys.tasks.old else {}
    asked = [task for name in names if (task := keys.tasks.keys.get(name)) in keys.tasks.old]
    agents = {keys.agents[e.agent] for e in {id(e.agent): e for e in executions}.values()} if asked else set()
    table = schema.executions
    query = select(
        *table.c["task_key", "agent_key", "skill_key", "condition", "repetition", "attempt"],
        *table.c["success", "tokens", "seconds", "cost_usd", "status"],
    ).where(table.c.agent_key.in_(agents), table.c.repetition.between(*_range(e.repetition for e in executions)))
    for chunk in chunked(asked):
        for task, agent, skill, condition, repetition, attempt, *content in connection.execute(
            query.where(table.c.task_key.in_(chunk)).order_by(table.c.key)
        ):
            key = (task, agent, skill, condition, repetition)
            success, tokens, seconds, cost_usd, status = content
            contents[key] = (*contents.get(key, ()), (success, tokens, seconds, cost_usd, status))
            attempts[key] = max(attempt, attempts.get(key, 0))
    return contents, attempts


def _range(repetitions: Iterable[int]) -> tuple[int, int]:
    listed = set(repetitions) or {0}
    return min(listed), max(listed)


def _check_no_contradiction(execution: Execution, earlier: Sequence[_Content], content: _Content) -> None:
    if content[0] is None:
        return
    for known in earlier:
        if known[0] is not None:
            raise InputError(
                f"{describe(execution)} is known with {_said(known)} and came again with {_said(content)}; "
                "executions are never changed: import it under another agent or suite name, or as another repetition"
            )


def _said(content: _Content) -> str:
    success, tokens, seconds, cost_usd, status = content
    named = {"success": success, "tokens": tokens, "seconds": seconds, "cost_usd": cost_usd}
    return ", ".join([*(f"{name} {value:g}" for name, value in named.items() if value is not None), status])
