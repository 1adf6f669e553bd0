"""Rows back into records: agents, skills, suites, tasks, executions, in order of arrival; and the one that a name means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, Connection, Row, Select, TableClause, func, select

from skilldelta.bank import schema
from skilldelta.bank.schema import (
    UNCHECKED,
    changed_row,
    chunked,
    execution_checksum,
    is_intact,
    read_counter,
    task_checksum,
)
from skilldelta.errors import InputError, shown, unknown_name
from skilldelta.records import Agent, Execution, Skill, Task, bundle_name
from skilldelta.skill_folder import NO_FILES, FolderFiles

T = TypeVar("T")

_ROWS_AT_ONCE = 10_000


class StoredTask(NamedTuple):
    """A row of the tasks; keys grow with arrival."""

    key: int
    suite: str
    task_id: str
    family: str
    text: str


class StoredExecution(NamedTuple):
    """An execution with its key, which grows with arrival, and its task, whose text is left out."""

    key: int
    execution: Execution
    task: StoredTask


def read_agents(connection: Connection) -> dict[int, Agent]:
    """Every agent by key."""
    table = schema.agents
    rows = _intact_rows(connection, table, select(*table.c).order_by(table.c.key))
    return _ByKey("agent", {row.key: Agent(row.name, row.fingerprint) for row in rows})


def read_skills(connection: Connection) -> list[Skill]:
    """Every version of every skill."""
    table = schema.skills
    query = select(*table.c).where(table.c.skill_id != schema.SHARED_SKILL).order_by(table.c.key)
    beside = read_skill_files(connection)
    return [
        Skill(row.skill_id, row.text, row.digest, *beside.get(row.key, NO_FILES))
        for row in _intact_rows(connection, table, query)
    ]


def read_skill_files(connection: Connection) -> dict[int, FolderFiles]:
    """What belongs to skill versions besides their texts, by the version's key."""
    table = schema.skill_files
    rows = _intact_rows(connection, table, select(*table.c))
    return {row.skill_key: FolderFiles(row.files, row.sketch) for row in rows}


def read_versions(connection: Connection) -> dict[int, Skill]:
    """Skill versions by key without their texts, the nameless skill of shared baselines among them."""
    table = schema.skills
    rows = _intact_rows(connection, table, select(*table.c).order_by(table.c.key))
    return _ByKey("skill", {row.key: Skill(row.skill_id, "", row.digest) for row in rows})


class _ByKey(dict[int, T]):
    """Records by key. A key that is referred to and not there is damage."""

    def __init__(self, kind: str, records: Mapping[int, T]) -> None:
        super().__init__(records)
        self._kind = kind

    def __missing__(self, key: int) -> T:
        raise changed_row(f"the {self._kind} with the key {key}")


def _intact_rows(connection: Connection, table: TableClause, query: Select[*tuple[Any, ...]]) -> Iterator[Row[Any]]:
    """Whole rows of a table of names; one that was changed since it was stored is refused."""
    for row in connection.execute(query):
        if not is_intact(table.name, row):
            raise changed_row(f"the row {row.key} of {table.name}")
        yield row


def read_stored_tasks(connection: Connection, *conditions: ColumnElement[bool]) -> Iterator[StoredTask]:
    """Tasks in order of arrival that fit every condition; one that was changed since it was stored is refused."""
    table = schema.tasks
    query = select(*table.c).where(*conditions).order_by(table.c.key).execution_options(yield_per=_ROWS_AT_ONCE)
    for row in connection.execute(query):
        key, suite, task_id, family, text, text_digest, checksum = row
        if checksum != task_checksum((key, suite, task_id, family, text, text_digest)) and checksum != UNCHECKED:
            raise changed_row(f"the task {shown(task_id)} of suite {shown(suite)}")
        yield StoredTask(key, suite, task_id, family, text)


@dataclass(frozen=True, slots=True)
class Arrivals:
    """What came after an execution: the key of the last one, how often evidence was removed, and the panels that grew."""

    last_execution: int
    removals: int
    panels: frozenset[tuple[Agent, str]]


def read_suites(connection: Connection) -> list[str]:
    """Suites by the arrival of their first task."""
    tasks = schema.tasks
    query = select(tasks.c.suite).group_by(tasks.c.suite).order_by(func.min(tasks.c.key))
    return list(connection.execute(query).scalars())


