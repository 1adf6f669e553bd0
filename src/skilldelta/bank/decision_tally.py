"""How often the gate said use, skip and abstain, by agent and skill: the decision log in numbers."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from skilldelta.bank import schema
from skilldelta.records import Agent


@dataclass(frozen=True, slots=True)
class DecisionTally:
    """The decisions of one kind about one skill for one agent."""

    agent: Agent
    skill_id: str
    action: str
    decisions: int
    last: float
    """Seconds since 1970, UTC."""


def read_decision_tallies(connection: Connection) -> list[DecisionTally]:
    """One line per agent, skill and action that the log has."""
    table = schema.decisions
    by = (table.c.agent, table.c.fingerprint, table.c.skill_id, table.c.action)
    query = select(*by, func.count(), func.max(table.c.time)).group_by(*by).order_by(*by)
    return [
        DecisionTally(Agent(agent, fingerprint), skill, action, count, last)
        for agent, fingerprint, skill, action, count, last in connection.execute(query)
    ]
