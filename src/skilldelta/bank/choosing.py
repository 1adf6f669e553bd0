"""Names that people type to agents and skills that the bank has."""

from __future__ import annotations

from collections.abc import Sequence

from skilldelta.errors import InputError, unknown_name
from skilldelta.records import Agent, Skill, bundle_name


def chosen_agent(agents: Sequence[Agent], name: str | None) -> Agent:
    """The agent called `name` or `name@fingerprint-prefix`; None is the only one; a doubtful name is refused.

    `name@` is the agent of that name without a fingerprint.
    """
    if name is None:
        if len(agents) == 1:
            return agents[0]
        if agents:
            raise InputError(f"the bank has {len(agents)} agents; choose one: {', '.join(map(label, agents))}")
        raise InputError("the bank has no agent yet; import or collect executions first")
    found = [agent for agent in agents if agent.name == name] or _by_fingerprint(agents, name)
    if not found:
        raise unknown_name("agent", name, map(label, agents))
    if len(found) > 1:
        choices = ", ".join(f"{agent.name}@{agent.fingerprint[:12]}" for agent in found)
        raise InputError(f"agent {name!r} has several fingerprints (none after a bare @); choose one: {choices}")
    return found[0]


def current_skill(skills: Sequence[Skill], name: str) -> Skill:
    """The version of a skill that arrived last; an unversioned row counts only where no version is known."""
    versions = [skill for skill in skills if skill.skill_id == name]
    if not versions:
        same = bundle_name([name])  # a+b is b+a
        versions = [skill for skill in skills if bundle_name([skill.skill_id]) == same]
    if not versions:
        raise unknown_name("skill", name, [skill.skill_id for skill in skills])
    return max(versions, key=lambda skill: (bool(skill.digest), versions.index(skill)))


def chosen_suite(suites: Sequence[str], skill_id: str) -> str | None:
    """The only suite there is; families of one name in two suites are not one family, so that several are refused."""
    if len(suites) > 1:
        raise InputError(
            f"skill {skill_id!r} has evidence in {len(suites)} suites, which are never pooled; "
            f"choose one with --suite: {', '.join(suites)}"
        )
    return suites[0] if suites else None


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
