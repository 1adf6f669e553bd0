"""The transcript: one JSON object per line for every execution, with its conversation and its grade; and the repair of files
of lines, such as this one and the ledger, when a crash tore the last one.

Lone surrogates, which UTF-8 cannot hold, are written as their JSON escapes: a reader of the JSON gets the text exactly as
the model sent it.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from skilldelta.errors import InputError
from skilldelta.json_text import decode_json
from skilldelta.redaction import without_known_secrets

TRANSCRIPT_FILE = "transcript.jsonl"
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_ROW_START = b'{"sample":'
_BLOCK = 1 << 20


def encode_row(row: Mapping[str, Any]) -> bytes:
    """One line, known secrets masked. A surrogate stands in a JSON string only, where its backslash form is an escape."""
    return without_known_secrets(_encode(row)).encode("utf-8", "backslashreplace") + b"\n"


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a transcript; lines that hold none are passed over."""
    if not path.exists():
        return
    with path.open("rb") as file:
        for line in file:
            row = read_row(line)
            if row is not None:
                yield row


def read_row(line: bytes) -> dict[str, Any] | None:
    """The row of a line; where an earlier version glued a row to a torn one, the whole one at the end."""
    start = 0
    while start >= 0:
        try:
            row = decode_json(line[start:])
        except ValueError:
            start = line.find(_ROW_START, start + 1)
            continue
        return row if isinstance(row, dict) and "sample" in row else None
    return None


def count_reasons(folder: Path, samples: Collection[str]) -> Counter[str]:
    """The last reason of each named sample that has no result yet. Reasons that differ in the task alone are one."""
    reasons: dict[str, str] = {}
    for row in read_rows(folder / TRANSCRIPT_FILE):
        sample = str(row["sample"])
        if sample not in samples:
            continue
        if row.get("error"):
            reasons[sample] = re.sub(r"\btask '[^']*'", "a task", str(row["error"]))
        else:
            reasons.pop(sample, None)
    return Counter(reasons.values())


def count_empty_answers(folder: Path, samples: Collection[str]) -> int:
    """How many of the named samples were answered with nothing, by their last rows: they count as failures."""
    is_empty: dict[str, bool] = {}
    for row in read_rows(folder / TRANSCRIPT_FILE):
        if str(row["sample"]) in samples and row.get("status") == "completed":
            is_empty[str(row["sample"])] = not str(row.get("answer") or "").strip()
    return sum(is_empty.values())


def append_lines(path: Path, lines: Sequence[bytes]) -> None:
    """Add whole lines, or none: what a full disk cut off is taken back. A new file is for its owner alone."""
    with open(path, "ab", buffering=0, opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
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


def _after_last_line(file: IO[bytes]) -> int:
    """Where the bytes after the last line end begin, read backwards: a transcript may be large."""
    place = file.seek(0, os.SEEK_END)
    while place > 0:
        begin = max(0, place - _BLOCK)
        file.seek(begin)
        newline = file.read(place - begin).rfind(b"\n")
        if newline >= 0:
            return begin + newline + 1
        place = begin
    return 0


def _is_object(tail: bytes) -> bool:
    try:
        return isinstance(decode_json(tail), dict)
    except ValueError:
        return False
