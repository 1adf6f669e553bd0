"""Help and harm by family: where the skill mends tasks, where it breaks them, and where it changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skilldelta.evaluation.results import FamilyCounts, PanelResult, Structure
from skilldelta.report.content import Figure, Plot, Spec
from skilldelta.report.marks import base, number_axis, reference_line, row_axis, tooltip
from skilldelta.report.numbers import count, percent, plural, points, shorten
from skilldelta.report.palette import role

SHOWN = 40
"""Families drawn at most; beyond that those with the largest gain or loss, and the list has all."""


def help_harm(panel: PanelResult) -> Figure:
    """Share of pairs helped and harmed, family by family, sorted by mean gain."""
    drawn = _drawn(panel.counts)
    label = "Bars: share of pairs helped, to the right, and harmed, to the left, by family"
    return Figure(
        name="help-harm",
        title="Where does the skill help, and where does it harm?",
        words=_words(panel, len(drawn)),
        plots=[Plot("help-harm", spec(rows(drawn)), label)] if drawn else (),
    )


def rows(counts: Sequence[FamilyCounts]) -> list[dict[str, Any]]:
    """One row a family: shares of pairs, harm as a negative number."""
    names = distinct_labels([family_words(found.family) for found in counts])
    return [
        {
            "family": name,
            "help": found.help / found.pairs,
            "harm": -found.harm / found.pairs,
            "harmed": found.harm / found.pairs,
            "gain": found.gain,
            "points": 100 * found.gain,
            "pairs": found.pairs,
            "off": found.off,
            "on": found.on,
        }
        for found, name in zip(counts, names, strict=True)
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
        x = {**number_axis(field, "← harmed · share of pairs · helped →", ".0%", zero=True), "axis": axis}
        return {
            "mark": {"type": "bar", "height": 12, "color": role(colour)},
            "encoding": {"y": y, "x": x, "tooltip": hover},
        }

    net = {
        "mark": {"type": "point", "shape": "diamond", "filled": True, "size": 60, "opacity": 1, "color": role("ink"), "stroke": role("paper"), "strokeWidth": 1.2},
        "encoding": {"y": y, "x": {"field": "gain", "type": "quantitative"}, "tooltip": hover},
    }
    return base(
        data,
        height={"step": 21},
        layer=[bars("harm", "harm"), bars("help", "help"), reference_line(0.0, dash=False), net],
    )


def family_words(name: str) -> str:
    """A family's name in a plot; an empty one says so."""
    return shorten(name, 34) if name else "(no family)"


def distinct_labels(labels: Sequence[str]) -> list[str]:
    """Labels that shortening made equal get a number, so that they stay separate rows."""
    seen: dict[str, int] = {}
    distinct = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        distinct.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return distinct


def _drawn(counts: Sequence[FamilyCounts]) -> list[FamilyCounts]:
    largest = sorted(counts, key=lambda found: -abs(found.gain) * found.pairs)[:SHOWN]
    return sorted(largest, key=lambda found: (-found.gain, found.family))


def _words(panel: PanelResult, drawn: int) -> list[str]:
    helped, harmed, tied = (sum(getattr(found, kind) for found in panel.counts) for kind in ("help", "harm", "tie"))
    sentences = [
        f"The skill helped {count(helped)} of {plural(panel.pairs, 'pair')} ({percent(helped / panel.pairs, 0)}), harmed "
        f"{count(harmed)} ({percent(harmed / panel.pairs, 0)}) and changed nothing in {count(tied)}. "
        f"{_balance(panel.counts)} The diamond is a family's mean gain."
    ]
    if drawn < len(panel.counts):
        sentences.append(f"Drawn are the {drawn} of {len(panel.counts)} families that move the total most; the list below has all.")
    sentences.append(_coverage(panel.structure))
    return sentences


def _balance(counts: Sequence[FamilyCounts]) -> str:
    worse = sorted((found for found in counts if found.gain < 0), key=lambda found: found.gain)
    if not worse:
        return "No family does worse with it on average."
    total = plural(len(counts), "family", "families")
    named = ", ".join(f"{family_words(found.family)} ({points(found.gain)} points)" for found in worse[:3])
    verb = "does" if len(worse) == 1 else "do"
    return f"{len(worse)} of {total} {verb} worse with it on average, most of all {named}."


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
    return f"{sizes}{alone}. {plural(structure.skills, 'skill was', 'skills were')} supplied."
