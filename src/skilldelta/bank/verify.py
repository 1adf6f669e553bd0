"""Whether a bank is whole: the database's own checks, references, digests, and values in range."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection, TableClause, func, select

from skilldelta.bank import schema
from skilldelta.bank.database import Backend
from skilldelta.bank.schema import Head, Row, count_rows, is_intact
from skilldelta.nouns import plural
from skilldelta.records import CONDITIONS, STATUSES, text_digest
from skilldelta.skill_folder import folder_digest

_PARENTS = (
    (schema.executions, "agent_key", schema.agents),
    (schema.executions, "task_key", schema.tasks),
    (schema.executions, "skill_key", schema.skills),
    (schema.listed_executions, "agent_key", schema.agents),
    (schema.listed_executions, "task_key", schema.tasks),
    (schema.listed_executions, "skill_key", schema.skills),
    (schema.judgements, "agent_key", schema.agents),
    (schema.judgements, "task_key", schema.tasks),
    (schema.judgements, "skill_key", schema.skills),
    (schema.skill_files, "skill_key", schema.skills),
    (schema.vectors, "encoder_key", schema.encoders),
    (schema.requests, "decision_key", schema.decisions),
    (schema.outcomes, "decision_key", schema.decisions),
)
_ROWS_AT_ONCE = 10_000
_LENGTH_TOLERANCE = 1e-3
_NAMED = 5


def problems(connection: Connection, backend: Backend, acknowledged: Head | None = None) -> list[str]:
    """One line per problem; empty means that nothing is wrong."""
    damaged = backend.problems(connection)
    if damaged:
        return damaged  # queries on a damaged file would only fail, or repeat it
    missing = backend.lost(connection, acknowledged)
    changed = [line for table in schema.TABLES for line in _changed_rows(connection, table)]
    return [*([missing] if missing else []), *_gaps(connection), *_wrong_content(connection, bool(changed)), *changed]


def _wrong_content(connection: Connection, is_changed: bool) -> list[str]:
    try:
        return [
            *_orphans(connection),
            *_wrong_values(connection),
            *_wrong_texts(connection),
            *_wrong_vectors(connection),
        ]
    except (AttributeError, TypeError, ValueError):
        if is_changed:  # a damaged value may be of any type; its checksum says so
            return []
        raise


def _gaps(connection: Connection) -> list[str]:
    """One line if the list of commits is not whole."""
    table = schema.commits
    count, last = connection.execute(select(func.count(), func.max(table.c.number))).one()
    return [] if count == (last or 0) else [f"the list of commits has {count} entries and ends with number {last}"]


def _orphans(connection: Connection) -> list[str]:
    problems = []
    for table, column, parent in _PARENTS:
        count = count_rows(connection, table, table.c[column].not_in(select(parent.c.key)))
        if count:
            problems.append(f"{plural(count, 'orphan row')} in {table.name}: the {parent.name} row is missing")
    return problems


def _wrong_values(connection: Connection) -> list[str]:
    unknown = count_rows(connection, schema.executions, schema.executions.c.condition.not_in(CONDITIONS))
    problems = [f"{plural(unknown, 'execution has', 'executions have')} an unknown condition"] if unknown else []
    for table in (schema.executions, schema.listed_executions):
        problems += _wrong_runs(connection, table)
    return problems


def _wrong_runs(connection: Connection, table: TableClause) -> list[str]:
    checks = {
        "an unknown status": table.c.status.not_in(STATUSES),
        "a success outside [0, 1]": (table.c.success < 0) | (table.c.success > 1),
        "a success though not completed": (table.c.status != "completed") & table.c.success.is_not(None),
        "a negative repetition": table.c.repetition < 0,
    }
    problems = []
    for what, wrong in checks.items():
        count = count_rows(connection, table, wrong)
        if count:
            problems.append(f"{plural(count, 'execution has', 'executions have')} {what}")
    return problems


def _wrong_texts(connection: Connection) -> list[str]:
    tasks, skills = schema.tasks, schema.skills
    problems = []
    rows = connection.execution_options(yield_per=_ROWS_AT_ONCE)
    for suite, task_id, text, digest in rows.execute(select(*tasks.c["suite", "task_id", "text", "text_digest"])):
        if bytes.fromhex(text_digest(text)) != digest:
            problems.append(
                f"the text of task {task_id!r} in suite {suite!r} does not have its digest {digest.hex()[:12]}"
            )
    query = select(*schema.skill_files.c["skill_key", "files"])
    beside = {row.skill_key: row.files for row in connection.execute(query)}
    for key, skill_id, text, digest in rows.execute(select(*skills.c["key", "skill_id", "text", "digest"])):
        if text and folder_digest(text_digest(text), beside.get(key, "")) != digest:
            problems.append(f"the text of skill {skill_id!r} does not have its digest {digest[:12]}")
    return problems


def _wrong_vectors(connection: Connection) -> list[str]:
    encoders, vectors = schema.encoders, schema.vectors
    problems = []
    for key, identity, dimension in connection.execute(select(*encoders.c["key", "identity", "dimension"])).all():
        query = select(vectors.c.text_digest, vectors.c.vector).where(vectors.c.encoder_key == key)
        result = connection.execution_options(yield_per=_ROWS_AT_ONCE).execute(query)
        for rows in result.partitions():
            sized = [(digest, blob) for digest, blob in rows if len(digest) == 32 and len(blob) == 4 * dimension]
            if len(sized) < len(rows):
                problems.append(
                    f"{plural(len(rows) - len(sized), 'vector')} of {identity!r} without {dimension} values and a digest"
                )
            matrix = np.frombuffer(b"".join(blob for _, blob in sized), np.float32).reshape(len(sized), dimension)
            with np.errstate(over="ignore", invalid="ignore"):  # a damaged value may be anything
                lengths = np.sqrt(np.vecdot(matrix, matrix))
            # A comparison with NaN is false, so a vector that is not finite is counted too.
            wrong = int((~(np.abs(lengths - 1) <= _LENGTH_TOLERANCE)).sum())
            if wrong:
                problems.append(f"{plural(wrong, 'vector')} of {identity!r} not of length 1")
    return problems


def _changed_rows(connection: Connection, table: TableClause) -> list[str]:
    """Rows that are no longer what was stored."""
    rows = connection.execution_options(yield_per=_ROWS_AT_ONCE).execute(select(*table.c))
    changed = [_name(row[:-1]) for row in rows if not is_intact(table.name, row)]
    if not changed:
        return []
    some = ", ".join(changed[:_NAMED]) + (", …" if len(changed) > _NAMED else "")
    return [f"{plural(len(changed), 'row')} of {table.name} changed since stored (wrong checksum): {some}"]


def _name(row: Row) -> str:
    """A row's key; a vector's is the digest of its text."""
    return str(next((value.hex()[:12] for value in row if isinstance(value, bytes)), row[0]))
