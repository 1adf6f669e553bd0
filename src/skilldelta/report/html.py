"""HTML by small functions, and a report's tables and figures as HTML.

Every child that is not already `Markup` is escaped, so user text is always inert. In JSON inside a script element,
`</script>` in a task text cannot end the element.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Sequence
from typing import Any

from skilldelta.estimators.registry import ORACLE, policies
from skilldelta.files import jsonable
from skilldelta.report.content import Cell, Column, Figure, Plot, Table
from skilldelta.report.palette import role

_VOID = frozenset({"meta", "br", "hr", "input", "col"})


class Markup(str):
    """Text that is HTML already and is not escaped again."""

    __slots__ = ()


def element(tag: str, /, *children: str | None, **attributes: str | bool | None) -> Markup:
    """One element; `class_` and `data_x` become class and data-x, None and False attributes are left out."""
    opening = f"<{tag}{_attributes(attributes)}>"
    if tag in _VOID:
        return Markup(opening)
    return Markup(f"{opening}{join(*children)}</{tag}>")


def join(*children: str | None) -> Markup:
    """Children one after another: markup as it is, other text with its special characters as entities, None left out."""
    present = [child for child in children if child is not None]
    return Markup("".join(child if isinstance(child, Markup) else html.escape(child) for child in present))


def _attributes(attributes: dict[str, str | bool | None]) -> str:
    parts = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        name = key.rstrip("_").replace("_", "-")
        parts.append(f" {name}" if value is True else f' {name}="{html.escape(value)}"')
    return "".join(parts)


def json_script(name: str, value: Any) -> Markup:
    """A JSON data block that a script reads by its id; no character in it can end the element."""
    return element("script", Markup(script_safe_json(value)), type="application/json", id=name)


def script_safe_json(value: Any) -> str:
    """Compact JSON whose `<`, `>`, `&` and line separators are escapes; what is not finite is null."""
    text = json.dumps(jsonable(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_SCRIPT_ESCAPES)


_SCRIPT_ESCAPES = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def small(text: str) -> Markup:
    """A paragraph of small print."""
    return element("p", text, class_="quiet small")


def facts(entries: Iterable[tuple[str, str]], *, css: str | None = None) -> Markup:
    """Names and what is known of them, as a list of definitions."""
    parts = [part for name, text in entries for part in (element("dt", name), element("dd", text))]
    return element("dl", *parts, class_=css)


def table_html(table: Table, *, own: str = "", css: str = "") -> Markup:
    """The table in a box that scrolls sideways on a narrow screen; the row of the policy `own` is set off."""
    head = element("tr", *[_heading(column) for column in table.columns])
    body = [_row(table.columns, row, own) for row in table.rows]
    html = element("table", element("thead", head), element("tbody", *body), class_=css or None)
    box = f"scroll {css}-box" if css else "scroll"
    # A group and not a landmark: a page has many tables.
    name = f"Table: {', '.join(column.title for column in table.columns[:4])}"
    return element("div", html, class_=box, tabindex="0", role="group", aria_label=name)


def _heading(column: Column) -> Markup:
    button = element("button", column.title, type="button", title=column.meaning or None)
    return element("th", button, scope="col", class_="n" if column.numeric else None)


def _row(columns: Sequence[Column], row: Sequence[Cell], own: str) -> Markup:
    cells = [_cell(column, cell) for column, cell in zip(columns, row, strict=True)]
    return element("tr", *cells, class_="own" if own and row[0].tone == own else None)


def _cell(column: Column, cell: Cell) -> Markup:
    first, *more = cell.text.split("\n")
    swatch = None
    if cell.tone in policies() or cell.tone == ORACLE.name:
        swatch = element("span", class_="swatch", style=f"background:{role(cell.tone)}", aria_hidden="true")
    words: str = element("span", first, class_=cell.tone) if cell.tone in ("good", "bad") else first
    if cell.link:
        words = element("a", words, href=f"#{cell.link}")
    second_lines = [element("small", line) for line in more]
    value = None if cell.value is None else str(cell.value)
    return element("td", join(swatch, words, *second_lines), class_="n" if column.numeric else None, data_value=value)


def figure_html(figure: Figure, place: str, *, after: Markup | None = None) -> Markup:
    """One section with the id `place-name`; `after` stands below the figure, inside the section."""
    plots = [_plot(plot, place) for plot in figure.plots]
    drawn = element("div", *plots, class_="plots one" if len(plots) == 1 else "plots") if plots else None
    words = element("figcaption", *[element("p", sentence) for sentence in figure.words])
    return element(
        "section",
        element("h2", figure.title),
        element("figure", drawn, words, _under(figure)),
        after,
        id=f"{place}-{figure.name}",
        class_="long" if after else None,
    )


def plot_id(place: str, plot: Plot) -> str:
    """The name under which the page's script finds a plot's specification."""
    return f"{place}-{plot.name}"


def _plot(plot: Plot, place: str) -> Markup:
    canvas = element("div", class_="plot", data_plot=plot_id(place, plot), role="img", aria_label=plot.title)
    return element("div", element("p", plot.title, class_="plot-title"), canvas)


def _under(figure: Figure) -> Markup:
    parts = []
    if figure.table is not None:
        parts.append(element("details", element("summary", "The numbers"), table_html(figure.table)))
    if figure.plots:
        parts.append(element("button", "Save as SVG", type="button", class_="link js-only", data_save=""))
    return element("div", *parts, class_="under")
