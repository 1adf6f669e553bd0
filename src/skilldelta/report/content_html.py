"""A report's content as HTML: tables whose headings sort them, figures, and the families of the help/harm list."""

from __future__ import annotations

from collections.abc import Sequence

from skilldelta.evaluation.policy_table import ORACLE, policies
from skilldelta.report.content import Cell, Column, Figure, Plot, Table
from skilldelta.report.families import FamilyList
from skilldelta.report.html import Markup, element, join
from skilldelta.report.numbers import count, points
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
    return element("div", join(*parts), class_="under")


def family_list_html(families: Sequence[FamilyList]) -> Markup:
    """All families, the most harmed first."""
    head = element("div", element("span"), *[_sort_button(*column) for column in _FAMILY_COLUMNS], class_="family-head")
    intro = element(
        "p",
        "Open a family to see the tasks that the skill harmed or helped, and what the gate did.",
        class_="quiet small",
    )
    return element(
        "div",
        element("h3", "The tasks behind it"),
        intro,
        head,
        *[_family(found) for found in families],
        class_="families",
    )


# Title, the key that it sorts by, and whether a phone has no room for it.
_FAMILY_COLUMNS = (
    ("Family", "label", False),
    ("Pairs", "pairs", True),
    ("Helped", "help", False),
    ("Harmed", "harm", False),
    ("Gain, points", "gain", False),
)


def _sort_button(title: str, key: str, wide_only: bool) -> Markup:
    button = element("button", title, type="button", data_sort=key)
    return element("span", button, class_="pairs" if wide_only else None)


def _family(found: FamilyList) -> Markup:
    counts = found.counts
    tone = "good" if counts.gain > 0 else "bad" if counts.gain < 0 else None
    line = element(
        "summary",
        element("span", found.label),
        element("span", count(counts.pairs), class_="pairs"),
        element("span", count(counts.help)),
        element("span", count(counts.harm)),
        element("span", points(counts.gain), class_=tone),
    )
    tasks = table_html(found.tasks, css="tasks") if found.tasks else None
    remark = element("p", found.remark, class_="quiet small") if found.remark else None
    return element(
        "details",
        line,
        tasks,
        remark,
        class_="family",
        data_label=found.label.casefold(),
        data_pairs=str(counts.pairs),
        data_help=str(counts.help),
        data_harm=str(counts.harm),
        data_gain=str(counts.gain),
    )
