"""Which executions stand behind a skill's current version: the bank's input to `pairing`.

The current version of a skill is the one that arrived last. Executions that do not say their version count as the only
version known; where the bank knows two or more, they may belong to any of them and are stale. A repetition recorded both
with and without its version counts once, with it. Pairs stand in the order in which their tasks arrived, whatever the
filter, so that ties break the same way in every scope.

A reader that has read before gets what changed since. New executions touch their tasks only. A removal, or a new version
of a skill in question, may change any pair: then everything is read again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sqlalchemy import Connection, Select, func, or_, select

from skilldelta.arrays import Vectors
from skilldelta.bank import reading, schema
from skilldelta.bank.revisions import read_panel_revision
from skilldelta.bank.schema import chunked, read_counter
from skilldelta.pairing import Pairing, is_counted, pair_executions
from skilldelta.records import Agent, Execution, Pair, Skill
from skilldelta.support import Support

# Uncounted, because the same repetition is also recorded with its version.
SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class PairQuery:
    """Which pairs are asked for; None takes all."""

    agent: Agent
    suite: str | None = None
    skill_id: str | None = None
    family: str | None = None
    include_stale: bool = False


@dataclass(frozen=True, slots=True)
class Paired:
    """A pairing, the executions it was made of, and the keys of its tasks."""

    pairing: Pairing
    stored: Sequence[reading.StoredExecution]
    versioned: Sequence[Execution]
    """What was paired: executions with the version that they count as, without superseded ones."""
    task_keys: Mapping[tuple[str, str], int]

    def key_of(self, pair: Pair) -> int:
        """The key of a pair's task."""
        return self.task_keys[pair.suite, pair.task_id]


def read_pairs(connection: Connection, scope: PairQuery, *, task_keys: Sequence[int] | None = None) -> Paired:
    """The pairs in order of their tasks' arrival; `task_keys` reduces them to a few tasks."""
    versions = versions_of(reading.read_versions(connection).values())
    stored = list(_executions(connection, scope, task_keys))
    executions, superseded = _versioned([row.execution for row in stored], versions)
    pairing = pair_executions(
        executions,
        families={(row.task.suite, row.task.task_id): row.task.family for row in stored},
        current_digests={skill_id: digests[-1] for skill_id, digests in versions.items()},
        include_stale=scope.include_stale,
    )
    if superseded:
        pairing = replace(pairing, uncounted={**pairing.uncounted, SUPERSEDED: superseded})
    task_keys_by_name = {(row.task.suite, row.task.task_id): row.task.key for row in stored}
    paired = Paired(pairing, stored, executions, task_keys_by_name)
    if not scope.include_stale:
        return paired
    in_order = tuple(sorted(pairing.pairs, key=paired.key_of))  # stale pairs stand beside their task's current one
    return replace(paired, pairing=replace(pairing, pairs=in_order))


@dataclass(frozen=True, slots=True)
class PanelRecords:
    """All that the bank holds of one agent on one suite, as it was at one moment."""

    agent: Agent
    suite: str
    executions: tuple[Execution, ...]
    """In order of arrival, counted or not."""
    versioned: tuple[Execution, ...]
    """What was paired: executions with the version that they count as, without superseded ones."""
    pairing: Pairing
    texts: tuple[str, ...]
    """The task texts of the pairs, one per pair."""


def read_panel_records(connection: Connection, agent: Agent, suite: str) -> PanelRecords:
    """A panel from one reading of its executions."""
    paired = read_pairs(connection, PairQuery(agent, suite))
    texts = reading.read_texts(connection, map(paired.key_of, paired.pairing.pairs))
    return PanelRecords(
        agent,
        suite,
        tuple(row.execution for row in sorted(paired.stored, key=lambda row: row.key)),
        tuple(paired.versioned),
        paired.pairing,
        tuple(texts[paired.key_of(pair)] for pair in paired.pairing.pairs),
    )


def versions_of(skills: Iterable[Skill]) -> dict[str, list[str]]:
    """The known digests of each skill, oldest first; a skill without one is not in it."""
    versions: defaultdict[str, list[str]] = defaultdict(list)
    for skill in skills:
        if skill.digest:
            versions[skill.skill_id].append(skill.digest)
    return dict(versions)


def pair_query(connection: Connection, scope: PairQuery) -> Select[*tuple[Any, ...]]:
    """The executions that may belong to the pairs that are asked for, by task and then by arrival."""
    table = schema.executions
    query = reading.executions_query(connection, agent=scope.agent, suite=scope.suite, family=scope.family)
    if scope.skill_id is not None:
        skills = reading.read_versions(connection)
        own, shared = reading.skill_keys(skills, scope.skill_id), reading.skill_keys(skills, schema.SHARED_SKILL)
        run_with_it = select(table.c.task_key).where(table.c.skill_key.in_(own))
        baseline = table.c.skill_key.in_(shared) & table.c.task_key.in_(run_with_it)
        query = query.where(or_(table.c.skill_key.in_(own), baseline))
    return query.order_by(table.c.task_key, table.c.key)


