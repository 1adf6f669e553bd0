"""The names of a batch into the tables: agents, tasks and skill versions, and the keys that executions refer to.

What the bank has counts as unchanged; a task that contradicts it is refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from sqlalchemy import Connection, select, update

from skilldelta.bank import schema
from skilldelta.bank.batch import Batch, shortened
from skilldelta.bank.database import Backend
from skilldelta.bank.reading import read_agents, read_stored_tasks
from skilldelta.bank.schema import chunked, insert_rows, next_key, row_checksum
from skilldelta.errors import InputError
from skilldelta.records import Agent, Skill, Task, text_digest
from skilldelta.skill_folder import folder_digest

TaskName = tuple[str, str]  # suite, task_id
SkillName = tuple[str, str]  # skill_id, digest
Name = TypeVar("Name")


@dataclass(frozen=True, slots=True)
class Named(Generic[Name]):
    """The names of one kind, by key."""

    keys: Mapping[Name, int]
    added: int = 0
    unchanged: int = 0
    """Records of the batch that the bank had already, or that came twice."""
    old: frozenset[int] = frozenset()
    """Keys of tasks that were in the bank before, and may have executions."""
    filled: tuple[int, ...] = ()
    """Keys of tasks that were in the bank without a family or without words, and got them."""
    changed: frozenset[str] = frozenset()
    """Skills of which the bank knew a version, and got another or the text of one."""


def add_agents(connection: Connection, backend: Backend, batch: Batch) -> Named[Agent]:
    """Every agent of the bank and of the batch."""
    keys = {agent: key for key, agent in read_agents(connection).items()}
    agents_of_batch = {id(e.agent): e.agent for e in batch.runs}.values()  # few objects: hashing every one would cost
    new = [agent for agent in dict.fromkeys(agents_of_batch) if agent not in keys]
    if new:
        keys.update((agent, key) for key, agent in enumerate(new, next_key(connection, schema.agents)))
        rows = [(keys[agent], agent.name, agent.fingerprint) for agent in new]
        insert_rows(connection, backend, schema.agents, rows)
    return Named(keys, len(new))


def add_tasks(connection: Connection, backend: Backend, batch: Batch) -> Named[TaskName]:
    """The tasks of the batch, and those that its executions name."""
    stored = _known_tasks(connection, batch)
    keys = {name: key for name, (key, _) in stored.items()}
    old = frozenset(keys.values())
    contents = {name: task for name, (_, task) in stored.items()}
    rows = []
    filled: dict[int, Task] = {}
    key = next_key(connection, schema.tasks) if batch.tasks else 0
    for task in batch.tasks:
        name = (task.suite, task.task_id)
        if name in contents:
            whole = _completed(contents[name], task)
            _check_same_task(whole, task)
            if whole != contents[name] and name in stored:
                filled[keys[name]] = contents[name] = whole
            continue
        contents[name] = task
        keys[name] = key
        digest = bytes.fromhex(text_digest(task.text))
        rows.append((key, task.suite, task.task_id, task.family, task.text, digest))
        key += 1
    insert_rows(connection, backend, schema.tasks, rows)
    for key, task in filled.items():
        row = (key, task.suite, task.task_id, task.family, task.text, bytes.fromhex(text_digest(task.text)))
        values = {"family": task.family, "text": task.text, "text_digest": row[5], "checksum": row_checksum(row)}
        connection.execute(update(schema.tasks).where(schema.tasks.c.key == key).values(values))
    return Named(keys, len(rows), len(batch.tasks) - len(rows) - len(filled), old, tuple(filled))


def _completed(stored: Task, came: Task) -> Task:
    """A task of the bank with the family and the words that it lacked; its id stands in for words that nobody had."""
    text = came.text if stored.text == stored.task_id else stored.text
    return replace(stored, text=text, family=stored.family or came.family)


def _known_tasks(connection: Connection, batch: Batch) -> dict[TaskName, tuple[int, Task]]:
    """The bank's own rows of the tasks that a batch names."""
    names: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for task in batch.tasks:
        names[task.suite][task.task_id] = None
    for execution in batch.runs:
        names[execution.suite][execution.task_id] = None
    table = schema.tasks
    stored: dict[TaskName, tuple[int, Task]] = {}
    if connection.execute(select(table.c.key).limit(1)).first() is None:
        return stored
    for suite, task_ids in names.items():
        for chunk in chunked(list(task_ids)):
            for row in read_stored_tasks(connection, table.c.suite == suite, table.c.task_id.in_(chunk)):
                stored[suite, row.task_id] = (row.key, Task(row.task_id, row.text, row.family, suite))
    return stored


