"""Numbered changes of the tables, applied in order inside one transaction.

A file `mNNNN_what.py` has `VERSION` and `upgrade(connection)`. A fresh bank runs all of them, an older one those it lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from skilldelta.bank import schema
from skilldelta.bank.migrations import (
    m0001_first_tables,
    m0002_checksums,
    m0003_learned_states,
    m0004_requests_and_outcomes,
    m0005_panel_revisions,
    m0006_listed_executions,
    m0007_skill_files,
)
from skilldelta.bank.schema import write_counter


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from `version - 1` to `version`."""

    version: int
    upgrade: Callable[[Connection], None]


MIGRATIONS = (
    Migration(m0001_first_tables.VERSION, m0001_first_tables.upgrade),
    Migration(m0002_checksums.VERSION, m0002_checksums.upgrade),
    Migration(m0003_learned_states.VERSION, m0003_learned_states.upgrade),
    Migration(m0004_requests_and_outcomes.VERSION, m0004_requests_and_outcomes.upgrade),
    Migration(m0005_panel_revisions.VERSION, m0005_panel_revisions.upgrade),
    Migration(m0006_listed_executions.VERSION, m0006_listed_executions.upgrade),
    Migration(m0007_skill_files.VERSION, m0007_skill_files.upgrade),
)

LATEST = MIGRATIONS[-1].version


def migrate(connection: Connection, version: int, *, steps: Sequence[Migration] = MIGRATIONS) -> int:
    """Bring a bank of `version` (0: empty) to the newest one; returns the version it has then."""
    for step in steps:
        if step.version > version:
            step.upgrade(connection)
            version = step.version
    write_counter(connection, schema.SCHEMA_VERSION, version)
    return version
