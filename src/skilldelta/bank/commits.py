"""The commits of a bank, each with a mark of its own; and the last one that was acknowledged, kept outside of the bank.

A log file that is removed takes commits with it and leaves a bank without a fault. So the number and the mark of the last
acknowledged commit stand in a file beside a SQLite bank: if the bank does not have that commit, some were lost. A bank
that was copied without the file, or another bank in its place, is not blamed.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from sqlalchemy import Connection, func, insert, select

from skilldelta.bank import schema
from skilldelta.bank.table_rows import row_checksum
from skilldelta.files import flush_durably
from skilldelta.nouns import plural

_TITLE = "skilldelta-commits"
_WIDTH = 96
"""Bytes of the record: of one length always, so that it is overwritten by one write."""


@dataclass(frozen=True, slots=True)
class Head:
    """The newest commit of a bank; `bank` is the mark of its first one, which tells banks apart."""

    bank: int
    number: int
    mark: int


def append_commit(connection: Connection) -> Head:
    """Number and mark the transaction under way; only under the write lock."""
    table = schema.commits
    before = read_head(connection)
    number = 1 if before is None else before.number + 1
    mark = secrets.randbits(62)
    row = {"number": number, "mark": mark, "checksum": row_checksum((number, mark))}
    connection.execute(insert(table), row)
    return Head(mark if before is None else before.bank, number, mark)


def read_head(connection: Connection) -> Head | None:
    """The newest commit that the bank has."""
    table = schema.commits
    last = connection.execute(select(table.c.number, table.c.mark).order_by(table.c.number.desc()).limit(1)).first()
    return None if last is None else Head(_mark(connection, 1) or 0, last.number, last.mark)


def lost(connection: Connection, acknowledged: Head | None, location: str, file: Path) -> str | None:
    """One line if the bank lacks the acknowledged commit. Read `acknowledged` first: the bank may grow meanwhile."""
    head = read_head(connection)
    if acknowledged is None or head is None or head.bank != acknowledged.bank:
        return None
    if _mark(connection, acknowledged.number) == acknowledged.mark:
        return None
    missing = acknowledged.number - head.number
    what = (
        f"{plural(missing, 'acknowledged commit is', 'acknowledged commits are')} missing: its log was removed, or an "
        "older copy was put in its place"
        if missing > 0
        else "acknowledged commits are missing: a copy that was written elsewhere was put in its place"
    )
    return f"{what} ({location}); restore the newer bank with its log, or remove {file} to go on without them"


def gaps(connection: Connection) -> list[str]:
    """One line if the list of commits is not whole."""
    table = schema.commits
    count, last = connection.execute(select(func.count(), func.max(table.c.number))).one()
    return [] if count == (last or 0) else [f"the list of commits has {count} entries and ends with number {last}"]


def acknowledge(file: Path, head: Head) -> None:
    """Write the record down, durably. The commit itself is safe by then, so that a failure here is no failure of it."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    with suppress(OSError):
        descriptor = os.open(file, flags, 0o600)
        try:
            os.write(descriptor, _record(head))
            flush_durably(descriptor)
        finally:
            os.close(descriptor)


def acknowledged(file: Path) -> Head | None:
    """The record, or None where there is none that can be read."""
    try:
        raw = file.read_bytes()
        _, bank, number, mark, _ = raw.decode("ascii").split()
        head = Head(int(bank, 16), int(number), int(mark, 16))
    except (OSError, ValueError):
        return None
    return head if _record(head) == raw else None


def _record(head: Head) -> bytes:
    body = f"{_TITLE} {head.bank:x} {head.number} {head.mark:x}"
    return f"{body} {crc32(body.encode()):08x}".ljust(_WIDTH - 1).encode() + b"\n"


def _mark(connection: Connection, number: int) -> int | None:
    table = schema.commits
    found = connection.execute(select(table.c.mark).where(table.c.number == number)).scalar()
    return None if found is None else int(found)
