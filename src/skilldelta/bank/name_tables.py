"""The names of a batch into the tables: agents, tasks and skill versions, and the keys that executions refer to.

What the bank has counts as unchanged; a task that contradicts it is refused.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from sqlalchemy import Connection, select, update

from skilldelta.bank import schema
from skilldelta.bank.batch import Batch, shortened
from skilldelta.bank.database import Backend
from skilldelta.bank.reading import read_agents
from skilldelta.bank.schema import chunked, insert_rows, next_key, row_checksum
from skilldelta.errors import InputError
from skilldelta.records import Agent, Skill, Task, text_digest

TaskName = tuple[str, str]  # suite, task_id
SkillName = tuple[str, str]  # skill_id, digest


@dataclass(slots=True)
class NamedAgents:
    """Agents by key; `added` were new."""

    keys: dict[Agent, int] = field(default_factory=dict)
    added: int = 0


@dataclass(slots=True)
class NamedTasks:
    """The tasks that a batch names, by key."""

    keys: dict[TaskName, int] = field(default_factory=dict)
    old: set[int] = field(default_factory=set)
    """Keys of tasks that were in the bank before, and may have executions."""
    added: int = 0
    unchanged: int = 0


@dataclass(slots=True)
class NamedSkills:
    """Skill versions by key."""

    keys: dict[SkillName, int] = field(default_factory=dict)
    added: int = 0
    unchanged: int = 0


def add_agents(connection: Connection, backend: Backend, batch: Batch) -> NamedAgents:
    """Every agent of the bank and of the batch."""
    agents = NamedAgents(keys={agent: key for key, agent in read_agents(connection).items()})
    named = {id(e.agent): e.agent for e in batch.executions}.values()  # few objects: hashing every one would cost
    new = [agent for agent in dict.fromkeys(named) if agent not in agents.keys]
    if not new:
        return agents
    agents.keys.update((agent, key) for key, agent in enumerate(new, next_key(connection, schema.agents)))
    rows = [(agents.keys[agent], agent.name, agent.fingerprint) for agent in new]
    insert_rows(connection, backend, schema.agents, rows)
    agents.added = len(new)
    return agents


def add_tasks(connection: Connection, backend: Backend, batch: Batch) -> NamedTasks:
    """The tasks of the batch, and those that its executions name."""
    tasks = NamedTasks()
    known = _known_tasks(connection, batch)
    tasks.keys = {name: key for name, (key, _) in known.items()}
    tasks.old = set(tasks.keys.values())
    contents = {name: task for name, (_, task) in known.items()}
    rows = []
    key = next_key(connection, schema.tasks) if batch.tasks else 0
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
    insert_rows(connection, backend, schema.tasks, rows)
    tasks.added = len(rows)
    return tasks


def _known_tasks(connection: Connection, batch: Batch) -> dict[TaskName, tuple[int, Task]]:
    """The bank's own rows of the tasks that a batch names."""
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for task in batch.tasks:
        names[task.suite][task.task_id] = None
    for execution in batch.executions:
        names[execution.suite][execution.task_id] = None
    table = schema.tasks
    known: dict[TaskName, tuple[int, Task]] = {}
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
                f"task {came.task_id!r} of suite {came.suite!r} is known with {field_name} {shortened(old)} and came "
                f"again with {shortened(new)}; give it another id, or import it under another suite name"
            )


def add_skills(connection: Connection, backend: Backend, batch: Batch) -> NamedSkills:
    """Every skill version of the bank and of the batch; a text that was missing is filled in."""
    table = schema.skills
    skills = NamedSkills()
    textless: set[SkillName] = set()
    for key, skill_id, digest, has_text in connection.execute(
        select(table.c.key, table.c.skill_id, table.c.digest, table.c.text != "")
    ):
        skills.keys[skill_id, digest] = key
        if not has_text:
            textless.add((skill_id, digest))
    versions = {skill_id for skill_id, _ in skills.keys}
    rows: dict[SkillName, Skill] = {}
    for skill in batch.skills:
        digest = text_digest(skill.text) if skill.text else skill.digest
        name = (skill.skill_id, digest)
        if name in textless and skill.text:
            row = (skills.keys[name], *name, skill.text)
            changed = update(table).where(table.c.key == skills.keys[name])
            connection.execute(changed.values(text=skill.text, checksum=row_checksum(row)))
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
    if not rows:
        return skills
    skills.keys.update((name, key) for key, name in enumerate(rows, next_key(connection, table)))
    listed = [(skills.keys[name], skill.skill_id, skill.digest, skill.text) for name, skill in rows.items()]
    insert_rows(connection, backend, table, listed)
    # Executions without a version need a row too, but it is no skill beside one that is known by its version.
    versioned = {skill_id for skill_id, digest in skills.keys if digest}
    skills.added += sum(1 for skill_id, digest in rows if skill_id and (digest or skill_id not in versioned))
    return skills
