"""Agents' own judgements of skills: kept beside the evidence, never part of it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from skilldelta.bank import schema
from skilldelta.bank.database import Backend
from skilldelta.bank.reading import read_agents, read_versions
from skilldelta.bank.schema import insert_rows, next_key
from skilldelta.errors import InputError, unknown_name
from skilldelta.records import Agent, Judgement


def add_judgements(connection: Connection, backend: Backend, judgements: Sequence[Judgement]) -> int:
    """Store what is new, and return how many; the same question with another answer is refused."""
    table = schema.tasks
    agents = {agent: key for key, agent in read_agents(connection).items()}
    skills = {(skill.skill_id, skill.digest): key for key, skill in read_versions(connection).items()}
    suites = {judgement.suite for judgement in judgements}
    rows_of_tasks = connection.execute(
        select(table.c.suite, table.c.task_id, table.c.key).where(table.c.suite.in_(suites))
    )
    tasks = {(suite, task_id): key for suite, task_id, key in rows_of_tasks}
    stored = {(j.agent, j.suite, j.task_id, j.skill_id, j.skill_digest): j for j in read_judgements(connection)}
    rows = []
    key = next_key(connection, schema.judgements)
    for j in judgements:
        name = (j.agent, j.suite, j.task_id, j.skill_id, j.skill_digest)
        if name in stored:
            _check_same(stored[name], j)
            continue
        stored[name] = j
        if j.agent not in agents:
            raise unknown_name("agent", j.agent.name, [agent.name for agent in agents])
        if (j.skill_id, j.skill_digest) not in skills:
            raise unknown_name("skill", j.skill_id, [skill_id for skill_id, _ in skills if skill_id])
        if (j.suite, j.task_id) not in tasks:
            raise unknown_name("task", j.task_id, [task_id for _, task_id in tasks])
        keys = (agents[j.agent], tasks[j.suite, j.task_id], skills[j.skill_id, j.skill_digest])
        rows.append((key, *keys, j.use, None if j.tokens is None else float(j.tokens), j.answer))
        key += 1
    insert_rows(connection, backend, schema.judgements, rows)
    return len(rows)


def read_judgements(connection: Connection, *, agent: Agent | None = None, suite: str | None = None) -> list[Judgement]:
    """Judgements in order of arrival."""
    table, tasks = schema.judgements, schema.tasks
    agents, skills = read_agents(connection), read_versions(connection)
    query = (
        select(*table.c["agent_key", "skill_key", "use", "tokens", "answer"], *tasks.c["suite", "task_id"])
        .select_from(table.join(tasks, table.c.task_key == tasks.c.key))
        .order_by(table.c.key)
    )
    if suite is not None:
        query = query.where(tasks.c.suite == suite)
    if agent is not None:
        query = query.where(table.c.agent_key.in_([key for key, stored in agents.items() if stored == agent]))
    return [
        Judgement(
            agent=agents[agent_key],
            suite=task_suite,
            task_id=task_id,
            skill_id=skills[skill_key].skill_id,
            skill_digest=skills[skill_key].digest,
            use=bool(use),
            tokens=tokens,
            answer=answer,
        )
        for agent_key, skill_key, use, tokens, answer, task_suite, task_id in connection.execute(query)
    ]


def _check_same(stored: Judgement, came: Judgement) -> None:
    if stored != came:
        raise InputError(
            f"the judgement of agent {came.agent.name!r} on task {came.task_id!r} and skill {came.skill_id!r} is in the "
            f"bank with use={stored.use} and came again with use={came.use} or another answer; forget the old one first"
        )
