"""What is in a bank: counts, sizes, and its panels."""

from __future__ import annotations

from sqlalchemy import Connection, Select, TableClause, func, select

from skilldelta.bank import schema
from skilldelta.bank.coverage import coverage_of
from skilldelta.bank.database import Backend
from skilldelta.bank.entries import BankStatus, Panel
from skilldelta.bank.learned import read_learned
from skilldelta.bank.pair_reading import PairQuery, read_pairs
from skilldelta.bank.reading import executions_by_panel, read_agents, read_suites, read_versions


def read_status(connection: Connection, backend: Backend) -> BankStatus:
    """Counts of everything that a bank holds."""
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
        tasks=_count(connection, schema.tasks),
        executions=_counts(connection, by_status),
        vectors=count_vectors(connection),
        decisions=_count(connection, schema.decisions),
        outcomes=_count(connection, schema.outcomes),
        judgements=_count(connection, schema.judgements),
        learned=read_learned(connection),
        panels=tuple(read_panels(connection)),
    )


def count_vectors(connection: Connection) -> dict[str, int]:
    """How many vectors there are of each encoder, by its identity."""
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


def _count(connection: Connection, table: TableClause) -> int:
    return int(connection.execute(select(func.count()).select_from(table)).scalar() or 0)


def _counts(connection: Connection, query: Select[str, int]) -> dict[str, int]:
    return {name: int(count) for name, count in connection.execute(query)}
