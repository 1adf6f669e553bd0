"""A `Figure` as a section: title, plots, the words below them, and the numbers in a table that opens."""

from __future__ import annotations

from skilldelta.report.content import Figure, Plot
from skilldelta.report.html import Markup, element, join
from skilldelta.report.tables import table_html


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
