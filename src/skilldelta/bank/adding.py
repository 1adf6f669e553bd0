"""A batch into the tables, inside one transaction: what is new is inserted, what is known counts as unchanged.

Executions are append-only facts: the same key with another outcome is refused, and so is a task or a vector that
contradicts the bank. An attempt that ended without an outcome (a transport error, say) does not use up its key: the
repetition can be run again and both attempts are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sqlalchemy import Connection, select

from skilldelta.bank import schema
from skilldelta.bank.batch import Added, Batch, Known, describe
from skilldelta.bank.database import Backend
from skilldelta.bank.defaults import changed_choices, read_choices
from skilldelta.bank.listed_log import Keys, add_listed
from skilldelta.bank.name_tables import Named, SkillName, TaskName, add_agents, add_skills, add_tasks
from skilldelta.bank.reading import executions_query, read_agents, read_versions, skill_keys
from skilldelta.bank.revisions import Panel, move_revisions, panels_with, panels_with_skills
from skilldelta.bank.schema import chunked, insert_rows, next_key, read_counter, write_counter
from skilldelta.bank.vectors import add_vectors
from skilldelta.errors import InputError
from skilldelta.nouns import plural
from skilldelta.records import Agent, Execution

_Key = tuple[int, int, int, str, int]  # task, agent, skill, condition, repetition
_Content = tuple[float | None, float | None, float | None, float | None, str]


def add_batch(connection: Connection, backend: Backend, batch: Batch, now: float) -> Added:
    """Add a checked batch; an InputError leaves it to the caller's transaction to undo everything."""
    choices = read_choices(connection) if _may_change_choices(connection, batch) else None
    agents = add_agents(connection, backend, batch)
    tasks = add_tasks(connection, backend, batch)
    skills = add_skills(connection, backend, batch)
    executions = _add_executions(connection, backend, batch.executions, _Keys(agents, tasks, skills), now)
    listed = add_listed(connection, backend, batch.listed, Keys(agents.keys, tasks.keys, skills.keys), now)
    vectors = add_vectors(connection, backend, batch.vectors)
    added = executions.added + listed.number
    if agents.added or tasks.added or tasks.filled or skills.added or added:
        changed = executions.panels | listed.panels | panels_with_skills(connection, skills.changed)
        if tasks.filled:
            for chunk in chunked(tasks.filled):
                changed |= panels_with(connection, schema.executions.c.task_key.in_(chunk))
            # Who reads on from the last row would miss what changed in earlier ones.
            write_counter(connection, schema.REMOVALS, read_counter(connection, schema.REMOVALS) + 1)
        move_revisions(connection, backend, changed)
    summary = Known(
        tasks.unchanged,
        skills.unchanged,
        len(batch.executions) + len(batch.listed) - added,
        len(batch.vectors) - vectors,
    )
    return Added(
        tasks=tasks.added,
        skills=skills.added,
        agents=agents.added,
        executions=added,
        vectors=vectors,
        unchanged=summary.tasks + summary.skills + summary.executions + summary.vectors,
        known=summary,
        notes=(*_filled_notes(tasks), *(() if choices is None else changed_choices(choices, read_choices(connection)))),
    )


def _filled_notes(tasks: Named[TaskName]) -> list[str]:
    count = plural(len(tasks.filled), "task got", "tasks got")
    return [f"{count} the family or the words that the bank had not"] if tasks.filled else []


