"""The document: panels one after another, and around them head, navigation, data and scripts.

The content security policy names the hashes of the page's own two scripts and allows nothing else, so the page can
neither load anything nor run a script that came in with a task text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from skilldelta.report.content import Figure, Spec, Table
from skilldelta.report.content_html import family_list_html, figure_html, plot_id, table_html
from skilldelta.report.families import FamilyList
from skilldelta.report.html import Markup, element, json_script
from skilldelta.report.provenance import Provenance, provenance_html
from skilldelta.report.shared_style import asset, shared_style
from skilldelta.report.skill_list import SkillList, skill_list_html
from skilldelta.report.vega import config
from skilldelta.report.verdict import Summary

_SECTIONS = {
    "policies": "Policies",
    "skills": "Skills",
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
    return document_html(page.title, content, plots=_plots(page), library=library)


def document_html(title: str, content: Markup, *, plots: dict[str, Spec] | None = None, library: str = "") -> str:
    """A whole document around its content; one without plots carries no plotting library."""
    scripts = [*([library] if library else []), asset("report.js")]
    data = {"config": config(), "plots": plots or {}}
    carried = [json_script("report-data", data), *[element("script", Markup(script)) for script in scripts]]
    return "<!doctype html>\n" + element("html", _head(title, scripts), element("body", content, *carried), lang="en")


def _head(title: str, scripts: Sequence[str]) -> Markup:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_security_policy(scripts)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(shared_style() + asset("report.css"))),
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
    present |= {"skills" for panel in page.panels if panel.skills}
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


@dataclass(frozen=True, slots=True)
class Tile:
    """One number at a glance."""

    value: str
    words: str
    is_own: bool = False


@dataclass(frozen=True, slots=True)
class PanelContent:
    """Everything that one panel shows, ready to be set."""

    place: str
    """The panel's id in the page, and the prefix of its sections' ids."""
    title: str
    gate: str
    summary: Summary
    noise: str
    """The noise floor in one sentence, or nothing."""
    tiles: Sequence[Tile]
    policies: Table
    meanings: Sequence[tuple[str, str]]
    figures: Sequence[Figure]
    families: Sequence[FamilyList]
    notes: Sequence[str]
    skills: SkillList | None = None


def panel_html(panel: PanelContent, *, with_title: bool) -> Markup:
    """The panel's part of the page; its title is left out where the page is about nothing else."""
    figures = [
        figure_html(figure, panel.place, after=family_list_html(panel.families) if figure.name == "help-harm" else None)
        for figure in panel.figures
    ]
    return element(
        "div",
        element("h2", panel.title, class_="panel-title") if with_title else None,
        _summary(panel.summary, panel.noise),
        element("div", *[_tile(tile) for tile in panel.tiles], class_="tiles"),
        _policies(panel),
        skill_list_html(panel.skills, panel.place) if panel.skills else None,
        *figures,
        _notes(panel),
        class_="panel",
        id=panel.place,
    )


def _summary(found: Summary, noise: str) -> Markup:
    lines = [
        ("What it did", found.answer),
        ("How sure", found.certainty),
        ("Against what", found.comparison),
        ("Noise floor", noise),
    ]
    facts = [part for title, text in lines if text for part in (element("dt", title), element("dd", text))]
    return element(
        "div",
        element("p", "Should I use the gate here?", class_="overline"),
        element("h2", found.headline),
        element("dl", *facts),
        class_=f"verdict {found.tone}",
    )


def _tile(tile: Tile) -> Markup:
    return element(
        "div", element("b", tile.value), element("span", tile.words), class_="tile own" if tile.is_own else "tile"
    )


def _policies(panel: PanelContent) -> Markup:
    meanings = [part for name, text in panel.meanings for part in (element("dt", name), element("dd", text))]
    return element(
        "section",
        element("h2", "Every policy on the same tasks"),
        table_html(panel.policies, own=panel.gate, css="policies"),
        element(
            "p",
            "Small print below a number is its 95% interval. A dash is unknown, never zero. Click a heading to sort.",
            class_="quiet small",
        ),
        element("details", element("summary", "What each policy does"), element("dl", *meanings, class_="facts")),
        id=f"{panel.place}-policies",
    )


def _notes(panel: PanelContent) -> Markup | None:
    if not panel.notes:
        return None
    items = [element("li", note) for note in panel.notes]
    return element(
        "section", element("h2", "Remarks"), element("ul", *items, class_="notes"), id=f"{panel.place}-remarks"
    )
