"""What is in a bank: counts and sizes, its panels with how their tasks and skills hang together, and the age of evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import Connection, Select, func, select

from skilldelta.bank import schema
from skilldelta.bank.cache import Cache
from skilldelta.bank.database import Backend
from skilldelta.bank.learned import LearnedStates, read_learned
from skilldelta.bank.pair_columns import PairColumns, read_pair_columns
from skilldelta.bank.pair_reading import PairQuery
from skilldelta.bank.reading import executions_by_panel, executions_query, read_agents, read_suites, read_versions
from skilldelta.bank.schema import count_rows
from skilldelta.records import Agent


@dataclass(frozen=True, slots=True)
class Coverage:
    """Group sizes count tasks. A task alone in its group has no support there."""

    groups: int = 0
    smallest: int = 0
    median: float = 0.0
    largest: int = 0
    singletons: int = 0
    """Groups of one task."""
    skills: int = 0
    """Distinct skills that were supplied, a bundle counted as one."""
    bundles: int = 0
    """Distinct sets of several skills."""
    edges: int = 0
    """Skills over all pairs: a pair under a bundle of three has three."""

    @property
    def supported(self) -> int:
        """Groups in which a task has the evidence of another."""
        return self.groups - self.singletons


@dataclass(frozen=True, slots=True)
class Panel:
    """One agent on one suite: what an evaluation is about."""

    agent: Agent
    suite: str
    pairs: int
    unpaired: int
    executions: int
    stale: int = 0
    """Pairs of another version of their skill than the current one."""
    coverage: Coverage = field(default_factory=Coverage)
    """Groups, bundles and support of its pairs."""


@dataclass(frozen=True, slots=True)
class BankStatus:
    """What is in a bank."""

    location: str
    backend: str
    schema_version: int
    size_bytes: int
    agents: int
    suites: int
    skills: int
    skill_versions: int
    tasks: int
    executions: Mapping[str, int]
    """By status, of the two arms of pairs."""
    listed: int
    """Executions of the third arm."""
    vectors: Mapping[str, int]
    """By encoder identity."""
    decisions: int
    outcomes: int
    judgements: int
    learned: LearnedStates
    """What predictions have learned from the evidence, and cached."""
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class EvidenceAge:
    """The executions of one skill version by one agent on one suite. Baselines that skills share are no skill's own."""

    agent: Agent
    suite: str
    skill_id: str
    skill_digest: str
    executions: int
    first: float
    """Seconds since 1970, UTC: when the first of them was recorded or imported."""
    last: float


def read_status(connection: Connection, backend: Backend, cache: Cache) -> BankStatus:
    """Counts of everything that a bank and its cache hold."""
    executions = schema.executions
    by_status = select(executions.c.status, func.count()).group_by(executions.c.status).order_by(executions.c.status)
    skills = [skill for skill in read_versions(connection).values() if skill.skill_id]
    return BankStatus(
        location=backend.location,
        backend=backend.name,
        schema_version=backend.version(connection),
        size_bytes=backend.size_bytes(connection),
        agents=len(read_agents(connection)),
        suites=len(read_suites(connection)),
        skills=len({skill.skill_id for skill in skills}),
        skill_versions=sum(1 for skill in skills if skill.digest),
        tasks=count_rows(connection, schema.tasks),
        executions=_counts(connection, by_status),
        listed=count_rows(connection, schema.listed_executions),
        vectors=count_vectors(connection, cache),
        decisions=count_rows(connection, schema.decisions),
        outcomes=count_rows(connection, schema.outcomes),
        judgements=count_rows(connection, schema.judgements),
        learned=cache.read(LearnedStates(), read_learned),
        panels=tuple(read_panels(connection)),
    )


def count_vectors(connection: Connection, cache: Cache) -> dict[str, int]:
    """How many vectors there are of each encoder, by its identity: in the bank, and in a cache beside it."""
    counts = Counter(_vectors_by_encoder(connection))
    if cache.path is not None:
        counts.update(cache.read({}, _vectors_by_encoder))
    return dict(counts)


