"""Which format a file has, told from its first line rather than from its name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from skilldelta.bank.importers import pairs_jsonl, runs_jsonl
from skilldelta.bank.importers.csv_table import header_of
from skilldelta.bank.importers.fields import shown
from skilldelta.bank.importers.paper_support import SCHEMA
from skilldelta.bank.importers.source import check_file, fault
from skilldelta.errors import InputError

_HEAD = 1 << 20  # bytes read to find the first line
_REMEDY = "say --format NAME at the import"


def detect(path: Path) -> str:
    """The name of the file's format; an empty file or one of no known format is refused."""
    check_file(path)
    line, head = _first_line(path)
    if not line:
        raise fault(path, 1, "the file is empty; give a file with at least one row")
    if line.startswith("["):
        raise fault(path, 1, "the file is a JSON array; write one object a line (JSONL)")
    if not line.startswith("{"):
        return _table_format(path, line)
    try:
        found = _format_of(json.loads(line))
    except (ValueError, RecursionError):
        found = _format_in_part(head)
    if not found:
        raise fault(path, 1, f"the format cannot be told from {shown(line)}; {_REMEDY}")
    return found


def _first_line(path: Path) -> tuple[str, str]:
    """The first line that is not blank, and the file's beginning."""
    try:
        with path.open("rb") as file:
            raw = file.read(_HEAD)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the file and its permissions") from None
    head = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").lstrip()
    return head.partition("\n")[0].strip(), head


def _format_of(row: dict[str, Any]) -> str:
    """The format of a first line that is a whole JSON object: a row of JSONL, or a document on one line."""
    if row.get("schema") == SCHEMA or isinstance(row.get("tasks"), list):
        return "paper-support"
    if isinstance(row.get("rows"), list):
        return "paper-panel"
    if "instance_id" in row:
        return "paper-runs"
    if "condition" in row or "success" in row:
        return "runs.jsonl"
    if row.keys() & pairs_jsonl.COLUMNS:
        return "pairs.jsonl"
    return ""


def _format_in_part(head: str) -> str:
    """The format of a document over several lines, or of a row that was cut off: its reader says what is wrong."""
    markers = (
        ("paper-support", "schema|tasks"),
        ("paper-panel", "rows"),
        ("paper-runs", "instance_id"),
        ("runs.jsonl", "condition|success"),
        ("pairs.jsonl", "|".join(pairs_jsonl.COLUMNS)),
    )
    for name, keys in markers:
        if re.search(rf'[{{,]\s*"({keys})"\s*:', head):
            return name
    return ""


def _table_format(path: Path, line: str) -> str:
    known = set(header_of(line)) & (pairs_jsonl.COLUMNS | runs_jsonl.COLUMNS)
    if len(known) < 2:
        raise fault(path, 1, f"the first line {shown(line)} is neither JSON nor a header of known columns; {_REMEDY}")
    return "csv"
