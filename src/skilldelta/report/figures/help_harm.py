"""Help and harm by family: where the skill repairs tasks, where it breaks them, and where it changes nothing.

Below the figure stands the list of all families, with the tasks behind the numbers and what the gate did with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skilldelta.arrays import Floats, Ints
from skilldelta.evaluation.results import FamilyCounts, PanelResult, Structure
from skilldelta.nouns import plural
from skilldelta.report import vega
from skilldelta.report.content import Cell, Column, Figure, Plot, Spec, Table, columns
from skilldelta.report.html import Markup, element, small, table_html
from skilldelta.report.numbers import DASH, cell, count, outcome_words, percent, points, shorten, signed
from skilldelta.report.palette import role

# Most families drawn: those with the largest gain or loss. The list below the figure has all.
SHOWN = 40
# Characters of a task text that the list shows.
TEXT_WIDTH = 180
# Tasks that a whole report lists, so that its size stays small however large the banks are.
ROW_BUDGET = 2_000
LABEL_WIDTH = 60
NO_FAMILY = "no family recorded"


@dataclass(frozen=True, slots=True, eq=False)
class FamilyRows:
    """One family: its counts, its rows of the panel, its name in plots and lists."""

    counts: FamilyCounts
    rows: Ints
    label: str


def groups(panel: PanelResult) -> list[FamilyRows]:
    """Families in order of first appearance, as the evaluation counts them; rows without a family group by skill."""
    blocks = sorted(panel.support.blocks("family"), key=lambda block: int(block[0]))
    labels = distinct_labels([shorten(counts.family or NO_FAMILY, LABEL_WIDTH) for counts in panel.counts])
    return [FamilyRows(counts, block, label) for counts, block, label in zip(panel.counts, blocks, labels, strict=True)]


def distinct_labels(labels: Sequence[str]) -> list[str]:
    """Labels that shortening made equal get a number, so that they stay separate rows."""
    counts: dict[str, int] = {}
    distinct = []
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
        distinct.append(label if counts[label] == 1 else f"{label} ({counts[label]})")
    return distinct


def help_harm(panel: PanelResult) -> Figure:
    """Share of pairs helped and harmed, family by family, sorted by mean gain."""
    families = groups(panel)
    largest = sorted(families, key=lambda group: -abs(group.counts.gain) * group.counts.pairs)[:SHOWN]
    drawn = sorted(largest, key=lambda group: (-group.counts.gain, group.label))
    title = "Share of pairs harmed (left) and helped (right) by family; the diamond is the mean gain"
    return Figure(
        name="help-harm",
        title="Where does the skill help, and where does it harm?",
        words=_words(panel, families, len(drawn)),
        plots=[Plot("help-harm", _spec([_drawn(group) for group in drawn]), title)] if drawn else (),
    )


def _drawn(group: FamilyRows) -> dict[str, Any]:
    """A family in the plot: shares of pairs, harm as a negative number."""
    counts = group.counts
    return {
        "family": group.label,
        "help": counts.help / counts.pairs,
        "harm": -counts.harm / counts.pairs,
        "harmed": counts.harm / counts.pairs,
        "gain": counts.gain,
        "points": 100 * counts.gain,
        "pairs": counts.pairs,
        "off": counts.off,
        "on": counts.on,
    }


def _spec(data: list[dict[str, Any]]) -> Spec:
    """Harm to the left, help to the right, the net gain as a diamond."""
    y = vega.row_axis("family", [row["family"] for row in data])
    axis = {"format": ".0%", "labelExpr": "format(abs(datum.value), '.0%')", "tickCount": 6}
    hover = vega.tooltip(
        ("family", "Family", ""),
        ("pairs", "Pairs", ",d"),
        ("help", "Helped", ".1%"),
        ("harmed", "Harmed", ".1%"),
        ("points", "Mean gain (points)", "+.1f"),
        ("off", "Success without", ".1%"),
        ("on", "Success with", ".1%"),
    )

    def bars(kind: str) -> Spec:
        x = {**vega.number_axis(kind, None, ".0%", zero=True), "axis": axis}
        return vega.layer({"type": "bar", "height": 12, "color": role(kind)}, y=y, x=x, tooltip=hover)

    diamond = {"type": "point", "shape": "diamond", "filled": True, "size": 60, "opacity": 1, "color": role("ink")}
    diamond |= {"stroke": role("page"), "strokeWidth": 1.2}
    net = vega.layer(diamond, y=y, x=vega.measured("gain"), tooltip=hover)
    zero = vega.reference_line(0.0, dash=False)
    return vega.base(data, height={"step": 21}, layer=[bars("harm"), bars("help"), zero, net])


def _words(panel: PanelResult, families: Sequence[FamilyRows], drawn: int) -> list[str]:
    kinds = ("help", "harm", "tie", "both_succeed", "both_fail")
    helped, harmed, tied, solved, failed = (sum(getattr(families, kind) for families in panel.counts) for kind in kinds)
    sentences = [
        f"The skill helped {count(helped)} of {plural(panel.pairs, 'pair')} ({percent(helped / panel.pairs, 0)}), harmed "
        f"{count(harmed)} ({percent(harmed / panel.pairs, 0)}) and changed nothing in {count(tied)}: "
        f"{count(solved)} were solved either way, {count(failed)} neither way. "
        f"{_balance(families)}"
    ]
    if drawn < len(panel.counts):
        sentences.append(
            f"Drawn are the {drawn} of {len(panel.counts)} families that move the total most; the list below has all."
        )
    return [*sentences, _coverage(panel.structure)]


def _balance(families: Sequence[FamilyRows]) -> str:
    worse = sorted((group for group in families if group.counts.gain < 0), key=lambda group: group.counts.gain)
    if not worse:
        return "No family does worse with it on average."
    names = ", ".join(f"{group.label} ({points(group.counts.gain)} points)" for group in worse[:3])
    verb = "does" if len(worse) == 1 else "do"
    most = "most of all " if len(worse) > 1 else ""
    return (
        f"{len(worse)} of {plural(len(families), 'family', 'families')} {verb} worse with it on average: {most}{names}."
    )


def _coverage(structure: Structure) -> str:
    if structure.smallest_group == structure.largest_group:
        text = f"Every family holds {plural(structure.largest_group, 'pair')}"
    else:
        text = f"Families hold {structure.smallest_group} to {structure.largest_group} pairs"
        text += f" (median {structure.median_group:g})"
    if structure.singletons:
        alone = plural(structure.singletons, "task stands", "tasks stand")
        text += f"; {alone} alone in a family and can borrow no evidence from it"
    text += f". {plural(structure.skills, 'skill was', 'skills were')} supplied."
    if structure.bundles:
        bundles = plural(structure.bundles, "of them is a bundle", "of them are bundles")
        text += f" {bundles}, with {count(structure.edges)} memberships of tasks in skills."
    return (
        f"{text} A task can learn from {structure.eligible_smallest} to {structure.eligible_largest} pairs of other tasks "
        f"(median {structure.eligible_median:g}); {count(structure.without_support)} can learn from none."
    )


@dataclass(frozen=True, slots=True)
class FamilyList:
    """One family: its counts, the tasks that the skill helped or harmed, and how many are not listed."""

    label: str
    counts: FamilyCounts
    tasks: Table | None
    remark: str


def family_lists(panel: PanelResult, gate: str, *, per_kind: int) -> list[FamilyList]:
    """Families from the most harmed to the most helped; within one, harmed tasks first, then helped ones."""
    ordered = sorted(groups(panel), key=lambda group: (group.counts.gain, group.label))
    return [_family(panel, gate, group, per_kind) for group in ordered]


def tasks_per_kind(panels: Sequence[PanelResult]) -> int:
    """How many helped, and how many harmed, tasks of a family fit the report: between 1 and 12."""
    families = sum(len(panel.counts) for panel in panels)
    return max(1, min(12, ROW_BUDGET // max(1, 2 * families)))


def _family(panel: PanelResult, gate: str, group: FamilyRows, per_kind: int) -> FamilyList:
    gains = panel.support.gains[group.rows]
    harmed, helped = (_strongest(group.rows, gains, sign, per_kind) for sign in (-1, 1))
    listed = np.concatenate([harmed, helped])
    tasks = _table(panel, gate, listed) if len(listed) else None
    return FamilyList(group.label, group.counts, tasks, _remark(group.counts, len(harmed), len(helped)))


def _strongest(rows: Ints, gains: Floats, sign: int, limit: int) -> Ints:
    """The rows with the largest gain of one sign, in record order where equal."""
    of_sign = np.flatnonzero(sign * gains > 0)
    return rows[of_sign[np.argsort(-sign * gains[of_sign], kind="stable")][:limit]]


def _table(panel: PanelResult, gate: str, rows: Ints) -> Table:
    several_skills = panel.structure.tasks_with_several_skills > 0
    words = ["Task", "Question", *(["Skill"] if several_skills else [])]
    titles = columns(*words, "Without", "With", "Predicted gain", words=len(words))
    return Table(
        [*titles, Column("The gate", numeric=False)], [_task(panel, gate, int(row), several_skills) for row in rows]
    )


def _task(panel: PanelResult, gate: str, row: int, several_skills: bool) -> list[Cell]:
    support = panel.support
    text = shorten(support.texts[row], TEXT_WIDTH) if support.texts else "(text not kept)"
    arms = ((float(support.y0[row]), int(support.r0[row])), (float(support.y1[row]), int(support.r1[row])))
    return [
        Cell(str(support.task_ids[row])),
        Cell(text),
        *([Cell(str(support.skills[row]))] if several_skills else []),
        *[cell(outcome_words(mean, runs), mean) for mean, runs in arms],
        *_gate_cells(panel, gate, row),
    ]


def _gate_cells(panel: PanelResult, gate: str, row: int) -> list[Cell]:
    policy = panel.policies.get(gate)
    if policy is None or row not in policy.rows:
        return [Cell(DASH), Cell(DASH)]
    score = None if policy.scores is None else float(policy.scores[row])
    return [cell(signed(score, 2), score), _deed(bool(policy.actions[row]), float(panel.support.gains[row]))]


def _deed(used: bool, gain: float) -> Cell:
    if used:
        return Cell("used: helped", tone="good") if gain > 0 else Cell("used: harmed", tone="bad")
    return Cell("skipped: help missed", tone="bad") if gain > 0 else Cell("skipped: harm avoided", tone="good")


def _remark(counts: FamilyCounts, harmed: int, helped: int) -> str:
    if not harmed and not helped:
        return f"The skill changed nothing in {plural(counts.tie, 'pair')}."
    kinds = (
        (counts.harm - harmed, "more harmed"),
        (counts.help - helped, "more helped"),
        (counts.tie, "unchanged"),
    )
    left_out = ", ".join(f"{number} {kind}" for number, kind in kinds if number)
    return f"Not listed: {left_out}." if left_out else ""


# Title, the key that it sorts by, and whether a phone has no room for it.
_HEADINGS = (
    ("Family", "label", False),
    ("Pairs", "pairs", True),
    ("Helped", "help", False),
    ("Harmed", "harm", False),
    ("Gain, points", "gain", False),
)


def family_list_html(families: Sequence[FamilyList]) -> Markup:
    """All families, the most harmed first."""
    return element(
        "div",
        element("h3", "The tasks behind it"),
        small("Open a family to see the tasks that the skill harmed or helped, and what the gate did."),
        element("div", element("span"), *[_sort_button(*heading) for heading in _HEADINGS], class_="family-head"),
        *[_family_html(family) for family in families],
        class_="families",
    )


def _sort_button(title: str, key: str, wide_only: bool) -> Markup:
    button = element("button", title, type="button", data_sort=key)
    return element("span", button, class_="pairs" if wide_only else None)


def _family_html(family: FamilyList) -> Markup:
    counts = family.counts
    line = element(
        "summary",
        element("span", family.label),
        element("span", count(counts.pairs), class_="pairs"),
        element("span", count(counts.help)),
        element("span", count(counts.harm)),
        element("span", points(counts.gain), class_="good" if counts.gain > 0 else "bad" if counts.gain < 0 else None),
    )
    return element(
        "details",
        line,
        table_html(family.tasks, css="tasks") if family.tasks else None,
        small(family.remark) if family.remark else None,
        class_="family",
        data_label=family.label.casefold(),
        data_pairs=str(counts.pairs),
        data_help=str(counts.help),
        data_harm=str(counts.harm),
        data_gain=str(counts.gain),
    )
