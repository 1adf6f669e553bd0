"""When the evidence about each skill version arrived in the bank, and how much of it there is."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from skilldelta.bank import schema
from skilldelta.bank.reading import read_agents, read_versions
from skilldelta.records import Agent


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


def read_evidence_ages(connection: Connection) -> list[EvidenceAge]:
    """One line per agent, suite and skill version, by the arrival of its first execution."""
    table, tasks = schema.executions, schema.tasks
    agents, versions = read_agents(connection), read_versions(connection)
    recorded = table.c.recorded_at
    query = (
        select(
            *(table.c.agent_key, tasks.c.suite, table.c.skill_key),
            *(func.count(), func.min(recorded), func.max(recorded)),
        )
        .select_from(table.join(tasks, table.c.task_key == tasks.c.key))
        .group_by(table.c.agent_key, tasks.c.suite, table.c.skill_key)
        .order_by(func.min(table.c.key))
    )
    return [
        EvidenceAge(agents[agent], suite, versions[skill].skill_id, versions[skill].digest, count, first, last)
        for agent, suite, skill, count, first, last in connection.execute(query)
        if versions[skill].skill_id != schema.SHARED_SKILL
    ]
