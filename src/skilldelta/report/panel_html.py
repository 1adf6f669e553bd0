"""One panel as HTML: the summary, the policy table, the figures, accounting and remarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilldelta.report.content import Figure, Table
from skilldelta.report.families import FamilyList
from skilldelta.report.family_html import family_list_html
from skilldelta.report.figure_html import figure_html
from skilldelta.report.html import Markup, element
from skilldelta.report.tables import table_html
from skilldelta.report.verdict import Summary


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
