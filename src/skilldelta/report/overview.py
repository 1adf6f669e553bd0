"""What stands before the panels where there are several: one line a panel, and the gate's advantage in each."""

from __future__ import annotations

from collections.abc import Sequence

from skilldelta.evaluation.results import PanelResult
from skilldelta.report.content import Cell, Column, Figure, Plot, Table
from skilldelta.report.figures.advantage import TITLE, row, spec
from skilldelta.report.groups import distinct_labels
from skilldelta.report.numbers import cell, count, decimal, percent, points, size, spread, words_cell
from skilldelta.report.palette import policy_words
from skilldelta.report.verdict import default_gate

_COLUMNS = (
    Column("Panel", numeric=False),
    Column("Pairs"),
    Column("Never"),
    Column("Always"),
    Column("Gate"),
    Column("Gate vs always, points"),
    Column("Use rate"),
    Column("Tokens saved"),
    Column("AUROC"),
)


def overview(panels: Sequence[PanelResult], gate: str | None) -> Figure:
    """The panels beside each other; panels count equally in the means that the words give."""
    gates = [gate or default_gate(panel) for panel in panels]
    labels = distinct_labels([f"{panel.agent} on {panel.suite}" for panel in panels])
    judged = [
        (panel, panel.policies[name], label)
        for panel, name, label in zip(panels, gates, labels, strict=True)
        if name in panel.policies
    ]
    lines = sorted((row(own, label) for _, own, label in judged), key=lambda line: -line["advantage"])
    return Figure(
        name="overview",
        title=f"{len(panels)} panels at a glance",
        words=_words(panels, gates),
        plots=[Plot("overview", spec(lines), TITLE)] if lines else (),
        table=Table(
            _COLUMNS, [_row(panel, name, label) for panel, name, label in zip(panels, gates, labels, strict=True)]
        ),
    )


def _row(panel: PanelResult, gate: str, label: str) -> list[Cell]:
    own = panel.policies.get(gate)
    start = [
        words_cell(label),
        cell(count(panel.pairs), panel.pairs),
        cell(percent(panel.off), panel.off),
        cell(percent(panel.on), panel.on),
    ]
    if own is None:
        return [*start, *[Cell("–")] * (len(_COLUMNS) - len(start))]
    difference = own.success - panel.on
    interval = spread(own.intervals.get("success_vs_always_on"), as_points=True)
    return [
        *start,
        cell(percent(own.success), own.success),
        cell(points(difference) + (f"\n{interval}" if interval else ""), difference),
        cell(percent(own.use_rate, 0), own.use_rate),
        cell(percent(own.token_saving), own.token_saving),
        cell(decimal(own.auroc), own.auroc),
    ]


def _words(panels: Sequence[PanelResult], gates: Sequence[str]) -> list[str]:
    owned = [(panel, panel.policies[name]) for panel, name in zip(panels, gates, strict=True) if name in panel.policies]
    if not owned:
        return ["The gate was evaluated on none of these panels."]
    name = policy_words(owned[0][1].name)
    mean_difference = sum(own.success - panel.on for panel, own in owned) / len(owned)
    side = "above" if mean_difference >= 0 else "below"
    above_random = sum(own.advantage_vs_random > 0 for _, own in owned)
    text = (
        f"Over {len(owned)} panels of equal weight, {name} is on average {size(mean_difference)} {side} always using the "
        f"skill, and above random use at the same rate in {above_random} of them."
    )
    savings = [own.token_saving for _, own in owned if own.token_saving is not None]
    if savings:
        text += f" It saves {percent(sum(savings) / len(savings), 0)} of tokens on average."
    return [text + " Choose a panel in the bar above to see it by itself."]
