"""Files that grow by lines of JSON (the transcript, the ledger), and their repair when a crash tore the last one."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from skilldelta.errors import InputError

_BLOCK = 1 << 20


def append_lines(path: Path, lines: Sequence[bytes]) -> None:
    """Add whole lines, or none: what a full disk cut off is taken back. A new file is for its owner alone."""
    with open(path, "ab", buffering=0, opener=_private) as file:
        length = file.seek(0, os.SEEK_END)
        left = memoryview(b"".join(lines))
        try:
            while left:
                left = left[file.write(left) :]
        except OSError as error:
            file.truncate(length)
            raise InputError(
                f"{path} cannot be written ({error.strerror or error}); make room and run again"
            ) from error


def repair_end(path: Path) -> str:
    """Make a file of lines end with a whole line; returns what was moved aside, in words, or nothing.

    A last line that is whole but for its line end gets it. A torn one goes to `FILE.torn`, so that the next line is
    never glued to it.
    """
    if not path.exists():
        return ""
    with path.open("r+b") as file:
        start = _after_last_line(file)
        file.seek(start)
        tail = file.read()
        if not tail:
            return ""
        if _is_object(tail):
            file.write(b"\n")
            return ""
        aside = path.with_name(f"{path.name}.torn")
        append_lines(aside, [tail, b"\n"])
        file.truncate(start)
    return f"{path}: a crash or a full disk tore its last line; the {len(tail)} bytes are kept in {aside.name}"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _after_last_line(file: IO[bytes]) -> int:
    """Where the bytes after the last line end begin, read backwards: a transcript may be large."""
    place = file.seek(0, os.SEEK_END)
    while place > 0:
        begin = max(0, place - _BLOCK)
        file.seek(begin)
        found = file.read(place - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        place = begin
    return 0


def _is_object(tail: bytes) -> bool:
    try:
        return isinstance(json.loads(tail), dict)
    except (ValueError, RecursionError):
        return False
