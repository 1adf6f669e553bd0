"""The bank's tables as queries see them, and their rows: checksums, keys, counters, commits, and insertion.

Keys, constraints and indexes are made by `migrations`; a test holds both to the same columns. `key` columns are integers
that grow in order of arrival; `task_id`, `skill_id` and the like are the user's own names.

Every row ends with a checksum over its other columns, so that a bit that flips on a disk is noticed: CRC-32 of the values
in the order of the columns. Executions and vectors have rules of their own that are quick enough to be checked whenever
they are read. Which row fails is for `verify` and `reading` to say.
"""

from __future__ import annotations

import secrets
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from struct import Struct
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

from sqlalchemy import ColumnElement, Connection, TableClause, column, func, insert, select, table, update
from sqlalchemy.types import BigInteger, Boolean, Float, LargeBinary, Text, TypeEngine

from skilldelta.errors import DamagedBankError

if TYPE_CHECKING:
    from skilldelta.bank.database import Backend

# The skill_id of no-skill executions that serve as the baseline of every skill of their task.
SHARED_SKILL = ""

# Meta counters.
SCHEMA_VERSION = "schema_version"
# Moves when evidence was added or removed.
REVISION = "revision"
# The revision up to which `panel_revisions` is complete. A program of an older version moves the revision alone.
PANELS_REVISION = "panels_revision"
# Moves when evidence was removed, so that keys may be used again.
REMOVALS = "removals"
# The highest id that a removed decision had: an id is never given twice.
LAST_DECISION = "last_decision"


def _table(name: str, /, **columns: type[TypeEngine[Any]]) -> TableClause:
    return table(name, *(column(own, kind) for own, kind in columns.items()), column("checksum", BigInteger))


def _all(kind: type[TypeEngine[Any]], *names: str) -> dict[str, type[TypeEngine[Any]]]:
    return dict.fromkeys(names, kind)


_AMOUNTS = _all(Float, "success", "tokens", "seconds", "cost_usd")

meta = _table("meta", name=Text, value=BigInteger)
agents = _table("agents", key=BigInteger, name=Text, fingerprint=Text)
skills = _table("skills", key=BigInteger, skill_id=Text, digest=Text, text=Text)
skill_files = _table("skill_files", skill_key=BigInteger, files=Text, sketch=Text)
tasks = _table("tasks", key=BigInteger, suite=Text, task_id=Text, family=Text, text=Text, text_digest=LargeBinary)
executions = _table(
    "executions",
    **_all(BigInteger, "key", "agent_key", "task_key", "skill_key"),
    condition=Text,
    **_all(BigInteger, "repetition", "attempt"),
    **_AMOUNTS,
    status=Text,
    recorded_at=Float,
)
# Executions of the third arm. They have a table of their own, so that no query of the arms of pairs meets them.
listed_executions = _table(
    "listed_executions",
    **_all(BigInteger, "key", "agent_key", "task_key", "skill_key", "repetition", "attempt"),
    **_AMOUNTS,
    status=Text,
    loaded=BigInteger,
    recorded_at=Float,
)
encoders = _table("encoders", key=BigInteger, identity=Text, dimension=BigInteger)
vectors = _table("vectors", encoder_key=BigInteger, text_digest=LargeBinary, vector=LargeBinary)
decisions = _table(
    "decisions",
    key=BigInteger,
    time=Float,
    **_all(Text, "agent", "fingerprint", "skill_id", "skill_digest", "task_id", "text_digest", "action"),
    **_all(Float, "gain", "threshold"),
    **_all(Text, "reason", "evidence"),
)
requests = _table("requests", decision_key=BigInteger, **_all(Text, "skill_id", "conversation", "source", "text"))
outcomes = _table("outcomes", **_all(BigInteger, "key", "decision_key"), idempotency_key=Text, time=Float, **_AMOUNTS)
judgements = _table(
    "judgements",
    **_all(BigInteger, "key", "agent_key", "task_key", "skill_key"),
    use=Boolean,
    tokens=Float,
    answer=Text,
)
learned_states = _table("learned_states", name=Text, part=Text, revision=BigInteger, kept_at=Float, data=LargeBinary)
commits = _table("commits", number=BigInteger, mark=BigInteger)
panel_revisions = _table("panel_revisions", agent_key=BigInteger, suite=Text, revision=BigInteger)
preferences = _table("preferences", name=Text, value=Text)

TABLES = (
    *(meta, agents, skills, tasks, executions, encoders, vectors, decisions, requests, outcomes, judgements, commits),
    *(learned_states, panel_revisions, preferences, listed_executions, skill_files),
)

# Rows

Row = Sequence[Any]
T = TypeVar("T")

_UNKNOWN = float("nan")  # stands for NULL; a real one is never stored
_NO_CHECKSUM = -1  # of a row that cannot have been stored
# What a reader finds in the place of the checksum in a bank that has none (schema version 1). No damage of one bit or
# byte makes this number of a checksum.
UNCHECKED = -0x536B446C536B446C
_integer, _float, _length = Struct("<cq").pack, Struct("<cd").pack, Struct("<cI").pack
_execution = Struct("<6q5d").pack


def row_checksum(row: Row) -> int:
    """The checksum of a row without its last column, whatever its types."""
    return crc32(b"".join(_encoded(value) for value in row))


