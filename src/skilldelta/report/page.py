"""The document: panels one after another, and around them head, navigation, data and scripts.

The content security policy names the hashes of the page's own two scripts and allows nothing else, so the page can
neither load anything nor run a script that came in with a task text.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skilldelta.report.content import Figure, Spec, Table
from skilldelta.report.figures.help_harm import FamilyList, family_list_html
from skilldelta.report.html import Markup, element, facts, figure_html, json_script, plot_id, small, table_html
from skilldelta.report.palette import asset, shared_style
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
    """A whole report, ready to become HTML."""

    title: str
    subtitle: str
    panels: Sequence[PanelContent]
    provenance: Provenance
    overview: Figure | None = None
    """What stands before the panels where there are several."""
    versions: Table | None = None
    """What each version of a skill gained, where a skill has several."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """How the report was made, and how to make it again: what its last section says."""

    command: str
    settings: Mapping[str, str] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    created: str = ""


def page_html(page: Page, *, library: str) -> str:
    """The document as text; `library` is the plotting script inside it."""
    parts = [
        _bar(page),
        _overview(page.overview) if page.overview else None,
        *[panel_html(panel, with_title=len(page.panels) > 1) for panel in page.panels],
        _versions(page.versions) if page.versions else None,
        _provenance(page.provenance),
    ]
    heading = header_html("SkillDelta report", page.title, page.subtitle)
    created = page.provenance.created
    return document_html(page.title, [heading, *parts], created=created, plots=_plots(page), library=library)


def document_html(
    title: str,
    parts: Sequence[Markup | None],
    *,
    created: str,
    plots: Mapping[str, Spec] | None = None,
    library: str = "",
) -> str:
    """A whole document around its parts; one without plots carries no plotting library."""
    footer = f"Made by SkillDelta {created}".strip() + ". This file loads nothing from anywhere."
    content = element("div", element("main", *parts), element("footer", footer), class_="page")
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


def header_html(kind: str, title: str, subtitle: str) -> Markup:
    """What stands on top: the kind of document, its title, what it is about, and the button for the theme."""
    words = element(
        "div",
        element("p", kind, class_="overline"),
        element("h1", title),
        element("p", subtitle, class_="quiet"),
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
    if page.versions:
        links.append(element("a", "Versions", href="#versions"))
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


def _versions(table: Table) -> Markup:
    return element(
        "section",
        element("h2", "Versions of the skills"),
        element(
            "p",
            "The gain of each version over its own tasks, oldest first. Runs without the skill serve every version; a change "
            "is over the tasks that the version before was run on, too.",
            class_="quiet",
        ),
        table_html(table),
        id="versions",
    )


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
    """Everything that one panel shows, ready to become HTML."""

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
    tiles = [
        element(
            "div", element("b", tile.value), element("span", tile.words), class_="tile own" if tile.is_own else "tile"
        )
        for tile in panel.tiles
    ]
    return element(
        "div",
        element("h2", panel.title, class_="panel-title") if with_title else None,
        _summary(panel.summary, panel.noise),
        element("div", *tiles, class_="tiles"),
        _policies(panel),
        skill_list_html(panel.skills, panel.place) if panel.skills else None,
        *figures,
        _notes(panel),
        class_="panel",
        id=panel.place,
    )


def _summary(summary: Summary, noise: str) -> Markup:
    lines = [
        ("What it did", summary.answer),
        ("How sure", summary.certainty),
        ("Against what", summary.comparison),
        ("Noise floor", noise),
    ]
    return verdict_html("Should I use the gate here?", summary.headline, summary.tone, lines)


def verdict_html(
    question: str, answer: str, tone: str, lines: Sequence[tuple[str, str]], *, warnings: Sequence[str] = ()
) -> Markup:
    """The box that answers the reader's first question; a line without a text is left out."""
    return element(
        "div",
        element("p", question, class_="overline"),
        element("h2", answer),
        *[element("p", warning, class_="bad") for warning in warnings],
        facts((title, text) for title, text in lines if text),
        class_=f"verdict {tone}",
    )


def sentence(words: str) -> str:
    """Words with a capital letter and a full stop."""
    return f"{words[0].upper()}{words[1:]}."


def _policies(panel: PanelContent) -> Markup:
    return element(
        "section",
        element("h2", "Every policy on the same tasks"),
        table_html(panel.policies, own=panel.gate, css="policies"),
        small(
            "Small print below a number is its 95% interval. A dash is unknown, never zero. Click a heading to sort."
        ),
        element("details", element("summary", "What each policy does"), facts(panel.meanings, css="facts")),
        id=f"{panel.place}-policies",
    )


def _notes(panel: PanelContent) -> Markup | None:
    if not panel.notes:
        return None
    items = [element("li", note) for note in panel.notes]
    return element(
        "section", element("h2", "Remarks"), element("ul", *items, class_="notes"), id=f"{panel.place}-remarks"
    )


def _provenance(provenance: Provenance) -> Markup:
    listed = (
        ("Settings", provenance.settings),
        ("Versions", provenance.versions),
        ("Hashes (SHA-256)", provenance.hashes),
    )
    return element(
        "section",
        element("h2", "How this was made"),
        element("p", "This command makes the report again from the same bank:"),
        element("pre", element("code", provenance.command), class_="command"),
        *[
            element("div", element("h3", title), facts(entries.items(), css="facts"))
            for title, entries in listed
            if entries
        ],
        id="made",
    )