def _vectors_by_encoder(connection: Connection) -> dict[str, int]:
    vectors, encoders = schema.vectors, schema.encoders
    query = (
        select(encoders.c.identity, func.count())
        .select_from(encoders.join(vectors, encoders.c.key == vectors.c.encoder_key))
        .group_by(encoders.c.identity)
    )
    return _counts(connection, query)


def read_panels(connection: Connection) -> list[Panel]:
    """One panel per agent and suite with executions, agents first in order of arrival, then suites."""
    counts = executions_by_panel(connection)
    panels = []
    for agent, suite in counts:
        columns = read_pair_columns(connection, PairQuery(agent, suite))
        panels.append(
            Panel(
                agent=agent,
                suite=suite,
                pairs=len(columns),
                unpaired=columns.unpaired,
                executions=counts[agent, suite],
                stale=columns.stale,
                coverage=_coverage(connection, suite, columns),
            )
        )
    return panels


def _coverage(connection: Connection, suite: str, columns: PairColumns) -> Coverage:
    """The structure of a panel's pairs; a pair without a family belongs to the group of its skill."""
    if not len(columns):
        return Coverage()
    tasks = schema.tasks
    families: dict[str, int] = {}
    rows = connection.execution_options(yield_per=50_000).execute(
        select(tasks.c.key, tasks.c.family).where(tasks.c.suite == suite).order_by(tasks.c.key)
    )
    keys, codes = [], []
    for part in rows.partitions():
        keys.append(np.array([row.key for row in part], np.int64))
        codes.append(np.array([families.setdefault(row.family, len(families)) for row in part], np.int64))
    task_keys, family_codes = np.concatenate(keys), np.concatenate(codes)
    family = family_codes[np.searchsorted(task_keys, columns.task_keys)]
    names = {key: skill.skill_id for key, skill in read_versions(connection).items()}
    # Groups of pairs without a family are numbered behind the families, by skill.
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names.values()), len(families))}
    skill = np.array([numbers[names[key]] for key in columns.skill_keys.tolist()], np.int64)
    group = np.where(family == families.get("", -1), skill, family)
    groups_of_tasks = np.unique(np.stack([group, columns.task_keys]), axis=1)[0]
    sizes = np.sort(np.unique(groups_of_tasks, return_counts=True)[1])
    present, uses = np.unique(skill, return_counts=True)
    names_by_number = {number: name for name, number in numbers.items() if name}
    members = [
        (names_by_number[code].count("+") + 1, count)
        for code, count in zip(present.tolist(), uses.tolist(), strict=True)
        if code in names_by_number
    ]
    return Coverage(
        groups=len(sizes),
        smallest=int(sizes[0]),
        median=float(np.median(sizes)),
        largest=int(sizes[-1]),
        singletons=int((sizes == 1).sum()),
        skills=len(members),
        bundles=sum(number > 1 for number, _ in members),
        edges=sum(number * count for number, count in members),
    )


def read_evidence_ages(connection: Connection) -> list[EvidenceAge]:
    """One line per agent, suite and skill version, by the arrival of its first execution."""
    table, tasks = schema.executions, schema.tasks
    agents, versions = read_agents(connection), read_versions(connection)
    by = (table.c.agent_key, tasks.c.suite, table.c.skill_key)
    ages = (func.count(), func.min(table.c.recorded_at), func.max(table.c.recorded_at))
    query = executions_query(connection).with_only_columns(*by, *ages).group_by(*by).order_by(func.min(table.c.key))
    return [
        EvidenceAge(agents[agent], suite, versions[skill].skill_id, versions[skill].digest, count, first, last)
        for agent, suite, skill, count, first, last in connection.execute(query)
        if versions[skill].skill_id != schema.SHARED_SKILL
    ]


def _counts(connection: Connection, query: Select[str, int]) -> dict[str, int]:
    return {name: int(count) for name, count in connection.execute(query)}
