"""Help and harm by family: where the skill repairs tasks, where it breaks them, and where it changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skilldelta.evaluation.results import PanelResult, Structure
from skilldelta.nouns import plural
from skilldelta.report.content import Figure, Plot, Spec
from skilldelta.report.families import FamilyRows, groups
from skilldelta.report.numbers import count, percent, points
from skilldelta.report.palette import role
from skilldelta.report.vega import base, number_axis, reference_line, row_axis, tooltip

SHOWN = 40
"""Families drawn at most; beyond that those with the largest gain or loss, and the list has all."""


def help_harm(panel: PanelResult) -> Figure:
    """Share of pairs helped and harmed, family by family, sorted by mean gain."""
    found = groups(panel)
    drawn = _drawn(found)
    title = "Share of pairs harmed (left) and helped (right) by family; the diamond is the mean gain"
    return Figure(
        name="help-harm",
        title="Where does the skill help, and where does it harm?",
        words=_words(panel, found, len(drawn)),
        plots=[Plot("help-harm", spec(rows(drawn)), title)] if drawn else (),
    )


def rows(drawn: Sequence[FamilyRows]) -> list[dict[str, Any]]:
    """One row per family: shares of pairs, harm as a negative number."""
    return [
        {
            "family": group.label,
            "help": group.counts.help / group.counts.pairs,
            "harm": -group.counts.harm / group.counts.pairs,
            "harmed": group.counts.harm / group.counts.pairs,
            "gain": group.counts.gain,
            "points": 100 * group.counts.gain,
            "pairs": group.counts.pairs,
            "off": group.counts.off,
            "on": group.counts.on,
        }
        for group in drawn
    ]


def spec(data: list[dict[str, Any]]) -> Spec:
    """Harm to the left, help to the right, the net gain as a tick."""
    y = row_axis("family", [row["family"] for row in data])
    axis = {"format": ".0%", "labelExpr": "format(abs(datum.value), '.0%')", "tickCount": 6}
    hover = tooltip(
        ("family", "Family", ""),
        ("pairs", "Pairs", ",d"),
        ("help", "Helped", ".1%"),
        ("harmed", "Harmed", ".1%"),
        ("points", "Mean gain (points)", "+.1f"),
        ("off", "Success without", ".1%"),
        ("on", "Success with", ".1%"),
    )

    def bars(field: str, colour: str) -> Spec:
        x = {**number_axis(field, None, ".0%", zero=True), "axis": axis}
        return {
            "mark": {"type": "bar", "height": 12, "color": role(colour)},
            "encoding": {"y": y, "x": x, "tooltip": hover},
        }

    net = {
        "mark": {
            "type": "point",
            "shape": "diamond",
            "filled": True,
            "size": 60,
            "opacity": 1,
            "color": role("ink"),
            "stroke": role("paper"),
            "strokeWidth": 1.2,
        },
        "encoding": {"y": y, "x": {"field": "gain", "type": "quantitative"}, "tooltip": hover},
    }
    return base(
        data,
        height={"step": 21},
        layer=[bars("harm", "harm"), bars("help", "help"), reference_line(0.0, dash=False), net],
    )


def _drawn(found: Sequence[FamilyRows]) -> list[FamilyRows]:
    largest = sorted(found, key=lambda group: -abs(group.counts.gain) * group.counts.pairs)[:SHOWN]
    return sorted(largest, key=lambda group: (-group.counts.gain, group.label))


def _words(panel: PanelResult, found: Sequence[FamilyRows], drawn: int) -> list[str]:
    kinds = ("help", "harm", "tie", "both_succeed", "both_fail")
    helped, harmed, tied, solved, failed = (sum(getattr(found, kind) for found in panel.counts) for kind in kinds)
    sentences = [
        f"The skill helped {count(helped)} of {plural(panel.pairs, 'pair')} ({percent(helped / panel.pairs, 0)}), harmed "
        f"{count(harmed)} ({percent(harmed / panel.pairs, 0)}) and changed nothing in {count(tied)}: "
        f"{count(solved)} were solved either way, {count(failed)} neither way. "
        f"{_balance(found)}"
    ]
    if drawn < len(panel.counts):
        sentences.append(
            f"Drawn are the {drawn} of {len(panel.counts)} families that move the total most; the list below has all."
        )
    sentences.append(_coverage(panel.structure))
    return sentences


def _balance(found: Sequence[FamilyRows]) -> str:
    worse = sorted((group for group in found if group.counts.gain < 0), key=lambda group: group.counts.gain)
    if not worse:
        return "No family does worse with it on average."
    named = ", ".join(f"{group.label} ({points(group.counts.gain)} points)" for group in worse[:3])
    verb = "does" if len(worse) == 1 else "do"
    most = "most of all " if len(worse) > 1 else ""
    return f"{len(worse)} of {plural(len(found), 'family', 'families')} {verb} worse with it on average: {most}{named}."


def _coverage(structure: Structure) -> str:
    sizes = (
        f"Families hold {structure.smallest_group} to {structure.largest_group} pairs (median {structure.median_group:g})"
        if structure.smallest_group != structure.largest_group
        else f"Every family holds {plural(structure.largest_group, 'pair')}"
    )
    alone = (
        f"; {plural(structure.singletons, 'task stands', 'tasks stand')} alone in a family and can borrow no evidence from it"
        if structure.singletons
        else ""
    )
    bundles = (
        f" {plural(structure.bundles, 'of them is a bundle', 'of them are bundles')}, with {count(structure.edges)} memberships of tasks in skills."
        if structure.bundles
        else ""
    )
    eligible = (
        f" A task can learn from {structure.eligible_smallest} to {structure.eligible_largest} pairs of other tasks "
        f"(median {structure.eligible_median:g}); {count(structure.without_support)} can learn from none."
    )
    return f"{sizes}{alone}. {plural(structure.skills, 'skill was', 'skills were')} supplied.{bundles}{eligible}"