def _check_same_task(stored: Task, came: Task) -> None:
    """A task that came without a family, or with its id for words, says nothing about them; everything else must agree."""
    for field_name in ("text", "family"):
        old, new = getattr(stored, field_name), getattr(came, field_name)
        if old != new and (new != came.task_id if field_name == "text" else new):
            raise InputError(
                f"task {came.task_id!r} of suite {came.suite!r} is known with {field_name} {shortened(old)} and came "
                f"again with {shortened(new)}; give it another id, or import it under another suite name"
            )


def add_skills(connection: Connection, backend: Backend, batch: Batch) -> Named[SkillName]:
    """Every skill version of the bank and of the batch; a text that was missing is filled in."""
    table = schema.skills
    query = select(table.c.key, table.c.skill_id, table.c.digest, table.c.text != "")
    keys: dict[SkillName, int] = {}
    textless: set[SkillName] = set()
    for key, skill_id, digest, has_text in connection.execute(query):
        keys[skill_id, digest] = key
        if not has_text:
            textless.add((skill_id, digest))
    texts_of_folders = _names_by_text(connection)
    keys.update({name: key for name, key in texts_of_folders.items() if name not in keys})
    versions = {skill_id for skill_id, _ in keys}
    before = frozenset(versions)
    changed: set[str] = set()
    rows: dict[SkillName, Skill] = {}
    files: dict[SkillName, Skill] = {}
    filled = unchanged = 0
    for skill in batch.skills:
        digest = folder_digest(text_digest(skill.text), skill.files) if skill.text else skill.digest
        name = (skill.skill_id, digest)
        of_text = (skill.skill_id, text_digest(skill.text))
        if skill.files and skill.text and name not in keys and of_text in keys and of_text not in texts_of_folders:
            # The version was known by its text alone: its runs are runs of this folder, the first known with that text.
            key = keys[name] = texts_of_folders[of_text] = keys[of_text]
            row = (key, *name, skill.text)
            values = {"digest": digest, "text": skill.text, "checksum": row_checksum(row)}
            connection.execute(update(table).where(table.c.key == key).values(values))
            files[name] = skill
            textless.discard(of_text)
            changed.add(skill.skill_id)
            filled += 1
        elif name in textless and skill.text:
            row = (keys[name], *name, skill.text)
            values = {"text": skill.text, "checksum": row_checksum(row)}
            connection.execute(update(table).where(table.c.key == keys[name]).values(values))
            textless.discard(name)
            if skill.files:
                files[name] = skill
            changed.add(skill.skill_id)
            filled += 1
        elif name in keys or name in rows or (not digest and skill.skill_id in versions):
            unchanged += 1
        else:
            rows[name] = Skill(skill.skill_id, skill.text, digest)
            if skill.files:
                files[name] = skill
            versions.add(skill.skill_id)
    for name in dict.fromkeys((e.skill_id, e.skill_digest) for e in batch.runs):
        if name not in keys and name not in rows:
            rows[name] = Skill(name[0], "", name[1])
    if rows:
        keys.update((name, key) for key, name in enumerate(rows, next_key(connection, table)))
        listed = [(keys[name], skill.skill_id, skill.digest, skill.text) for name, skill in rows.items()]
        insert_rows(connection, backend, table, listed)
    beside = [(keys[name], skill.files, skill.sketch) for name, skill in files.items()]
    insert_rows(connection, backend, schema.skill_files, beside)
    # Executions without a version need a row too, but it is no skill beside one that is known by its version.
    versioned = {skill_id for skill_id, digest in keys if digest}
    new = sum(1 for skill_id, digest in rows if skill_id and (digest or skill_id not in versioned))
    changed.update(skill_id for skill_id, _ in rows)
    return Named(keys, filled + new, unchanged, changed=before & changed)


def _names_by_text(connection: Connection) -> dict[SkillName, int]:
    """The folders of the bank under the digests of their texts, the first of each text: runs may name them so."""
    skills, files = schema.skills, schema.skill_files
    query = select(*skills.c["key", "skill_id", "text"]).join(files, files.c.skill_key == skills.c.key)
    names: dict[SkillName, int] = {}
    for key, skill_id, text in connection.execute(query.order_by(skills.c.key)):
        if text:
            names.setdefault((skill_id, text_digest(text)), key)
    return names
