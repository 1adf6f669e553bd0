"""The transcript: one JSON object per line for every execution, with its conversation and its grade.

Lone surrogates, which UTF-8 cannot hold, are written as their JSON escapes: a reader of the JSON gets the text exactly as
the model sent it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from skilldelta.redaction import without_known_secrets

TRANSCRIPT_FILE = "transcript.jsonl"
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_ROW_START = b'{"sample":'


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
            row = json.loads(line[start:])
        except (ValueError, RecursionError):
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
