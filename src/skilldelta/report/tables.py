"""A `Table` as HTML whose headings sort it; second lines of a cell are small print."""

from __future__ import annotations

from collections.abc import Sequence

from skilldelta.evaluation.policy_table import ORACLE, policies
from skilldelta.report.content import Cell, Column, Table
from skilldelta.report.html import Markup, element, join
from skilldelta.report.palette import role


def table_html(table: Table, *, own: str = "", css: str = "") -> Markup:
    """The table in a box that scrolls sideways on a narrow screen; the row of the policy `own` is set off."""
    head = element("tr", *[_heading(column) for column in table.columns])
    body = [_row(table.columns, row, own) for row in table.rows]
    caption = element("caption", table.caption) if table.caption else None
    made = element("table", caption, element("thead", head), element("tbody", *body), class_=css or None)
    box = f"scroll {css}-box" if css else "scroll"
    return element("div", made, class_=box, tabindex="0", role="region", aria_label=table.caption or "table")


def _heading(column: Column) -> Markup:
    button = element("button", column.title, type="button", title=column.meaning or None)
    return element("th", button, scope="col", class_="n" if column.numeric else None)


def _row(columns: Sequence[Column], row: Sequence[Cell], own: str) -> Markup:
    cells = [_cell(column, cell) for column, cell in zip(columns, row, strict=True)]
    return element("tr", *cells, class_="own" if own and row[0].tone == own else None)


def _cell(column: Column, cell: Cell) -> Markup:
    first, *more = cell.text.split("\n")
    swatch = _swatch(cell.tone) if cell.tone in policies() or cell.tone == ORACLE.name else None
    words: str = element("span", first, class_=cell.tone) if cell.tone in ("good", "bad") else first
    if cell.link:
        words = element("a", words, href=f"#{cell.link}")
    small = [element("small", line) for line in more]
    value = None if cell.value is None else str(cell.value)
    return element("td", join(swatch, words, *small), class_="n" if column.numeric else None, data_value=value)


def _swatch(policy: str) -> Markup:
    return element("span", class_="swatch", style=f"background:{role(policy)}", aria_hidden="true")
