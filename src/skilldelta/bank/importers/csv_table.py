"""CSV, in two forms: long with the columns of `runs.jsonl`, wide with those of `pairs.jsonl` and one number an arm.

The header decides the form. An empty cell is missing. Commas, semicolons and tabs are recognised as separators.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import Any

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers import pairs_jsonl, runs_jsonl
from skilldelta.bank.importers.draft import Defaults, Draft
from skilldelta.bank.importers.fields import check_columns, shown
from skilldelta.bank.importers.source import Place, Row, RowError, fault, lines, take_each
from skilldelta.nouns import plural

_SUCCESSES = frozenset(("y0", "y1", "success"))
_NUMBERS = _SUCCESSES | {"tokens0", "tokens1", "tokens", "seconds", "cost_usd", "repetition"}
_TRUTH = {"true": True, "false": False}


def read(path: Path, defaults: Defaults) -> Batch:
    """The batch of a table in either form."""
    draft = Draft(path, defaults)
    counts: Counter[Hashable] = Counter()

    def take(place: Place, row: Row) -> None:
        if "condition" in row:
            runs_jsonl.take_run(draft, counts, place, row)
        else:
            pairs_jsonl.take_pair(draft, place, row)

    take_each(path, _rows(path), take)
    return draft.batch()


def header_of(line: str) -> list[str]:
    """The column names of a header line."""
    try:
        names = next(csv.reader([line], delimiter=_separator(line)), [])
    except csv.Error:
        return []
    return [name.strip() for name in names]


def _rows(path: Path) -> Iterator[tuple[Place, Row]]:
    """The rows as JSON would give them, each with the line where it begins."""
    source = lines(path)
    first = next(source, None)
    if first is None or not first[1].strip():
        raise fault(path, 1, "the first line must name the columns; add a header such as task_id,text,family,…")
    header = header_of(first[1])
    try:
        _check_header(header)
    except RowError as error:
        raise fault(path, 1, str(error)) from None
    table = csv.reader((line for _, line in source), delimiter=_separator(first[1]), strict=True)
    begin = 2
    try:
        for cells in table:
            if cells:
                yield begin, _typed(path, begin, header, cells)
            begin = table.line_num + 2
    except csv.Error as error:
        raise fault(path, begin, f"not valid CSV ({error}); mend the quotes, or write JSONL instead") from None


def _separator(header: str) -> str:
    return max(",;\t", key=header.count)


def _check_header(header: list[str]) -> None:
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise RowError(f"the column {shown(twice[0])} stands twice in the header; keep one")
    if {"condition", "success"} <= set(header):
        check_columns(header, runs_jsonl.COLUMNS)
    elif {"y0", "y1"} <= set(header):
        check_columns(header, pairs_jsonl.COLUMNS)
    else:
        check_columns(header, runs_jsonl.COLUMNS | pairs_jsonl.COLUMNS)
        raise RowError("the header has neither condition and success (a run a row) nor y0 and y1 (a pair a row)")


def _typed(path: Path, line: int, header: list[str], cells: list[str]) -> dict[str, Any]:
    if len(cells) != len(header):
        raise fault(
            path,
            line,
            f"{plural(len(cells), 'cell')} for {plural(len(header), 'column')}; quote a text that holds the separator",
        )
    try:
        return {name: _value(name, cell) for name, cell in zip(header, cells, strict=True)}
    except RowError as error:
        raise fault(path, line, str(error)) from None


def _value(name: str, cell: str) -> Any:
    """A cell as its column's type; what is empty is missing."""
    bare = cell.strip()
    if not bare:
        return None
    if name not in _NUMBERS:
        return cell
    if name in _SUCCESSES and bare.lower() in _TRUTH:
        return _TRUTH[bare.lower()]
    try:
        return _number(bare)
    except ValueError:
        raise RowError(
            f"{name} must be a number, got {shown(cell)}; leave the cell empty where it is missing"
        ) from None


def _number(cell: str) -> int | float:
    if "_" in cell:  # Python would read 1_0 as ten
        raise ValueError(cell)
    try:
        return int(cell)
    except ValueError:
        return float(cell)
