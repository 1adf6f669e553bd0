"""Which format a source has, told from its beginning rather than from its name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from skilldelta.bank.importers.columns import FIELDS, PAIRS, RUNS, Columns
from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.paper_documents import SUPPORT_SCHEMA
from skilldelta.bank.importers.row_files import PARQUET_MAGIC, arrays_in, header_of
from skilldelta.bank.importers.source import RowError, Source
from skilldelta.bank.importers.vocabulary import ALIASES, arm_column, plain_name
from skilldelta.bank.importers.workbooks import is_workbook
from skilldelta.errors import shown
from skilldelta.files import fault
from skilldelta.json_text import decode_json
from skilldelta.nouns import listed

_HEAD = 1 << 20  # bytes read to find the first line
# Lines that may stand above the header of a table.
_MOST_ABOVE = 30
_REMEDY = "say --format NAME at the import"
_ALIASES = frozenset(plain_name(alias) for aliases in ALIASES.values() for alias in aliases) | {"task"}
_FIELDS = frozenset(map(plain_name, FIELDS))


def detect(source: Path | Source, defaults: Defaults | None = None) -> str:
    """The name of the format; an empty file or one of no known format is refused."""
    source = source if isinstance(source, Source) else Source(source)
    if is_workbook(source):
        return "workbook"
    raw = source.head(_HEAD)
    if raw.startswith(PARQUET_MAGIC):
        return "parquet"
    head = _text(raw)
    line = head.partition("\n")[0].strip()
    if not line:
        raise fault(source.path, 1, "the file is empty; give a file with at least one row")
    if line.startswith("["):
        return "json"
    if not line.startswith("{"):
        return _table_format(source.path, head, (defaults or Defaults()).columns)
    try:
        row = decode_json(line)
    except ValueError:
        format_ = _format_in_part(head)
    else:
        format_ = _format_of(source.path, row, defaults or Defaults())
    if not format_:
        keys = _keys_of(head)
        about = f"a JSON object with the keys {listed(list(map(shown, keys)), 6)} is of no known format" if keys else ""
        raise fault(source.path, 1, f"{about or f'the format cannot be told from {shown(line)}'}; {_REMEDY}")
    return format_


def _keys_of(head: str) -> list[str]:
    """The keys of an object that is written over several lines; none of one that is cut off or no JSON."""
    try:
        document = decode_json(head)
    except (ValueError, RecursionError):
        return []
    return list(document) if isinstance(document, dict) else []


def _text(raw: bytes) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16", "replace").lstrip("\ufeff").lstrip()
    return raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").lstrip()


def _format_of(path: Path, row: dict[str, Any], defaults: Defaults) -> str:
    """The format of a first line that is a whole JSON object: a row of JSONL, or a document on one line."""
    if row.get("schema") == SUPPORT_SCHEMA or isinstance(row.get("tasks"), list):
        return "paper-support"
    if isinstance(row.get("rows"), list):
        return "paper-panel"
    if "instance_id" in row and "arm" in row:
        return "paper-runs"
    try:
        form = Columns(defaults.columns, None, defaults.given).plan(row).form
    except RowError as error:
        if len(arrays_in(row)) == 1:
            return "json"
        if not any(_is_known(name) for name in row):
            return ""
        raise fault(path, 1, str(error)) from None
    return f"{form}.jsonl"


def _format_in_part(head: str) -> str:
    """The format of a document over several lines, or of a row that was cut off: its reader says what is wrong."""
    markers = (
        ("paper-support", "schema|tasks"),
        ("paper-panel", "rows"),
        ("json", "results|records|data|samples|examples|items|pairs|runs"),
        ("paper-runs", "instance_id"),
        ("runs.jsonl", "|".join(RUNS - PAIRS)),
        ("pairs.jsonl", "|".join(PAIRS)),
    )
    for name, keys in markers:
        if re.search(rf'[{{,]\s*"({keys})"\s*:', head):
            return name
    return ""


def _table_format(path: Path, head: str, columns: Mapping[str, Sequence[str]]) -> str:
    """A table has a header of known columns, though a title may stand above it."""
    line = head.partition("\n")[0].strip()
    for number, candidate in enumerate(head.split("\n")[:_MOST_ABOVE]):
        header = header_of(candidate)
        matches = sum(map(_is_known, header))
        if len(header) > 1 and ((columns and not number) or matches > (number > 0)):
            return "csv"
    raise fault(path, 1, f"the first line {shown(line)} is neither JSON nor a header of known columns; {_REMEDY}")


def _is_known(name: str) -> bool:
    plain = plain_name(name)
    return plain in _FIELDS or plain in _ALIASES or arm_column(name) is not None
