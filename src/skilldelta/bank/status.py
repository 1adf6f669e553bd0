"""What is in a bank: counts and sizes, its panels with how their tasks and skills hang together, and the age of evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from sqlalchemy import Connection, Select, func, select

from skilldelta.bank import schema
from skilldelta.bank.cache import Cache
from skilldelta.bank.database import Backend
from skilldelta.bank.learned import LearnedStates, read_learned
from skilldelta.bank.pair_reading import PairQuery, read_pairs
from skilldelta.bank.reading import executions_by_panel, executions_query, read_agents, read_suites, read_versions
from skilldelta.bank.schema import count_rows
from skilldelta.records import Agent, Pair


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
    """By status."""
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
        pairing = read_pairs(connection, PairQuery(agent, suite)).pairing
        panels.append(
            Panel(
                agent=agent,
                suite=suite,
                pairs=len(pairing.pairs),
                unpaired=len(pairing.unpaired),
                executions=counts[agent, suite],
                stale=len(pairing.stale),
                coverage=coverage_of(pairing.pairs),
            )
        )
    return panels


def coverage_of(pairs: Sequence[Pair]) -> Coverage:
    """The structure of a panel's pairs; a pair without a family belongs to the group of its skill."""
    if not pairs:
        return Coverage()
    tasks = {(pair.family or f"skill {pair.skill_id}", pair.task_id) for pair in pairs}
    sizes = sorted(Counter(group for group, _ in tasks).values())
    members = {pair.skill_id: pair.skill_id.count("+") + 1 for pair in pairs if pair.skill_id}
    return Coverage(
        groups=len(sizes),
        smallest=sizes[0],
        median=float(median(sizes)),
        largest=sizes[-1],
        singletons=sum(size == 1 for size in sizes),
        skills=len(members),
        bundles=sum(number > 1 for number in members.values()),
        edges=sum(members.get(pair.skill_id, 0) for pair in pairs),
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
