"""The bank's tables as queries see them: names and types of today's columns.

Keys, constraints and indexes are made by `migrations`; a test holds both to the same columns. `key` columns are integers
that grow in order of arrival; `task_id`, `skill_id` and the like are the user's own names.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Boolean, Float, LargeBinary, TableClause, Text, column, table
from sqlalchemy.types import TypeEngine

SHARED_SKILL = ""
"""The skill_id of no-skill executions that serve as the baseline of every skill of their task."""

REVISION = "revision"
"""The meta counter that moves when evidence was added or removed."""
REMOVALS = "removals"
"""The meta counter that moves when evidence was removed, so that keys may be used again."""
SCHEMA_VERSION = "schema_version"
LAST_DECISION = "last_decision"
"""The meta counter of the highest id that a removed decision had: an id is never given twice."""


def _table(table_name: str, /, **columns: type[TypeEngine[Any]]) -> TableClause:
    """Every row ends with the checksum of its other columns; see `checksum`."""
    return table(table_name, *(column(name, kind) for name, kind in columns.items()), column("checksum", BigInteger))


meta = _table("meta", name=Text, value=BigInteger)
agents = _table("agents", key=BigInteger, name=Text, fingerprint=Text)
skills = _table("skills", key=BigInteger, skill_id=Text, digest=Text, text=Text)
tasks = _table("tasks", key=BigInteger, suite=Text, task_id=Text, family=Text, text=Text, text_digest=LargeBinary)
executions = _table(
    "executions",
    key=BigInteger,
    agent_key=BigInteger,
    task_key=BigInteger,
    skill_key=BigInteger,
    condition=Text,
    repetition=BigInteger,
    attempt=BigInteger,
    success=Float,
    tokens=Float,
    seconds=Float,
    cost_usd=Float,
    status=Text,
    recorded_at=Float,
)
encoders = _table("encoders", key=BigInteger, identity=Text, dimension=BigInteger)
vectors = _table("vectors", encoder_key=BigInteger, text_digest=LargeBinary, vector=LargeBinary)
decisions = _table(
    "decisions",
    key=BigInteger,
    time=Float,
    agent=Text,
    fingerprint=Text,
    skill_id=Text,
    skill_digest=Text,
    task_id=Text,
    text_digest=Text,
    action=Text,
    gain=Float,
    threshold=Float,
    reason=Text,
    evidence=Text,
)
requests = _table("requests", decision_key=BigInteger, skill_id=Text, conversation=Text, source=Text, text=Text)
outcomes = _table(
    "outcomes",
    key=BigInteger,
    decision_key=BigInteger,
    idempotency_key=Text,
    time=Float,
    success=Float,
    tokens=Float,
    seconds=Float,
    cost_usd=Float,
)
judgements = _table(
    "judgements",
    key=BigInteger,
    agent_key=BigInteger,
    task_key=BigInteger,
    skill_key=BigInteger,
    use=Boolean,
    tokens=Float,
    answer=Text,
)
learned_states = _table(
    "learned_states",
    name=Text,
    part=Text,
    revision=BigInteger,
    kept_at=Float,
    data=LargeBinary,
)

commits = _table("commits", number=BigInteger, mark=BigInteger)

TABLES = (
    *(meta, agents, skills, tasks, executions, encoders, vectors, decisions, requests, outcomes, judgements, commits),
    learned_states,
)


def columns_of(of_table: TableClause) -> tuple[str, ...]:
    """The names of a table's columns, in the order of its rows."""
    return tuple(column.name for column in of_table.c)
