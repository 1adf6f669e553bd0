"""A batch into the tables, inside one transaction: what is new is inserted, what is known counts as unchanged.

Executions are append-only facts: the same key with another outcome is refused, and so is a task or a vector that
contradicts the bank. An attempt that ended without an outcome (a transport error, say) does not use up its key: the
repetition can be run again and both attempts are kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, select, update

from skilldelta.bank import schema
from skilldelta.bank.backend import Backend
from skilldelta.bank.batch import Added, Batch
from skilldelta.bank.lookup import bump, chunked, next_key
from skilldelta.bank.reading import read_agents
from skilldelta.bank.validation import describe, shortened
from skilldelta.bank.vectors import add_vectors
from skilldelta.errors import InputError
from skilldelta.records import Agent, Execution, Skill, Task, text_digest

_TaskName = tuple[str, str]  # suite, task_id
_SkillName = tuple[str, str]  # skill_id, digest
_Key = tuple[int, int, int, str, int]  # task, agent, skill, condition, repetition
_Content = tuple[float | None, float | None, float | None, float | None, str]

_EXECUTION_COLUMNS = tuple(column.name for column in schema.executions.c)


def add_batch(connection: Connection, backend: Backend, batch: Batch, now: float) -> Added:
    """Add a checked batch; an InputError leaves it to the caller's transaction to undo everything."""
    agents = _add_agents(connection, backend, batch.executions)
    tasks = _add_tasks(connection, backend, batch)
    skills = _add_skills(connection, backend, batch)
    executions = _add_executions(connection, backend, batch.executions, _Keys(agents.keys, tasks, skills.keys), now)
    vectors = add_vectors(connection, backend, batch.vectors)
    if agents.added or tasks.added or skills.added or executions.added:
        bump(connection, schema.REVISION)
    return Added(
        tasks=tasks.added,
        skills=skills.added,
        agents=agents.added,
        executions=executions.added,
        vectors=vectors.added,
        unchanged=tasks.unchanged + skills.unchanged + executions.unchanged + vectors.unchanged,
    )


@dataclass(slots=True)
class _Count:
    added: int = 0
    unchanged: int = 0


