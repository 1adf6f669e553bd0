"""Which agent and suite are meant where a question names none: those that were chosen, or else the first that arrived.

So one row of another agent or suite never leaves a gate without an answer. Evidence of different agents or suites is
never pooled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select

from skilldelta.bank import reading, schema
from skilldelta.bank.reading import label
from skilldelta.bank.schema import changed_row, is_intact, row_checksum
from skilldelta.records import Agent

_AGENT, _FINGERPRINT, _SUITE = "agent", "fingerprint", "suite"
_SKILLS_IN_A_NOTE = 3


@dataclass(frozen=True, slots=True)
class BankDefaults:
    """What is taken where nothing is named; None where the bank has none."""

    agent: Agent | None
    suite: str | None

    def suite_of(self, suites: Sequence[str]) -> str | None:
        """The one of several suites, in order of arrival, that is meant."""
        if self.suite in suites:
            return self.suite
        return suites[0] if suites else None


def read_defaults(connection: Connection) -> BankDefaults:
    """The chosen agent and suite, where the bank still has them; else the first ones."""
    preferences = {}
    for row in connection.execute(select(*schema.preferences.c)):
        if not is_intact(schema.preferences.name, row):
            raise changed_row(f"the preference {row.name!r}")
        preferences[row.name] = row.value
    agents = list(reading.read_agents(connection).values())
    chosen = Agent(preferences.get(_AGENT, ""), preferences.get(_FINGERPRINT, ""))
    agent = next((candidate for candidate in agents if candidate == chosen), agents[0] if agents else None)
    suite = preferences.get(_SUITE)
    if suite is None or not _has_suite(connection, suite):
        tasks = schema.tasks
        suite = connection.execute(select(tasks.c.suite).order_by(tasks.c.key).limit(1)).scalar()
    return BankDefaults(agent, suite)


def write_defaults(connection: Connection, *, agent: Agent | None = None, suite: str | None = None) -> None:
    """Choose an agent, a suite, or both."""
    values = {} if agent is None else {_AGENT: agent.name, _FINGERPRINT: agent.fingerprint}
    if suite is not None:
        values[_SUITE] = suite
    table = schema.preferences
    for name, value in values.items():
        connection.execute(delete(table).where(table.c.name == name))
        connection.execute(insert(table), {"name": name, "value": value, "checksum": row_checksum((name, value))})


@dataclass(frozen=True, slots=True)
class Choices:
    """The defaults, and the suite from which a decision about each skill is made that names neither agent nor suite."""

    defaults: BankDefaults
    agents: int
    suites: Mapping[str, str]


def read_choices(connection: Connection) -> Choices:
    """What decisions rest on that name nothing but a skill."""
    defaults = read_defaults(connection)
    table, tasks = schema.executions, schema.tasks
    by_skill: dict[str, list[str]] = {}
    if defaults.agent is not None:
        versions = reading.read_versions(connection)
        query = reading.executions_query(connection, agent=defaults.agent)
        by = (table.c.skill_key, tasks.c.suite)
        rows = query.with_only_columns(*by).group_by(*by).order_by(func.min(tasks.c.key))
        for skill_key, suite in connection.execute(rows):
            suites = by_skill.setdefault(versions[skill_key].skill_id, [])
            if suite not in suites:
                suites.append(suite)
    by_named_skill = {skill: suites for skill, suites in by_skill.items() if skill != schema.SHARED_SKILL}
    suites_of = {skill: defaults.suite_of(suites) or "" for skill, suites in by_named_skill.items()}
    return Choices(defaults, len(reading.read_agents(connection)), suites_of)


def changed_choices(before: Choices, after: Choices) -> tuple[str, ...]:
    """What additions change for decisions that name no agent or suite, a line each."""
    if before.defaults.agent is None or after.defaults.agent is None:
        return ()
    lines = []
    if after.agents > before.agents:
        lines.append(
            f"the bank has {after.agents} agents now; decisions that name none stay with {label(after.defaults.agent)}, "
            "unless another is chosen with: skilldelta bank use --agent NAME"
        )
    moved: dict[tuple[str, str], list[str]] = {}
    for skill, suite in after.suites.items():
        earlier = before.suites.get(skill, suite)
        if earlier != suite:
            moved.setdefault((earlier, suite), []).append(skill)
    for (earlier, suite), skills in moved.items():
        more = f" and {len(skills) - _SKILLS_IN_A_NOTE} more" if len(skills) > _SKILLS_IN_A_NOTE else ""
        lines.append(
            f"decisions about {', '.join(skills[:_SKILLS_IN_A_NOTE])}{more} that name no suite are made from suite "
            f"{suite} now, and were made from {earlier}; go back with: skilldelta bank use --suite {earlier}"
        )
    return tuple(lines)


def _has_suite(connection: Connection, suite: str) -> bool:
    tasks = schema.tasks
    return connection.execute(select(tasks.c.key).where(tasks.c.suite == suite).limit(1)).first() is not None
