"""Banks of earlier schema versions, made by the migrations that made them then."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

from sqlalchemy import text

from skilldelta.bank import schema
from skilldelta.bank.batch import Batch
from skilldelta.bank.database import backend_of
from skilldelta.bank.entries import RecordedOutcome
from skilldelta.bank.migrations import MIGRATIONS
from skilldelta.bank.schema import append_commit, row_checksum
from skilldelta.bank.store import Bank
from skilldelta.records import Judgement

from .small import AGENT, DECISION, SKILL, THREE_PAIRS, vector

JUDGEMENT = Judgement(AGENT, "default", "t1", SKILL.skill_id, SKILL.digest, use=True, tokens=3, answer="Yes.")


def current_bank(path: Path) -> None:
    """A bank of the newest version with rows in the tables that people fill."""
    with Bank.open(path, create=True, clock=lambda: 1_700_000_000.25) as bank:
        bank.add(THREE_PAIRS)
        bank.add(Batch(vectors=[vector("What day is it?", 0.0, 0.6, 0.8)]))
        decision = bank.record_decision(
            replace(DECISION, conversation="c1", source="a harness", text="What day is it?")
        )
        bank.record_outcome(RecordedOutcome(decision, 1_700_000_001.5, success=1))
        bank.add_judgements([JUDGEMENT])


def older_bank(location: str, version: int, source: Path) -> None:
    """What a bank at `source` holds, as the program of an earlier schema version stored it at `location`."""
    backend = backend_of(location, 5)
    rows = sqlite3.connect(source)
    if backend.name == "sqlite":
        Path(location).touch()
    engine = backend.writer()
    with engine.begin() as connection:
        backend.mark(connection)
        for step in MIGRATIONS[:version]:
            step.upgrade(connection)
        checksum = ", checksum" if version > 1 else ""
        value = f", {row_checksum(('schema_version', version))}" if version > 1 else ""
        connection.exec_driver_sql(
            f"INSERT INTO meta (name, value{checksum}) VALUES ('schema_version', {version}{value})"
        )
        existing = _columns(connection)
        for table in schema.TABLES:
            if table.name not in existing or table.name == "commits":
                continue
            columns = [column.name for column in table.c if column.name in existing[table.name]]
            names = ", ".join(f'"{name}"' for name in columns)
            marks = ", ".join(f":{name}" for name in columns)
            insertion = text(f"INSERT INTO {table.name} ({names}) VALUES ({marks})")
            for row in rows.execute(f"SELECT {names} FROM {table.name}").fetchall():
                values = dict(zip(columns, row, strict=True))
                if values.get("name") in ("schema_version", "panels_revision"):
                    continue
                if table.name == "judgements":
                    values["use"] = bool(values["use"])
                connection.execute(insertion, values)
        if version > 1:
            append_commit(connection)
    engine.dispose()
    rows.close()


def _columns(connection: object) -> dict[str, set[str]]:
    from sqlalchemy import inspect

    tables = inspect(connection)
    return {name: {column["name"] for column in tables.get_columns(name)} for name in tables.get_table_names()}