@dataclass(slots=True)
class _Agents(_Count):
    keys: dict[Agent, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Tasks(_Count):
    keys: dict[_TaskName, int] = field(default_factory=dict)
    old: set[int] = field(default_factory=set)
    """Keys of tasks that were in the bank before, and may have executions."""


@dataclass(slots=True)
class _Skills(_Count):
    keys: dict[_SkillName, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Keys:
    agents: Mapping[Agent, int]
    tasks: _Tasks
    skills: Mapping[_SkillName, int]


def _add_agents(connection: Connection, backend: Backend, executions: Iterable[Execution]) -> _Agents:
    agents = _Agents(keys={agent: key for key, agent in read_agents(connection).items()})
    named = {id(e.agent): e.agent for e in executions}.values()  # few objects: hashing every one would cost
    new = [agent for agent in dict.fromkeys(named) if agent not in agents.keys]
    if not new:
        return agents
    agents.keys.update((agent, key) for key, agent in enumerate(new, next_key(connection, schema.agents)))
    rows = [(agents.keys[agent], agent.name, agent.fingerprint) for agent in new]
    backend.insert_many(connection, schema.agents, ("key", "name", "fingerprint"), rows)
    agents.added = len(new)
    return agents


def _add_tasks(connection: Connection, backend: Backend, batch: Batch) -> _Tasks:
    tasks = _Tasks()
    known = _known_tasks(connection, batch)
    tasks.keys = {name: key for name, (key, _) in known.items()}
    tasks.old = set(tasks.keys.values())
    contents = {name: task for name, (_, task) in known.items()}
    rows = []
    key = next_key(connection, schema.tasks)
    for task in batch.tasks:
        name = (task.suite, task.task_id)
        if name in contents:
            _check_same_task(contents[name], task)
            tasks.unchanged += 1
            continue
        contents[name] = task
        tasks.keys[name] = key
        digest = bytes.fromhex(text_digest(task.text))
        rows.append((key, task.suite, task.task_id, task.family, task.text, digest))
        key += 1
    columns = ("key", "suite", "task_id", "family", "text", "text_digest")
    backend.insert_many(connection, schema.tasks, columns, rows)
    tasks.added = len(rows)
    return tasks


def _known_tasks(connection: Connection, batch: Batch) -> dict[_TaskName, tuple[int, Task]]:
    """The bank's own rows of the tasks that a batch names."""
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for task in batch.tasks:
        names[task.suite][task.task_id] = None
    for execution in batch.executions:
        names[execution.suite][execution.task_id] = None
    table = schema.tasks
    known: dict[_TaskName, tuple[int, Task]] = {}
    if connection.execute(select(table.c.key).limit(1)).first() is None:
        return known
    for suite, task_ids in names.items():
        query = select(*table.c["key", "task_id", "text", "family"]).where(table.c.suite == suite)
        for chunk in chunked(list(task_ids)):
            for key, task_id, text, family in connection.execute(query.where(table.c.task_id.in_(chunk))):
                known[suite, task_id] = (key, Task(task_id, text, family, suite))
    return known


def _check_same_task(known: Task, came: Task) -> None:
    """A task that came without a family says nothing about it; everything else must agree."""
    for field_name in ("text", "family"):
        old, new = getattr(known, field_name), getattr(came, field_name)
        if old != new and (new or field_name == "text"):
            raise InputError(
                f"task {came.task_id!r} of suite {came.suite!r} is in the bank with {field_name} {shortened(old)} and came "
                f"again with {shortened(new)}; give it another id, or import it under another suite name"
            )


def _add_skills(connection: Connection, backend: Backend, batch: Batch) -> _Skills:
    table = schema.skills
    skills = _Skills()
    textless: set[_SkillName] = set()
    for key, skill_id, digest, has_text in connection.execute(
        select(table.c.key, table.c.skill_id, table.c.digest, table.c.text != "")
    ):
        skills.keys[skill_id, digest] = key
        if not has_text:
            textless.add((skill_id, digest))
    versions = {skill_id for skill_id, _ in skills.keys}
    rows: dict[_SkillName, Skill] = {}
    for skill in batch.skills:
        digest = text_digest(skill.text) if skill.text else skill.digest
        name = (skill.skill_id, digest)
        if name in textless and skill.text:
            connection.execute(update(table).where(table.c.key == skills.keys[name]).values(text=skill.text))
            textless.discard(name)
            skills.added += 1
        elif name in skills.keys or name in rows or (not digest and skill.skill_id in versions):
            skills.unchanged += 1
        else:
            rows[name] = Skill(skill.skill_id, skill.text, digest)
            versions.add(skill.skill_id)
    for name in dict.fromkeys((e.skill_id, e.skill_digest) for e in batch.executions):
        if name not in skills.keys and name not in rows:
            rows[name] = Skill(name[0], "", name[1])
    skills.keys.update((name, key) for key, name in enumerate(rows, next_key(connection, table)))
    listed = [(skills.keys[name], skill.skill_id, skill.digest, skill.text) for name, skill in rows.items()]
    backend.insert_many(connection, table, ("key", "skill_id", "digest", "text"), listed)
    # Executions without a version need a row too, but it is no skill beside one that is known by its version.
    skills.added += sum(1 for skill_id, digest in rows if skill_id and (digest or skill_id not in versions))
    return skills


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
    backend.insert_many(connection, schema.executions, _EXECUTION_COLUMNS, rows)
    count.added = len(rows)
    return count


def _content(e: Execution) -> _Content:
    """What was observed. The success of an execution that was not completed is no observation and stays unknown."""
    success = None if e.success is None or e.status != "completed" else float(e.success)
    tokens, seconds, cost_usd = e.tokens, e.seconds, e.cost_usd
    return (
        success,
        tokens if tokens is None else float(tokens),
        seconds if seconds is None else float(seconds),
        cost_usd if cost_usd is None else float(cost_usd),
        e.status,
    )


def _known_executions(
    connection: Connection, executions: Iterable[Execution], keys: _Keys
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
    ).where(table.c.agent_key.in_(agents))
    for chunk in chunked(asked):
        for task, agent, skill, condition, repetition, attempt, *content in connection.execute(
            query.where(table.c.task_key.in_(chunk)).order_by(table.c.key)
        ):
            key = (task, agent, skill, condition, repetition)
            success, tokens, seconds, cost_usd, status = content
            contents[key] = (*contents.get(key, ()), (success, tokens, seconds, cost_usd, status))
            attempts[key] = max(attempt, attempts.get(key, 0))
    return contents, attempts


def _check_no_contradiction(execution: Execution, earlier: Sequence[_Content], content: _Content) -> None:
    if content[0] is None:
        return
    for known in earlier:
        if known[0] is not None:
            raise InputError(
                f"{describe(execution)} is in the bank with {_said(known)} and came again with {_said(content)}; "
                "executions are never changed: import it under another agent or suite name, or as another repetition"
            )


def _said(content: _Content) -> str:
    success, tokens, seconds, cost_usd, status = content
    named = {"success": success, "tokens": tokens, "seconds": seconds, "cost_usd": cost_usd}
    return ", ".join([*(f"{name} {value:g}" for name, value in named.items() if value is not None), status])
