"""Reliability: when a probability of help or harm is given, how often does it come true?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from skilldelta.arrays import Flags, Floats
from skilldelta.evaluation.metrics import ReliabilityBin, reliability_curve
from skilldelta.evaluation.results import PanelResult
from skilldelta.evaluation.roster import Scorer, scores_without_folds
from skilldelta.nouns import plural
from skilldelta.probability import cross_fitted
from skilldelta.report.content import Column, Figure, Plot, Spec, Table
from skilldelta.report.numbers import cell, count, decimal, percent, size, words_cell
from skilldelta.report.palette import role
from skilldelta.report.vega import base, tooltip

BINS = 10
FEWEST = 20
"""Pairs of a bin at least, so that an observed share says something."""
NESTED_UP_TO = 2_000
"""Pairs up to which scores are made anew for every fold; beyond, the trace that this removes is lost in the noise."""


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """The chance of an event for every pair of a panel, and whether it happened."""

    event: Literal["help", "harm"]
    chances: Floats  # (n,), NaN where there is none
    happened: Flags  # (n,)

    @property
    def bins(self) -> tuple[ReliabilityBin, ...]:
        """Up to ten bins of about equal size, from the lowest chance to the highest."""
        known = int(np.isfinite(self.chances).sum())
        return reliability_curve(self.chances, self.happened, bins=max(1, min(BINS, known // FEWEST)))

    @property
    def brier(self) -> float | None:
        """Mean squared distance between what was said and what happened; None without a chance."""
        known = np.isfinite(self.chances)
        return float(((self.chances - self.happened)[known] ** 2).mean()) if known.any() else None


def forecasts_of(result: PanelResult, gate: str, scorer: Scorer | None = None) -> tuple[Forecast, ...]:
    """Cross-fitted chances of the gate's score; none where it has no score for every pair.

    `scorer` scores a part of the panel as the gate does, so that a fold's outcomes leave no trace in its own curve.
    """
    own = result.policies.get(gate)
    if own is None or own.scores is None or len(own.rows) < result.pairs:
        return ()
    support = result.support
    training = scores_without_folds(scorer, support) if scorer and result.pairs <= NESTED_UP_TO else None
    chances = cross_fitted(own.scores, support.gains, support.task_ids, training_scores=training)
    return (Forecast("help", chances.help, support.gains > 0), Forecast("harm", chances.harm, support.gains < 0))


def calibration_error(bins: Sequence[ReliabilityBin]) -> float:
    """Mean distance between what was said and what happened over the bins, by their size."""
    pairs = sum(one.count for one in bins)
    return sum(one.count * abs(one.predicted - one.observed) for one in bins) / pairs if pairs else math.nan


_EVENT_WORDS = {"help": ("help", "helped"), "harm": ("harm", "harmed")}
HOLDING = 0.8
"""Share of groups within chance from which probabilities are said to hold."""
CLOSE = 0.03
"""Mean distance up to which those that do not hold are still called close: large panels show small errors."""


def reliability(forecasts: Sequence[Forecast]) -> Figure | None:
    """One plot an event; None where no probability was given."""
    found = [(forecast, forecast.bins) for forecast in forecasts]
    found = [(forecast, made) for forecast, made in found if made]
    if not found:
        return None
    return Figure(
        name="reliability",
        title="Can the probabilities be taken at their word?",
        words=[
            "Tasks are grouped by the probability that was given before their outcome was known. On the diagonal, things happen "
            "as often as said; bars are 95% intervals.",
            *[_sentence(forecast, made) for forecast, made in found],
        ],
        plots=[_plot(forecast, made) for forecast, made in found],
        table=_table(found),
    )


def rows(made: Sequence[ReliabilityBin]) -> list[dict[str, Any]]:
    """One row a bin."""
    return [
        {"said": one.predicted, "happened": one.observed, "low": one.low, "high": one.high, "pairs": one.count}
        for one in made
    ]


def spec(data: list[dict[str, Any]], event: str) -> Spec:
    """Observed share over given probability, with the diagonal; both axes share a range."""
    top = min(1.0, max(max(line["said"], line["high"]) for line in data) * 1.06)
    axis = {"format": ".0%", "tickCount": 5}
    scale = {"domain": [0, top], "nice": False}
    x = {
        "field": "said",
        "type": "quantitative",
        "title": f"Probability of {event} given",
        "scale": scale,
        "axis": axis,
    }
    y = {"field": "happened", "type": "quantitative", "title": "Share that came true", "scale": scale, "axis": axis}
    hover = tooltip(
        ("said", "Said", ".1%"), ("happened", "Happened", ".1%"), ("low", "95% from", ".1%"), ("high", "95% to", ".1%"),
        ("pairs", "Pairs", ",d"),
    )  # fmt: skip
    colour = role("help" if event == "help" else "harm")
    diagonal = {
        "data": {"values": [{"said": 0, "happened": 0}, {"said": top, "happened": top}]},
        "mark": {"type": "line", "color": role("ink-3"), "strokeDash": [4, 3], "strokeWidth": 1},
        "encoding": {"x": x, "y": y},
    }
    return base(
        data,
        height=280,
        layer=[
            diagonal,
            {
                "mark": {"type": "rule", "color": colour, "strokeWidth": 1.5, "opacity": 0.7},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {"mark": {"type": "line", "color": colour, "strokeWidth": 1.5}, "encoding": {"x": x, "y": y}},
            {
                "mark": {"type": "point", "filled": True, "size": 65, "color": colour, "opacity": 1},
                "encoding": {"x": x, "y": y, "tooltip": hover},
            },
        ],
    )


def _plot(forecast: Forecast, made: Sequence[ReliabilityBin]) -> Plot:
    return Plot(
        f"reliability-{forecast.event}",
        spec(rows(made), forecast.event),
        f"How often the skill {_EVENT_WORDS[forecast.event][1]} against the probability given",
    )


def _sentence(forecast: Forecast, made: Sequence[ReliabilityBin]) -> str:
    noun, verb = _EVENT_WORDS[forecast.event]
    distance, holding = calibration_error(made), sum(one.holds for one in made)
    top = made[-1]
    quality = "hold" if holding >= HOLDING * len(made) else "are close" if distance <= CLOSE else "are off"
    return (
        f"Probabilities of {noun} {quality}: {holding} of {plural(len(made), 'group')} lie within chance of what happened, and "
        f"the mean distance is {size(distance)} (Brier score {decimal(forecast.brier)}). Where they were highest, "
        f"{percent(top.predicted, 0)} on average, the skill {verb} {percent(top.observed, 0)} of {plural(top.count, 'pair')}."
    )


def _table(found: Sequence[tuple[Forecast, Sequence[ReliabilityBin]]]) -> Table:
    columns = [Column("Event", numeric=False), Column("Said"), Column("Happened"), Column("95% from"), Column("95% to")]
    columns.append(Column("Pairs"))
    return Table(
        columns,
        [
            [
                words_cell(_EVENT_WORDS[forecast.event][0]),
                *[cell(percent(value), value) for value in (one.predicted, one.observed, one.low, one.high)],
                cell(count(one.count), one.count),
            ]
            for forecast, made in found
            for one in made
        ],
    )
