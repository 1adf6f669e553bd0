"""A checksum for every row, over all of its other columns: a bit that flips on a disk is noticed.

CRC-32 of the values in the order of `schema`. Executions and vectors have rules of their own that are quick enough to be
checked whenever they are read. Which row fails is for `verify` and `reading` to say.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from struct import Struct
from typing import Any
from zlib import crc32

from skilldelta.errors import BankError

Row = Sequence[Any]

_UNKNOWN = float("nan")  # stands for NULL; a real one is never stored
_NO_CHECKSUM = -1
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


def vector_checksum(row: Row) -> int:
    """The same for vectors: the digest of the text, then the vector."""
    encoder_key, text_digest, vector = row
    try:
        return crc32(vector, crc32(text_digest, encoder_key))
    except TypeError:
        return _NO_CHECKSUM


def checksum_of(table: str) -> Callable[[Row], int]:
    """The rule of a table."""
    return {"executions": execution_checksum, "vectors": vector_checksum}.get(table, row_checksum)


def sealed(table: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Rows with their checksums behind them."""
    checksum = checksum_of(table)
    return ((*row, checksum(row)) for row in rows)


def changed_row(what: str) -> BankError:
    """What a reader is told who meets a row without its checksum."""
    return BankError(
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
