"""Decisions as they were given, and what happened after them: kept beside the evidence, never part of it.

Rows are only ever added, and removed whole by age. A conversation gets one decision per skill, whoever asks and however
many processes write.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, Row, delete, func, or_, select

from skilldelta.bank import schema
from skilldelta.bank.database import Backend
from skilldelta.bank.entries import AMOUNTS, DecisionFilter, DecisionRecord, DecisionTally, Logged, RecordedOutcome
from skilldelta.bank.schema import (
    changed_row,
    chunked,
    count_rows,
    insert_rows,
    is_intact,
    next_key,
    read_counter,
    write_counter,
)
from skilldelta.errors import ConflictError, InputError, NotRecordedError, shown
from skilldelta.records import Agent

_JOINED = schema.decisions.outerjoin(schema.requests, schema.decisions.c.key == schema.requests.c.decision_key)


def add_decisions(connection: Connection, backend: Backend, records: Sequence[DecisionRecord]) -> list[Logged]:
    """Store decisions; one that repeats a conversation and skill is not stored, and gets the first one's id."""
    key = max(next_key(connection, schema.decisions), read_counter(connection, schema.LAST_DECISION) + 1)
    earlier = _known_conversations(connection, records)
    logged, decisions, requests = [], [], []
    for record in records:
        question = (record.conversation, record.skill_id)
        if record.conversation and question in earlier:
            logged.append(Logged(earlier[question], is_new=False))
            continue
        decisions.append(_decision_row(key, record))
        if record.conversation or record.source or record.text is not None:
            requests.append((key, record.skill_id, record.conversation or None, record.source, record.text))
        earlier[question] = key
        logged.append(Logged(key, is_new=True))
        key += 1
    insert_rows(connection, backend, schema.decisions, decisions)
    insert_rows(connection, backend, schema.requests, requests)
    return logged


def find_conversation(connection: Connection, conversation: str, skill_id: str) -> DecisionRecord | None:
    """The decision that a conversation got about a skill."""
    requests = schema.requests
    chosen = (requests.c.conversation == conversation) & (requests.c.skill_id == skill_id)
    key = connection.execute(select(requests.c.decision_key).where(chosen)).scalar()
    return None if key is None else read_decision(connection, int(key))


def read_decision(connection: Connection, decision_id: int) -> DecisionRecord | None:
    """One decision with its outcomes."""
    if not _can_be_id(decision_id):
        return None
    records = _read(connection, [schema.decisions.c.key == decision_id], limit=1)
    return records[0] if records else None


def read_decisions(
    connection: Connection, limit: int | None = None, chosen: DecisionFilter | None = None
) -> list[DecisionRecord]:
    """Decisions from the newest to the oldest, at most `limit` of them, with their outcomes."""
    return _read(connection, _conditions(chosen or DecisionFilter()), limit=limit)


def add_outcomes(
    connection: Connection, backend: Backend, outcomes: Sequence[RecordedOutcome]
) -> list[Logged | InputError]:
    """Store outcomes, each once; one that cannot be taken becomes the error that says why, and the others are stored."""
    decision_ids = sorted({outcome.decision_id for outcome in outcomes if _can_be_id(outcome.decision_id)})
    id_of = schema.decisions.c.key
    chunks = chunked(decision_ids)
    decided = {
        decision_id
        for chunk in chunks
        for decision_id in connection.execute(select(id_of).where(id_of.in_(chunk))).scalars()
    }
    earlier = _known_outcomes(connection, decision_ids)
    key, rows = next_key(connection, schema.outcomes), []
    answers: list[Logged | InputError] = []
    for outcome in outcomes:
        place = (outcome.decision_id, outcome.idempotency_key)
        if outcome.decision_id not in decided:
            answers.append(
                NotRecordedError(f"the log has no decision {outcome.decision_id}; give the id that came with it")
            )
        elif place not in earlier:
            rows.append((key, *place, float(outcome.time), *outcome.values))
            earlier[place] = (key, outcome.values)
            answers.append(Logged(key, is_new=True))
            key += 1
        elif earlier[place][1] == outcome.values:
            answers.append(Logged(earlier[place][0], is_new=False))
        else:
            what = f"another outcome of decision {outcome.decision_id} has the key {shown(outcome.key)}"
            answers.append(ConflictError(f"{what}; give a correction a key of its own"))
    insert_rows(connection, backend, schema.outcomes, rows)
    return answers


def read_outcome_mark(connection: Connection) -> tuple[int, int]:
    """How many outcomes there are, and the key of the newest: equal marks mean that nothing came and nothing went."""
    number, newest = connection.execute(select(func.count(), func.max(schema.outcomes.c.key))).one()
    return int(number), int(newest or 0)


def count_decisions(connection: Connection, before: float | None) -> int:
    """How many decisions are older than a moment; None counts all."""
    return count_rows(connection, schema.decisions, *_older(before))


def forget_decisions(connection: Connection, before: float | None) -> int:
    """Remove the decisions older than a moment, or all, with their outcomes; returns how many. Their ids stay used."""
    decisions = schema.decisions
    old = select(decisions.c.key).where(*_older(before))
    highest = connection.execute(select(func.max(decisions.c.key))).scalar()
    if highest is not None:
        write_counter(connection, schema.LAST_DECISION, max(highest, read_counter(connection, schema.LAST_DECISION)))
    for table in (schema.outcomes, schema.requests):
        connection.execute(delete(table).where(table.c.decision_key.in_(old)))
    return connection.execute(delete(decisions).where(decisions.c.key.in_(old))).rowcount


