"""What stands before the panels where there are several: one line per panel, and the gate's advantage in each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilldelta.evaluation.comparison import FEWEST_FOR_AUROC, default_gate
from skilldelta.evaluation.results import PanelResult, PolicyResult
from skilldelta.nouns import plural
from skilldelta.report.content import Cell, Figure, Plot, Table, columns
from skilldelta.report.figures.advantage import TITLE, advantage_line, advantage_spec
from skilldelta.report.figures.help_harm import distinct_labels
from skilldelta.report.numbers import DASH, cell, count, decimal, distance, percent, points, spread
from skilldelta.report.verdict import Tone, summary

_MEASURED = ("Pairs", "Never", "Always", "Gate", "Gate vs always, points", "Use rate", "Tokens saved", "AUROC")
_COLUMNS = columns("Panel", "Use the gate?", *_MEASURED, words=2)
_ANSWERS: dict[Tone, str] = {"yes": "yes", "trade": "to save tokens", "no": "no", "open": "not clear"}


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """One panel in the overview."""

    panel: PanelResult
    gate: str
    label: str
    place: str

    @property
    def own(self) -> PolicyResult | None:
        return self.panel.policies.get(self.gate)


def overview(panels: Sequence[PanelResult], places: Sequence[str], gate: str | None) -> Figure:
    """The panels beside each other; `places` are their ids in the page."""
    labels = distinct_labels([f"{panel.agent} on {panel.suite}" for panel in panels])
    lines = [
        _Line(panel, gate or default_gate(panel), label, place)
        for panel, label, place in zip(panels, labels, places, strict=True)
    ]
    drawn = [advantage_line(line.own, line.label) for line in lines if line.own is not None]
    drawn.sort(key=lambda row: -row["advantage"])
    return Figure(
        name="overview",
        title=f"{plural(len(panels), 'panel')} at a glance",
        words=_words(lines),
        plots=[Plot("overview", advantage_spec(drawn), TITLE)] if drawn else (),
        table=Table(_COLUMNS, [_row(line) for line in lines]),
    )


def _row(line: _Line) -> list[Cell]:
    panel, own = line.panel, line.own
    start = [
        Cell(line.label, link=line.place),
        Cell(_ANSWERS[summary(panel, line.gate).tone]),
        cell(count(panel.pairs), panel.pairs),
        cell(percent(panel.off), panel.off),
        cell(percent(panel.on), panel.on),
    ]
    if own is None:
        return [*start, *[Cell(DASH)] * (len(_COLUMNS) - len(start))]
    vs_on = own.success_vs_always_on
    return [
        *start,
        cell(percent(own.success), own.success),
        cell(points(vs_on), vs_on, spread(own.intervals.get("success_vs_always_on"), as_points=True)),
        cell(percent(own.use_rate, 0), own.use_rate),
        cell(percent(own.token_saving), own.token_saving),
        cell(decimal(own.auroc), own.auroc) if panel.tasks >= FEWEST_FOR_AUROC else Cell(DASH),
    ]


def _words(lines: Sequence[_Line]) -> list[str]:
    """Means over panels of equal weight, as the paper reports them."""
    owned = [line.own for line in lines if line.own is not None]
    if not owned:
        return ["The gate was evaluated on none of these panels."]
    mean_difference = sum(own.success_vs_always_on for own in owned) / len(owned)
    ahead = sum(own.success_vs_always_on > 0 for own in owned)
    above_random = sum(own.advantage_vs_random > 0 for own in owned)
    text = (
        f"Over {plural(len(owned), 'panel')} of equal weight, the gate is on average {distance(mean_difference)} "
        f"always using the skill, ahead of it in {ahead} of them, and above random use at the same rate in {above_random}."
    )
    savings = [own.token_saving for own in owned if own.token_saving is not None]
    if savings:
        text += f" It saves {percent(sum(savings) / len(savings), 0)} of tokens on average."
    return [text, "Choose a panel below, or in the bar above, to see it by itself."]