def read_arrivals(connection: Connection, after: int) -> Arrivals:
    """Which panels have gained executions after one, by its key."""
    table = schema.executions
    query = executions_query(connection).with_only_columns(table.c.agent_key, schema.tasks.c.suite).distinct()
    query = query.with_hint(table, "NOT INDEXED", "sqlite")  # the new rows are few and stand at the end
    agents = read_agents(connection)
    return Arrivals(
        int(connection.execute(select(func.max(table.c.key))).scalar() or 0),
        read_counter(connection, schema.REMOVALS),
        frozenset((agents[key], suite) for key, suite in connection.execute(query.where(table.c.key > after))),
    )


def read_suites_of(connection: Connection, agent: Agent, skill_id: str | None = None) -> list[str]:
    """Suites on which an agent was run, with a skill or at all, by the arrival of their first task."""
    tasks = schema.tasks
    query = executions_query(connection, agent=agent, skill_id=skill_id).with_only_columns(tasks.c.suite)
    return list(connection.execute(query.group_by(tasks.c.suite).order_by(func.min(tasks.c.key))).scalars())


def executions_by_panel(connection: Connection) -> Counter[tuple[Agent, str]]:
    """How many executions each agent has on each suite, counted or not; agents in order of arrival, then suites."""
    table, tasks = schema.executions, schema.tasks
    agents = read_agents(connection)
    by = (table.c.agent_key, tasks.c.suite)
    query = executions_query(connection).with_only_columns(*by, func.count()).group_by(*by)
    rows = connection.execute(query.order_by(table.c.agent_key, func.min(tasks.c.key)))
    return Counter({(agents[key], suite): count for key, suite, count in rows})


def has_more_executions(connection: Connection, number: int, agent: Agent, suite: str | None) -> bool:
    """Whether an agent has more executions, on a suite or on all; counts no further than that."""
    query = executions_query(connection, agent=agent, suite=suite).with_only_columns(schema.executions.c.key)
    some = query.limit(number + 1).subquery()
    return int(connection.execute(select(func.count()).select_from(some)).scalar_one()) > number


def read_tasks(connection: Connection, suite: str | None = None, task_id: str | None = None) -> list[Task]:
    """Tasks in order of arrival."""
    table = schema.tasks
    chosen = ((table.c.suite, suite), (table.c.task_id, task_id))
    rows = read_stored_tasks(connection, *(column == value for column, value in chosen if value is not None))
    return [Task(row.task_id, row.text, row.family, row.suite) for row in rows]


def read_tasks_by_digest(connection: Connection, digests: Iterable[str]) -> dict[str, str]:
    """The ids of the tasks whose texts have these digests, by digest; the first one where several have the same text."""
    table = schema.tasks
    query = select(*table.c["text_digest", "task_id"]).order_by(table.c.key)
    ids: dict[str, str] = {}
    for chunk in chunked([bytes.fromhex(digest) for digest in dict.fromkeys(digests) if _is_digest(digest)]):
        for digest, task_id in connection.execute(query.where(table.c.text_digest.in_(chunk))):
            ids.setdefault(bytes(digest).hex(), task_id)
    return ids


def _is_digest(text: str) -> bool:
    return len(text) == 64 and all(character in "0123456789abcdef" for character in text)


def read_texts(connection: Connection, task_keys: Iterable[int]) -> dict[int, str]:
    """The texts of some tasks, by key."""
    keys = schema.tasks.c.key
    chunks = chunked(list(dict.fromkeys(task_keys)))
    return {row.key: row.text for chunk in chunks for row in read_stored_tasks(connection, keys.in_(chunk))}


def executions_query(
    connection: Connection,
    *,
    agent: Agent | None = None,
    suite: str | None = None,
    skill_id: str | None = None,
    family: str | None = None,
    task_id: str | None = None,
) -> Select[*tuple[Any, ...]]:
    """The executions that fit every filter; those of a skill include no baseline that is shared by all skills."""
    table, tasks = schema.executions, schema.tasks
    query = select(*table.c).select_from(table.join(tasks, table.c.task_key == tasks.c.key))
    if agent is not None:
        keys = [key for key, known_agent in read_agents(connection).items() if known_agent == agent]
        query = query.where(table.c.agent_key.in_(keys))
    if skill_id is not None:
        query = query.where(table.c.skill_key.in_(skill_keys(read_versions(connection), skill_id)))
    for column, value in ((tasks.c.suite, suite), (tasks.c.family, family), (tasks.c.task_id, task_id)):
        if value is not None:
            query = query.where(column == value)
    return query


