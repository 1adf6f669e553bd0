"""Decisions as they were given, and agents' own judgements of skills: kept beside the evidence, never part of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, select

from skilldelta.bank import schema
from skilldelta.bank.backend import Backend
from skilldelta.bank.entries import DecisionRecord, Judgement
from skilldelta.bank.inserting import insert_rows
from skilldelta.bank.lookup import next_key
from skilldelta.bank.reading import read_agents, read_versions
from skilldelta.errors import InputError, unknown_name
from skilldelta.records import Agent


def add_decision(connection: Connection, backend: Backend, record: DecisionRecord) -> int:
    """Store one decision; returns the id that the bank gave it."""
    key = next_key(connection, schema.decisions)
    row = (
        *(key, float(record.time), record.agent.name, record.agent.fingerprint),
        *(record.skill_id, record.skill_digest, record.task_id, record.text_digest, record.action),
        *(float(record.gain), float(record.threshold), record.reason),
        json.dumps(dict(record.evidence), ensure_ascii=False),
    )
    insert_rows(connection, backend, schema.decisions, [row])
    return key


def read_decisions(connection: Connection, limit: int | None = None) -> list[DecisionRecord]:
    """Decisions from the newest to the oldest, at most `limit` of them."""
    query = select(schema.decisions).order_by(schema.decisions.c.key.desc()).limit(limit)
    return [
        DecisionRecord(
            time=row.time,
            agent=Agent(row.agent, row.fingerprint),
            skill_id=row.skill_id,
            text_digest=row.text_digest,
            action=row.action,
            gain=row.gain,
            threshold=row.threshold,
            reason=row.reason,
            evidence=json.loads(row.evidence),
            skill_digest=row.skill_digest,
            task_id=row.task_id,
            decision_id=row.key,
        )
        for row in connection.execute(query)
    ]


def add_judgements(connection: Connection, backend: Backend, judgements: Sequence[Judgement]) -> int:
    """Store what is new, and return how many; the same question with another answer is refused."""
    agents = {agent: key for key, agent in read_agents(connection).items()}
    skills = {(skill.skill_id, skill.digest): key for key, skill in read_versions(connection).items()}
    tasks = _task_keys(connection, {judgement.suite for judgement in judgements})
    known = {(j.agent, j.suite, j.task_id, j.skill_id, j.skill_digest): j for j in read_judgements(connection)}
    rows = []
    key = next_key(connection, schema.judgements)
    for judgement in judgements:
        j = judgement
        name = (j.agent, j.suite, j.task_id, j.skill_id, j.skill_digest)
        if name in known:
            _check_same(known[name], judgement)
            continue
        known[name] = judgement
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
        query = query.where(table.c.agent_key.in_([key for key, known in agents.items() if known == agent]))
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


def _task_keys(connection: Connection, suites: Iterable[str]) -> dict[tuple[str, str], int]:
    tasks = schema.tasks
    query = select(*tasks.c["suite", "task_id", "key"]).where(tasks.c.suite.in_(list(suites)))
    return {(suite, task_id): key for suite, task_id, key in connection.execute(query)}


def _check_same(known: Judgement, came: Judgement) -> None:
    if known != came:
        raise InputError(
            f"the judgement of agent {came.agent.name!r} on task {came.task_id!r} and skill {came.skill_id!r} is in the "
            f"bank with use={known.use} and came again with use={came.use} or another answer; forget the old one first"
        )