def _may_change_choices(connection: Connection, batch: Batch) -> bool:
    """Whether an agent gets its first executions of a skill on a suite, beside what the bank has of other suites."""
    agents = {agent: key for key, agent in read_agents(connection).items()}
    table = schema.panel_revisions
    panels = {(row.agent_key, row.suite) for row in connection.execute(select(table.c.agent_key, table.c.suite))}
    runs = {(id(e.agent), e.suite, e.skill_id): e.agent for e in batch.executions}
    keys = [(agents.get(agent), suite, skill_id) for (_, suite, skill_id), agent in runs.items()]
    if not panels:
        return False
    if any((agent_key, suite) not in panels for agent_key, suite, _ in keys):
        return True
    if len(panels) == 1:
        return False
    query = executions_query(connection).with_only_columns(schema.executions.c.key).limit(1)
    skills = read_versions(connection)
    return any(
        connection.execute(
            query.where(
                schema.executions.c.agent_key == agent_key,
                schema.executions.c.skill_key.in_(skill_keys(skills, skill_id)),
                schema.tasks.c.suite == suite,
            )
        ).first()
        is None
        for agent_key, suite, skill_id in keys
        if skill_id
    )


class _Keys(NamedTuple):
    agents: Named[Agent]
    tasks: Named[TaskName]
    skills: Named[SkillName]


class _NewExecutions(NamedTuple):
    added: int
    panels: set[Panel]


def _add_executions(
    connection: Connection, backend: Backend, executions: Sequence[Execution], keys: _Keys, now: float
) -> _NewExecutions:
    """Insert the executions that the bank lacks."""
    stored, attempts = _known_executions(connection, executions, keys)
    rows = []
    panels: set[Panel] = set()
    row_key = next_key(connection, schema.executions)
    agent_keys = {id(e.agent): keys.agents.keys[e.agent] for e in _one_per_agent(executions)}
    for e in executions:
        task_key = keys.tasks.keys.get((e.suite, e.task_id))
        if task_key is None:
            raise InputError(
                f"{describe(e)} is about a task that neither the bank nor the batch has; give the task too"
            )
        agent_key, skill_key = agent_keys[id(e.agent)], keys.skills.keys[e.skill_id, e.skill_digest]
        key = (task_key, agent_key, skill_key, e.condition, e.repetition)
        content = _content(e)
        earlier = stored.get(key, ())
        if content in earlier:
            continue
        attempt = 0
        if earlier:
            _check_no_contradiction(e, earlier, content)
            attempt = attempts[key] = attempts.get(key, 0) + 1
        stored[key] = (*earlier, content)
        rows.append((row_key, agent_key, task_key, skill_key, e.condition, e.repetition, attempt, *content, now))
        panels.add((agent_key, e.suite))
        row_key += 1
    insert_rows(connection, backend, schema.executions, rows)
    return _NewExecutions(len(rows), panels)


def _one_per_agent(executions: Sequence[Execution]) -> Iterable[Execution]:
    """An execution per agent object: hashing the agent of every execution would cost."""
    return {id(e.agent): e for e in executions}.values()


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
    tasks, agents = keys.tasks, keys.agents
    names = dict.fromkeys((e.suite, e.task_id) for e in executions) if tasks.old else {}
    task_keys = [task for name in names if (task := tasks.keys.get(name)) in tasks.old]
    agent_keys = {agents.keys[e.agent] for e in _one_per_agent(executions)} if task_keys else set()
    table = schema.executions
    query = select(
        *table.c["task_key", "agent_key", "skill_key", "condition", "repetition", "attempt"],
        *table.c["success", "tokens", "seconds", "cost_usd", "status"],
    ).where(table.c.agent_key.in_(agent_keys), table.c.repetition.between(*_range(e.repetition for e in executions)))
    for chunk in chunked(task_keys):
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
    for stored in earlier:
        if stored[0] is not None:
            raise InputError(
                f"{describe(execution)} is known with {_said(stored)} and came again with {_said(content)}; "
                "executions are never changed: import it under another agent or suite name, or as another repetition"
            )


def _said(content: _Content) -> str:
    success, tokens, seconds, cost_usd, status = content
    amounts = {"success": success, "tokens": tokens, "seconds": seconds, "cost_usd": cost_usd}
    return ", ".join([*(f"{name} {value:g}" for name, value in amounts.items() if value is not None), status])