def execution_checksum(row: Row) -> int:
    """The same for executions: whole numbers, then numbers, then words."""
    key, agent, task, skill, condition, repetition, attempt, success, tokens, seconds, cost_usd, status, recorded = row
    try:
        packed = _execution(
            *(key, agent, task, skill, repetition, attempt),
            _UNKNOWN if success is None else success,
            _UNKNOWN if tokens is None else tokens,
            _UNKNOWN if seconds is None else seconds,
            _UNKNOWN if cost_usd is None else cost_usd,
            recorded,
        )
    except struct.error:  # a value of another type than was stored
        return _NO_CHECKSUM
    return crc32(f"{condition} {status}".encode(), crc32(packed))


def task_checksum(row: Row) -> int:
    """`row_checksum` of a task, which is read more often than other names, in half the time."""
    key, suite, task_id, family, text, text_digest = row
    try:
        words = [suite.encode(), task_id.encode(), family.encode(), text.encode("utf-8", "surrogatepass")]
        pieces = [_integer(b"i", key)]
        for word in words:
            pieces += (_length(b"s", len(word)), word)
        return crc32(b"".join((*pieces, _length(b"b", len(text_digest)), text_digest)))
    except (AttributeError, TypeError, UnicodeEncodeError, struct.error):  # a value of another type than was stored
        return _NO_CHECKSUM


def vector_checksum(row: Row) -> int:
    """The same for vectors: the digest of the text, then the vector."""
    encoder_key, text_digest, vector = row
    try:
        return crc32(vector, crc32(text_digest, encoder_key))
    except TypeError:
        return _NO_CHECKSUM


def checksum_of(table: str) -> Callable[[Row], int]:
    """The rule of a table."""
    special = {"executions": execution_checksum, "vectors": vector_checksum, "tasks": task_checksum}
    return special.get(table, row_checksum)


def is_intact(table: str, row: Row) -> bool:
    """Whether a whole row, its checksum last, is what was stored."""
    return bool(row[-1] == checksum_of(table)(row[:-1]) or row[-1] == UNCHECKED)


def sealed(table: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows with their checksums behind them."""
    checksum = checksum_of(table)
    return ((*row, checksum(row)) for row in rows)


def changed_row(what: str) -> DamagedBankError:
    """What a reader is told who meets a row without its checksum."""
    return DamagedBankError(
        f"{what} in the bank was changed by something other than SkillDelta, or its disk fails (wrong checksum); "
        "restore a copy of the bank, and see: skilldelta bank verify"
    )


def _encoded(value: Any) -> bytes:
    if value is None:
        return b"n"
    if isinstance(value, int):
        return _integer(b"i", value)
    if isinstance(value, float):
        return _float(b"f", value + 0.0)  # SQLite keeps no sign of a zero
    if isinstance(value, str):
        raw = value.encode("utf-8", "surrogatepass")
        return _length(b"s", len(raw)) + raw
    return _length(b"b", len(value)) + bytes(value)


_CHUNK = 5_000  # below SQLite's limit of 32,766 parameters per statement


def next_key(connection: Connection, table: TableClause) -> int:
    """The first free key. Only under the write lock, which keeps others from taking it."""
    return int(connection.execute(select(func.max(table.c.key))).scalar() or 0) + 1


def write_counter(connection: Connection, counter: str, value: int) -> None:
    """Give a meta counter a value."""
    row = {"value": value, "checksum": row_checksum((counter, value))}
    if not connection.execute(update(meta).where(meta.c.name == counter).values(**row)).rowcount:
        connection.execute(insert(meta), {"name": counter, **row})


def read_counter(connection: Connection, counter: str) -> int:
    """A meta counter's value; 0 where it never moved."""
    return int(connection.execute(select(meta.c.value).where(meta.c.name == counter)).scalar() or 0)


def count_rows(connection: Connection, table: TableClause, *conditions: ColumnElement[bool]) -> int:
    """How many rows fit every condition."""
    return connection.execute(select(func.count()).select_from(table).where(*conditions)).scalar_one()


def chunked(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """A long list in pieces that fit into one statement."""
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]


def insert_rows(connection: Connection, backend: Backend, table: TableClause, rows: Iterable[Row]) -> None:
    """Insert rows that have the table's columns in order, without the checksum."""
    backend.insert_many(connection, table, [column.name for column in table.c], sealed(table.name, rows))


@dataclass(frozen=True, slots=True)
class Head:
    """The newest commit of a bank; `bank` is the mark of its first one, which tells banks apart."""

    bank: int
    number: int
    mark: int


def append_commit(connection: Connection) -> Head:
    """Number and mark the transaction under way; only under the write lock."""
    before = read_head(connection)
    number = 1 if before is None else before.number + 1
    mark = secrets.randbits(62)
    connection.execute(insert(commits), {"number": number, "mark": mark, "checksum": row_checksum((number, mark))})
    return Head(mark if before is None else before.bank, number, mark)


def read_head(connection: Connection) -> Head | None:
    """The newest commit that the bank has."""
    last = connection.execute(
        select(commits.c.number, commits.c.mark).order_by(commits.c.number.desc()).limit(1)
    ).first()
    return None if last is None else Head(read_mark(connection, 1) or 0, last.number, last.mark)


def read_mark(connection: Connection, number: int) -> int | None:
    """The mark of a commit; None where the bank does not have it."""
    mark = connection.execute(select(commits.c.mark).where(commits.c.number == number)).scalar()
    return None if mark is None else int(mark)
