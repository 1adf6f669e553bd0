"""A table of the paper for one's own agents: named columns, how a panel's figures are taken, and how each is written.

Every table is figures first; JSON, Markdown and the terminal show the same ones. Intervals are the paper's, with scores and
actions fixed. A figure that a panel does not have is None.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from skilldelta.evaluation.results import PanelResult, Range

Kind = Literal["text", "count", "percent", "points", "ratio", "span_points", "span_ratio", "wins"]
Cell = str | float | tuple[float | None, float | None] | None
UNKNOWN = "–"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column's name, and how its figures are written."""

    name: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class PaperTable:
    """One table: rows of figures under named columns."""

    key: str
    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


# Who, and on what: the first columns of most tables.
PANEL_COLUMNS = (TableColumn("agent"), TableColumn("suite"))
_LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "−": "$-$",
    "–": "--",
    "…": r"\ldots{}",
    "×": r"$\times$",
}


@dataclass(frozen=True, slots=True)
class PanelFigure:
    """A column of a table with one row per panel, and how its figure is taken."""

    name: str
    kind: Kind
    read: Callable[[PanelResult], Cell]


def panel_table(
    key: str, title: str, figures: Sequence[PanelFigure], results: Sequence[PanelResult], note: str = ""
) -> PaperTable:
    """A table with one row per panel, which begins with the panel's name."""
    columns = (*PANEL_COLUMNS, *(TableColumn(figure.name, figure.kind) for figure in figures))
    rows = tuple((result.agent, result.suite, *(figure.read(result) for figure in figures)) for result in results)
    return PaperTable(key, title, columns, rows, note)


def figure_of(policy: str, metric: str) -> Callable[[PanelResult], float | None]:
    """A policy's figure on a panel; None where the panel lacks the policy."""
    return lambda panel: getattr(panel.policies[policy], metric) if policy in panel.policies else None


def span_of(policy: str, metric: str) -> Callable[[PanelResult], Cell]:
    """The paper's interval of a figure, with scores and actions fixed; None where the panel lacks the policy."""

    def read(panel: PanelResult) -> Cell:
        if policy not in panel.policies:
            return None
        interval = panel.policies[policy].conditional_intervals.get(metric, Range(None, None))
        return interval.low, interval.high

    return read


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


def tables_csv(tables: Sequence[PaperTable]) -> dict[str, str]:
    """Every table as CSV by its key, figures in full; a span has two columns."""
    files = {}
    for table in tables:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([name for column in table.columns for name in _csv_names(column)])
        for row in table.rows:
            cells = zip(table.columns, row, strict=True)
            writer.writerow([value for column, cell in cells for value in _csv_values(column, cell)])
        files[table.key] = text.getvalue()
    return files


def tables_latex(tables: Sequence[PaperTable]) -> str:
    """All tables as LaTeX, each in a `table` with its label; they need the package booktabs."""
    return "\n".join(line for table in tables for line in _latex_lines(table))


def _csv_names(column: TableColumn) -> list[str]:
    return [f"{column.name} low", f"{column.name} high"] if column.kind.startswith("span") else [column.name]


def _csv_values(column: TableColumn, cell: Cell) -> list[Any]:
    if column.kind.startswith("span"):
        return list(_plain(cell)) if isinstance(cell, tuple) else [None, None]
    return [_plain(cell)]


def _latex_lines(table: PaperTable) -> list[str]:
    marks = "".join("l" if column.kind == "text" else "r" for column in table.columns)
    head = " & ".join(_latex(column.name) for column in table.columns)
    rows = [
        " & ".join(_latex(written(cell, column.kind)) for column, cell in zip(table.columns, row, strict=True))
        for row in table.rows
    ]
    note = [rf"\par\scriptsize {_latex(table.note)}."] if table.note else []
    return [
        r"\begin{table}[ht]",
        r"\centering",
        rf"\caption{{{_latex(table.title)}.}}",
        rf"\label{{tab:{table.key.replace('_', '-')}}}",
        r"\scriptsize",
        rf"\begin{{tabular}}{{@{{}}{marks}@{{}}}}",
        r"\toprule",
        rf"{head} \\",
        r"\midrule",
        *(rf"{row} \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        *note,
        r"\end{table}",
        "",
    ]


def _latex(text: str) -> str:
    """A text as LaTeX writes it."""
    escaped = "".join(_LATEX.get(character, character) for character in text)
    return re.sub(r"(?<![\w$])-(?=\d)", "$-$", escaped)


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
