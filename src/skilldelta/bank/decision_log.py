"""Decisions as they were given: kept beside the evidence, never part of it."""

from __future__ import annotations

import json

from sqlalchemy import Connection, select

from skilldelta.bank import schema
from skilldelta.bank.backend import Backend
from skilldelta.bank.entries import DecisionRecord
from skilldelta.bank.table_rows import insert_rows, next_key
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
