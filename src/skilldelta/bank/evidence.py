"""Which executions stand behind a skill's current version: the bank's input to `pairing`.

The current version of a skill is the one that arrived last. Executions that do not say their version count as the only
version known; where the bank knows two or more, they may belong to any of them and are stale. A repetition recorded both
with and without its version counts once, with it. Pairs stand in the order in which their tasks arrived, whatever the
filter, so that ties break the same way in every scope.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection, or_, select

from skilldelta.bank import schema
from skilldelta.bank.lookup import chunked
from skilldelta.bank.reading import executions_query, read_executions, read_skills, skill_keys
from skilldelta.pairing import Pairing, is_counted, pair_executions
from skilldelta.records import Agent, Execution, Skill

SUPERSEDED = "superseded"
"""Uncounted, because the same repetition is also recorded with its version."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Which pairs are asked for; None takes all."""

    agent: Agent | None = None
    suite: str | None = None
    skill_id: str | None = None
    family: str | None = None
    include_stale: bool = False


def read_pairing(connection: Connection, asked: Evidence, *, task_keys: Sequence[int] | None = None) -> Pairing:
    """The pairs of some executions, in order of their tasks' arrival; `task_keys` reduces them to a few tasks."""
    versions = read_versions(read_skills(connection).values())
    superseded: Counter[str] = Counter()
    executions = list(_versioned(list(_executions(connection, asked, task_keys)), versions, superseded))
    pairing = pair_executions(
        executions,
        families=_families(connection, asked, task_keys),
        current_digests={skill_id: digests[-1] for skill_id, digests in versions.items()},
        include_stale=asked.include_stale,
    )
    return replace(pairing, uncounted={**pairing.uncounted, **superseded})


def read_versions(skills: Iterable[Skill]) -> dict[str, list[str]]:
    """The known digests of each skill, oldest first; a skill without one is not in it."""
    versions: defaultdict[str, list[str]] = defaultdict(list)
    for skill in skills:
        if skill.digest:
            versions[skill.skill_id].append(skill.digest)
    return dict(versions)


def _executions(connection: Connection, asked: Evidence, task_keys: Sequence[int] | None) -> Iterator[Execution]:
    table, tasks = schema.executions, schema.tasks
    query = executions_query(connection, agent=asked.agent, suite=asked.suite, family=asked.family)
    if asked.skill_id is not None:
        skills = read_skills(connection)
        own, shared = skill_keys(skills, asked.skill_id), skill_keys(skills, schema.SHARED_SKILL)
        run_with_it = select(table.c.task_key).where(table.c.skill_key.in_(own)).scalar_subquery()
        baseline = table.c.skill_key.in_(shared) & table.c.task_key.in_(run_with_it)
        query = query.where(or_(table.c.skill_key.in_(own), baseline))
    query = query.order_by(tasks.c.key, table.c.key)
    if task_keys is None:
        yield from read_executions(connection, query)
        return
    for chunk in chunked(sorted(task_keys)):
        yield from read_executions(connection, query.where(tasks.c.key.in_(chunk)))


def _versioned(
    executions: Sequence[Execution], versions: Mapping[str, Sequence[str]], superseded: Counter[str]
) -> Iterator[Execution]:
    """Executions without a version as those of the only version known."""
    only = {skill_id: digests[0] for skill_id, digests in versions.items() if len(digests) == 1}
    said = {_repetition(e) for e in executions if e.skill_digest and e.skill_id in only and is_counted(e)}
    for execution in executions:
        if execution.skill_digest or execution.skill_id not in only:
            yield execution
        elif _repetition(execution) in said:
            superseded[SUPERSEDED] += 1
        else:
            yield replace(execution, skill_digest=only[execution.skill_id])


def _repetition(e: Execution) -> tuple[Agent, str, str, str, str, int]:
    return (e.agent, e.suite, e.task_id, e.skill_id, e.condition, e.repetition)


def _families(connection: Connection, asked: Evidence, task_keys: Sequence[int] | None) -> dict[tuple[str, str], str]:
    tasks = schema.tasks
    query = select(*tasks.c["suite", "task_id", "family"])
    for column, value in ((tasks.c.suite, asked.suite), (tasks.c.family, asked.family)):
        if value is not None:
            query = query.where(column == value)
    chunks = [query] if task_keys is None else [query.where(tasks.c.key.in_(c)) for c in chunked(list(task_keys))]
    return {(suite, task_id): family for chunk in chunks for suite, task_id, family in connection.execute(chunk)}