def _older(before: float | None) -> list[ColumnElement[bool]]:
    return [] if before is None else [schema.decisions.c.time < before]


def read_decision_tallies(connection: Connection) -> list[DecisionTally]:
    """One line per agent, skill and action that the log has."""
    table = schema.decisions
    by = (table.c.agent, table.c.fingerprint, table.c.skill_id, table.c.action)
    query = select(*by, func.count(), func.max(table.c.time)).group_by(*by).order_by(*by)
    return [
        DecisionTally(Agent(agent, fingerprint), skill, action, count, last)
        for agent, fingerprint, skill, action, count, last in connection.execute(query)
    ]


def _decision_row(key: int, record: DecisionRecord) -> tuple[object, ...]:
    return (
        *(key, float(record.time), record.agent.name, record.agent.fingerprint),
        *(record.skill_id, record.skill_digest, record.task_id, record.text_digest, record.action),
        *(float(record.gain), float(record.threshold), record.reason),
        json.dumps(dict(record.evidence), ensure_ascii=False),
    )


def _known_conversations(connection: Connection, records: Sequence[DecisionRecord]) -> dict[tuple[str, str], int]:
    table = schema.requests
    conversations = sorted({record.conversation for record in records if record.conversation})
    return {
        (row.conversation, row.skill_id): row.decision_key
        for chunk in chunked(conversations)
        for row in connection.execute(select(table).where(table.c.conversation.in_(chunk)))
    }


def _can_be_id(number: int) -> bool:
    """Databases count to 2^63 and raise an error of their own beyond it, where callers may ask for any number."""
    return 0 < number < 2**63


def _known_outcomes(
    connection: Connection, decision_ids: Sequence[int]
) -> dict[tuple[int, str], tuple[int, tuple[float | None, ...]]]:
    table = schema.outcomes
    return {
        (row.decision_key, row.idempotency_key): (row.key, (row.success, row.tokens, row.seconds, row.cost_usd))
        for chunk in chunked(decision_ids)
        for row in connection.execute(select(table).where(table.c.decision_key.in_(chunk)))
    }


def _conditions(chosen: DecisionFilter) -> list[ColumnElement[bool]]:
    decisions, requests = schema.decisions, schema.requests
    exact = (
        (decisions.c.skill_id, chosen.skill_id),
        (decisions.c.action, chosen.action),
        (decisions.c.agent, chosen.agent),
        (requests.c.source, chosen.source),
    )
    conditions: list[ColumnElement[bool]] = [column == value for column, value in exact if value is not None]
    if chosen.before is not None:
        conditions.append(decisions.c.key < chosen.before)
    if chosen.since is not None:
        conditions.append(decisions.c.time >= chosen.since)
    if chosen.outcomes_after is not None:
        outcomes = schema.outcomes
        conditions.append(
            decisions.c.key.in_(select(outcomes.c.decision_key).where(outcomes.c.key > chosen.outcomes_after))
        )
    if chosen.search:
        searched = (decisions.c.skill_id, decisions.c.task_id, decisions.c.reason, requests.c.text)
        conditions.append(or_(*(column.icontains(chosen.search, autoescape=True) for column in searched)))
    return conditions


def _read(
    connection: Connection, conditions: Sequence[ColumnElement[bool]], *, limit: int | None
) -> list[DecisionRecord]:
    request = schema.requests.c["conversation", "source", "text"]
    query = select(schema.decisions, *request).select_from(_JOINED).where(*conditions)
    rows = connection.execute(query.order_by(schema.decisions.c.key.desc()).limit(limit)).all()
    for row in rows:
        if not is_intact("decisions", row[: len(schema.decisions.c)]):
            raise changed_row(f"the decision {row.key}")
    outcomes = _outcomes_of(connection, [row.key for row in rows])
    return [_record(row, tuple(outcomes[row.key])) for row in rows]


def _outcomes_of(connection: Connection, decision_ids: Sequence[int]) -> defaultdict[int, list[RecordedOutcome]]:
    table = schema.outcomes
    outcomes: defaultdict[int, list[RecordedOutcome]] = defaultdict(list)
    for chunk in chunked(decision_ids):
        query = select(table).where(table.c.decision_key.in_(chunk)).order_by(table.c.key)
        for row in connection.execute(query):
            if not is_intact("outcomes", row):
                raise changed_row(f"the outcome {row.key} of decision {row.decision_key}")
            numbers = {name: getattr(row, name) for name in AMOUNTS}
            outcome = RecordedOutcome(row.decision_key, row.time, **numbers, key=row.idempotency_key)
            outcomes[row.decision_key].append(outcome)
    return outcomes


def _record(row: Row[tuple[object, ...]], outcomes: tuple[RecordedOutcome, ...]) -> DecisionRecord:
    return DecisionRecord(
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
        conversation=row.conversation or "",
        source=row.source or "",
        text=row.text,
        outcomes=outcomes,
    )