def skill_keys(skills: Mapping[int, Skill], skill_id: str) -> list[int]:
    """The keys of every version of a skill."""
    return [key for key, skill in skills.items() if skill.skill_id == skill_id]


def read_executions(connection: Connection, query: Select[*tuple[Any, ...]]) -> Iterator[StoredExecution]:
    """The records of an `executions_query`, as they come; one that was changed since it was stored is refused."""
    agents, skills = read_agents(connection), read_versions(connection)
    tasks: dict[int, StoredTask] = {}
    result = connection.execute(query.execution_options(yield_per=_ROWS_AT_ONCE))
    for rows in result.partitions():
        missing = sorted({row.task_key for row in rows} - tasks.keys())
        for chunk in chunked(missing):
            for task in read_stored_tasks(connection, schema.tasks.c.key.in_(chunk)):
                tasks[task.key] = task._replace(text="")
        for row in rows:
            *stored, checksum = row
            task = tasks[row.task_key]
            if execution_checksum(stored) != checksum and checksum != UNCHECKED:
                raise changed_row(f"an execution of task {task.task_id!r} in suite {task.suite!r}")
            version = skills[row.skill_key]
            execution = Execution(
                agent=agents[row.agent_key],
                suite=task.suite,
                task_id=task.task_id,
                condition=row.condition,
                repetition=row.repetition,
                success=row.success,
                skill_id=version.skill_id,
                skill_digest=version.digest,
                tokens=row.tokens,
                seconds=row.seconds,
                cost_usd=row.cost_usd,
                status=row.status,
            )
            yield StoredExecution(row.key, execution, task)


def read_runs(
    connection: Connection, *, agent: Agent | None = None, suite: str | None = None, family: str | None = None
) -> Iterator[tuple[Execution, Task]]:
    """Executions in order of arrival, each with its task."""
    tasks = {(task.suite, task.task_id): task for task in read_tasks(connection, suite)}
    query = executions_query(connection, agent=agent, suite=suite, family=family)
    for stored in read_executions(connection, query.order_by(schema.executions.c.key)):
        yield stored.execution, tasks[stored.task.suite, stored.task.task_id]


def chosen_agent(agents: Sequence[Agent], name: str | None, *, default: Agent | None = None) -> Agent:
    """The agent called `name` or `name@fingerprint-prefix`; a doubtful name is refused.

    None is the default one, or the first. `name@` is the agent of that name without a fingerprint.
    """
    if name is None:
        if not agents:
            raise InputError("the bank has no agent yet; import or collect executions first")
        return default or agents[0]
    matches = [agent for agent in agents if agent.name == name] or _by_fingerprint(agents, name)
    if not matches:
        raise unknown_name("agent", name, map(label, agents))
    if len(matches) > 1:
        choices = ", ".join(f"{agent.name}@{agent.fingerprint[:12]}" for agent in matches)
        raise InputError(
            f"agent {name!r} has several fingerprints (none after a bare @); choose one: {choices}", setting="agent"
        )
    return matches[0]


def current_skill(skills: Sequence[Skill], name: str) -> Skill:
    """The version of a skill that arrived last; an unversioned row counts only where no version is known."""
    versions = [skill for skill in skills if skill.skill_id == name]
    if not versions:
        same = bundle_name([name])  # a+b is b+a
        versions = [skill for skill in skills if bundle_name([skill.skill_id]) == same]
    if not versions:
        raise unknown_name("skill", name, [skill.skill_id for skill in skills])
    return max(versions, key=lambda skill: (bool(skill.digest), versions.index(skill)))


def label(agent: Agent) -> str:
    """An agent as people type it."""
    return f"{agent.name}@{agent.fingerprint[:12]}" if agent.fingerprint else agent.name


def _by_fingerprint(agents: Sequence[Agent], name: str) -> list[Agent]:
    base, separator, prefix = name.rpartition("@")
    if not separator:
        return []
    if not prefix:
        return [agent for agent in agents if agent.name == base and not agent.fingerprint]
    return [agent for agent in agents if agent.name == base and agent.fingerprint.startswith(prefix)]