def _executions(
    connection: Connection, scope: PairQuery, task_keys: Sequence[int] | None
) -> Iterator[reading.StoredExecution]:
    query = pair_query(connection, scope)
    if task_keys is None:
        yield from reading.read_executions(connection, query)
        return
    for chunk in chunked(sorted(task_keys)):
        yield from reading.read_executions(connection, query.where(schema.tasks.c.key.in_(chunk)))


def _versioned(executions: Sequence[Execution], versions: Mapping[str, Sequence[str]]) -> tuple[list[Execution], int]:
    """Executions without a version as those of the only version known, and how many were superseded."""
    only = {skill_id: digests[0] for skill_id, digests in versions.items() if len(digests) == 1}
    if all(e.skill_digest or e.skill_id not in only for e in executions):
        return list(executions), 0
    with_version = {_repetition(e) for e in executions if e.skill_digest and e.skill_id in only and is_counted(e)}
    versioned: list[Execution] = []
    for execution in executions:
        if execution.skill_digest or execution.skill_id not in only:
            versioned.append(execution)
        elif _repetition(execution) not in with_version:
            versioned.append(replace(execution, skill_digest=only[execution.skill_id]))
    return versioned, len(executions) - len(versioned)


def _repetition(e: Execution) -> tuple[Agent, str, str, str, str, int]:
    return (e.agent, e.suite, e.task_id, e.skill_id, e.condition, e.repetition)


@dataclass(frozen=True, slots=True)
class Mark:
    """How far the evidence was read."""

    revision: int
    removals: int
    last_execution: int
    versions: tuple[tuple[str, tuple[str, ...]], ...]


# Of what was learned: from the evidence as it is now; before some of it was added; or from evidence that was removed or
# belongs to versions that are no longer current, so that it must not answer.
Freshness = Literal["current", "outdated", "invalid"]


@dataclass(frozen=True, slots=True)
class Changes:
    """The pairs of the touched tasks in order of arrival, with the keys and texts of their tasks."""

    mark: Mark
    touched: tuple[int, ...] | None
    """Keys of the tasks whose earlier pairs these replace; None means that everything has to be read again."""
    pairs: tuple[Pair, ...]
    task_keys: tuple[int, ...]
    texts: tuple[str, ...]

    def support(self, vectors: Vectors, encoder: str, agent: Agent, suite: str | None) -> Support:
        """The pairs as arrays, with the vectors of their texts."""
        return Support.from_pairs(
            self.pairs, vectors, texts=self.texts, encoder=encoder, agent=agent.name, suite=suite or ""
        )


def read_changes(connection: Connection, scope: PairQuery, since: Mark | None) -> Changes:
    """What an earlier reader lacks, in one view of the bank."""
    mark = mark_now(connection, scope)
    touched: tuple[int, ...] | None = None
    if since is not None and (since.removals, since.versions) == (mark.removals, mark.versions):
        touched = _touched(connection, scope, since)
    if touched is None:  # everything is read as columns, by `pair_columns.read_scope`
        return Changes(mark, None, (), (), ())
    paired = read_pairs(connection, scope, task_keys=touched)
    pairs = paired.pairing.pairs
    task_keys = tuple(paired.key_of(pair) for pair in pairs)
    texts = reading.read_texts(connection, task_keys)
    return Changes(mark, touched, pairs, task_keys, tuple(texts[key] for key in task_keys))


def read_freshness(connection: Connection, scope: PairQuery, mark: Mark) -> Freshness:
    """How what was learned at a mark relates to the evidence as it is now.

    The mark's versions may be those of some skills only: then the versions of other skills do not matter.
    """
    now = mark_now(connection, scope)
    if now.revision == mark.revision:
        return "current"
    versions = dict(now.versions)
    if now.removals != mark.removals:
        return "invalid"
    for skill_id, digests in mark.versions:
        present = versions.get(skill_id, ())
        # Executions that did not say their version count as the first version that becomes known.
        if present != digests and (digests or len(present) > 1):
            return "invalid"
    # Nothing need have come: a copy of the bank that went another way has another revision, too.
    return "outdated"


def mark_now(connection: Connection, scope: PairQuery) -> Mark:
    """How far a reader who reads everything now has read."""
    versions = versions_of(reading.read_versions(connection).values())
    if scope.skill_id is not None:
        versions = {scope.skill_id: versions.get(scope.skill_id, [])}
    return Mark(
        revision=read_panel_revision(connection, scope.agent, scope.suite),
        removals=read_counter(connection, schema.REMOVALS),
        last_execution=int(connection.execute(select(func.max(schema.executions.c.key))).scalar() or 0),
        versions=tuple((skill_id, tuple(digests)) for skill_id, digests in versions.items()),
    )


def _touched(connection: Connection, scope: PairQuery, since: Mark) -> tuple[int, ...]:
    table = schema.executions
    query = reading.executions_query(connection, agent=scope.agent, suite=scope.suite, family=scope.family)
    new = query.with_only_columns(table.c.task_key).where(table.c.key > since.last_execution).distinct()
    # The new rows are few and stand at the end; SQLite would look up every task of the suite instead.
    new = new.with_hint(table, "NOT INDEXED", "sqlite")
    return tuple(sorted(connection.execute(new).scalars()))
