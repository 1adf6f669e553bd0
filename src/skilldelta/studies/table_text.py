"""Tables of a study as words and as JSON: one way of writing each kind of figure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from skilldelta.studies.paper_table import Cell, Kind, PaperTable

UNKNOWN = "–"


def written(value: Cell, kind: Kind) -> str:
    """A figure as people read it; what is not known is a dash."""
    if isinstance(value, tuple):
        scale, digits = (100, 1) if kind == "span_points" else (1, 3)
        ends = [_number(scale * end, digits) if _is_known(end) else "" for end in value]  # type: ignore[operator]
        return f"{ends[0]}…{ends[1]}" if all(ends) else UNKNOWN
    if isinstance(value, str):
        return value
    if not _is_known(value):
        return UNKNOWN
    assert value is not None
    match kind:
        case "count":
            return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
        case "percent":
            return _number(100 * value, 1)
        case "points":
            return f"{round(100 * value, 1) + 0.0:+.1f}"
        case _:
            return _number(value, 3)


def tables_markdown(tables: Sequence[PaperTable]) -> str:
    """All tables as one Markdown document; percentages and points are out of 100.

    Examples:
        >>> tables_markdown(paper_tables(evaluated)).splitlines()[0]
        '## Task success, and tokens saved against always on'
    """
    return "\n".join(line for table in tables for line in _lines(table))


def tables_document(tables: Sequence[PaperTable]) -> dict[str, Any]:
    """All tables by key, each a list of rows by column name; rates are fractions, spans are pairs.

    Examples:
        >>> tables_document(paper_tables(evaluated))["structure"][0]["groups"]
        2
    """
    return {
        table.key: [
            {column.name: _plain(cell) for column, cell in zip(table.columns, row, strict=True)} for row in table.rows
        ]
        for table in tables
    }


def _lines(table: PaperTable) -> list[str]:
    head = "| " + " | ".join(column.name for column in table.columns) + " |"
    rule = "|" + "|".join("---" if column.kind == "text" else "---:" for column in table.columns) + "|"
    rows = [
        "| "
        + " | ".join(_escaped(written(cell, column.kind)) for column, cell in zip(table.columns, row, strict=True))
        + " |"
        for row in table.rows
    ]
    return [f"## {table.title}", "", head, rule, *rows, "", *([table.note + ".", ""] if table.note else [])]


def _escaped(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _plain(cell: Cell) -> Any:
    if isinstance(cell, tuple):
        return [end if _is_known(end) else None for end in cell]
    return cell if isinstance(cell, str) or _is_known(cell) else None


def _is_known(value: Cell) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _number(value: float, digits: int) -> str:
    return f"{round(value, digits) + 0.0:,.{digits}f}"
