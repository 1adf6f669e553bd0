"""The document around the panels: head, navigation, data and scripts.

The content security policy names the hashes of the page's own two scripts and allows nothing else, so the page can
neither load anything nor run a script that came in with a task text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from skilldelta.report.content import Figure, Spec
from skilldelta.report.figure_html import figure_html, plot_id
from skilldelta.report.html import Markup, element, json_script
from skilldelta.report.marks import config
from skilldelta.report.palette import dark_variables, light_variables
from skilldelta.report.panel_html import PanelContent, panel_html
from skilldelta.report.provenance import Provenance
from skilldelta.report.provenance_html import provenance_html
from skilldelta.report.tables import table_html

_SECTIONS = {
    "policies": "Policies",
    "ranking": "Ranking",
    "tradeoff": "Threshold",
    "advantage": "Selection",
    "components": "Components",
    "scaling": "Evidence",
    "help-harm": "Help and harm",
    "reliability": "Reliability",
    "accounting": "Cost",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A whole report, ready to be set."""

    title: str
    subtitle: str
    panels: Sequence[PanelContent]
    provenance: Provenance
    overview: Figure | None = None
    """What stands before the panels where there are several."""


def page_html(page: Page, *, library: str) -> str:
    """The document as text; `library` is the plotting script that it carries."""
    scripts = [library, _asset("report.js")]
    several = len(page.panels) > 1
    content = element(
        "div",
        _header(page),
        _bar(page),
        _overview(page.overview) if page.overview else None,
        *[panel_html(panel, with_title=several) for panel in page.panels],
        provenance_html(page.provenance),
        element(
            "footer",
            f"Made by SkillDelta {page.provenance.created}".strip() + ". This file loads nothing from anywhere.",
        ),
        class_="page",
    )
    data = {"config": config(), "plots": _plots(page)}
    carried = [json_script("report-data", data), *[element("script", Markup(script)) for script in scripts]]
    return "<!doctype html>\n" + element(
        "html", _head(page.title, scripts), element("body", content, *carried), lang="en"
    )


def _head(title: str, scripts: Sequence[str]) -> Markup:
    style = (
        f":root{{{light_variables()}}}"
        f":root[data-theme=dark]{{{dark_variables()}color-scheme:dark}}"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark_variables()}color-scheme:dark}}}}"
        f"@media print{{:root,:root[data-theme=dark]{{{light_variables()}color-scheme:light}}}}"
    )
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_security_policy(scripts)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(_asset("report.css") + style)),
    )


def _security_policy(scripts: Sequence[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'"


def _header(page: Page) -> Markup:
    words = element(
        "div",
        element("p", "SkillDelta report", class_="overline"),
        element("h1", page.title),
        element("p", page.subtitle, class_="quiet"),
    )
    return element("header", words, element("button", "Dark", type="button", id="theme", class_="theme js-only"))


def _bar(page: Page) -> Markup:
    chooser = _panel_select(page.panels) if len(page.panels) > 1 else None
    present = {figure.name for panel in page.panels for figure in panel.figures} | {"policies"}
    first = page.panels[0].place if page.panels else ""
    links = [
        element("a", words, href=f"#{first}-{name}", data_section=name)
        for name, words in _SECTIONS.items()
        if name in present
    ]
    return element(
        "nav", chooser, *links, element("a", "How it was made", href="#made"), class_="bar", aria_label="Sections"
    )


def _panel_select(panels: Sequence[PanelContent]) -> Markup:
    options = [element("option", panel.title, value=panel.place) for panel in panels]
    return element("label", "Panel", element("select", *options, id="panel-select"), class_="js-only")


def _overview(figure: Figure) -> Markup:
    # The table of an overview is its point, so it stands open above the plot.
    opened = table_html(figure.table) if figure.table else None
    closed = Figure(figure.name, figure.title, figure.words, figure.plots)
    return element("div", figure_html(closed, "all", after=opened), id="overview")


def _plots(page: Page) -> dict[str, Spec]:
    placed = [("all", page.overview)] if page.overview else []
    placed += [(panel.place, figure) for panel in page.panels for figure in panel.figures]
    return {plot_id(place, plot): plot.spec for place, figure in placed if figure for plot in figure.plots}


def _asset(name: str) -> str:
    return files("skilldelta.report").joinpath("assets", name).read_text(encoding="utf-8")
