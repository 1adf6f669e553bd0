"""How good scores are: do they rank the tasks that a skill helps above the others, and do their probabilities come true?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from skilldelta.arrays import Flags, Floats
from skilldelta.estimators.registry import policy_words
from skilldelta.evaluation.comparison import FEWEST_FOR_AUROC
from skilldelta.evaluation.metrics import ReliabilityBin, reliability_curve
from skilldelta.evaluation.results import PanelResult, PolicyResult
from skilldelta.evaluation.scored_policies import Scorer, scores_without_folds
from skilldelta.nouns import plural
from skilldelta.probability import cross_fitted
from skilldelta.report import vega
from skilldelta.report.content import Cell, Figure, Plot, Spec, Table, columns
from skilldelta.report.numbers import DASH, cell, certainty, count, decimal, percent, size, spread
from skilldelta.report.palette import policy_scale, role

CHANCE = 0.5


def ranking(panel: PanelResult, gate: str) -> Figure:
    """AUROC by policy with intervals, best first; policies without a score are left out."""
    is_large = panel.tasks >= FEWEST_FOR_AUROC
    scored = [policy for policy in panel.policies.values() if policy.auroc is not None and policy.scores is not None]
    scored = scored if is_large else []
    ranked = sorted(scored, key=lambda policy: -(policy.auroc or 0.0))
    title = "AUROC of each policy, with its 95% interval; 0.5 is chance"
    return Figure(
        name="ranking",
        title="Which score finds the tasks that the skill helps?",
        words=_ranking_words(panel, ranked, gate),
        plots=[Plot("ranking", _ranking_spec([_ranked(policy) for policy in ranked]), title)] if ranked else (),
        table=_ranking_table(ranked) if ranked else None,
    )


def _ranked(policy: PolicyResult) -> dict[str, Any]:
    """A policy in the plot: its AUROC and the ends of its interval."""
    interval = policy.intervals.get("auroc")
    return {
        "name": policy.name,
        "policy": policy_words(policy.name),
        "auroc": policy.auroc,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "tasks": len(policy.rows),
    }


def _ranking_spec(data: list[dict[str, Any]]) -> Spec:
    """Bars from chance, so that their length is what a policy knows beyond a coin."""
    values = [row[key] for row in data for key in ("auroc", "low", "high") if row[key] is not None]
    domain = [min(CHANCE, *values), max(0.6, *values)]
    y = vega.row_axis("policy", [row["policy"] for row in data])
    x = {**vega.number_axis("auroc", None, ".2f"), "scale": {"domain": domain, "nice": True, "zero": False}}
    color = {"field": "policy", "type": "nominal", "scale": policy_scale(row["name"] for row in data), "legend": None}
    hover = vega.tooltip(
        ("policy", "Policy", ""),
        ("auroc", "AUROC", ".3f"),
        ("low", "95% from", ".3f"),
        ("high", "95% to", ".3f"),
        ("tasks", "Tasks", ",d"),
    )
    bar = {"type": "bar", "height": 13, "cornerRadiusEnd": 1}
    return vega.base(
        data,
        height={"step": vega.BAR_STEP},
        layer=[
            vega.layer(bar, y=y, x=x, x2={"datum": CHANCE}, color=color, tooltip=hover),
            *vega.interval_over_bar(y=y, tooltip={"value": None}),
            vega.reference_line(CHANCE),
        ],
    )


def _ranking_words(panel: PanelResult, ranked: list[PolicyResult], gate: str) -> list[str]:
    if panel.tasks < FEWEST_FOR_AUROC:
        few = plural(panel.tasks, "task")
        return [
            f"AUROC is not shown for {few}: below {FEWEST_FOR_AUROC} it says more about chance than about the scores."
        ]
    if not ranked:
        return [
            "No score can be judged here: AUROC needs tasks that the skill helped and tasks that it did not, and this panel "
            "has only one of the two."
        ]
    own = panel.policies.get(gate)
    sentences = [
        "Take one task that the skill helped and one that it did not. AUROC is the chance that a score puts them in the "
        "right order; 0.5 is a coin."
    ]
    if own is not None and own.auroc is not None:
        sentences.append(_gate_sentence(own, own.auroc, ranked))
    split = [policy for policy in ranked if len(policy.rows) < panel.pairs]
    if split:
        names = " and ".join(policy_words(policy.name) for policy in split)
        verb = "is" if len(split) == 1 else "are"
        sentences.append(f"{names} {verb} judged on a test split of {plural(len(split[0].rows), 'pair')} only.")
    return sentences


def _gate_sentence(own: PolicyResult, auroc: float, ranked: list[PolicyResult]) -> str:
    interval = certainty(own.intervals.get("auroc"))
    head = f"{policy_words(own.name)} is right in {100 * auroc:.0f} of 100 such comparisons{interval}"
    others = [policy for policy in ranked if policy.name != own.name and len(policy.rows) == len(own.rows)]
    if not others:
        return head + "."
    best = others[0]
    relation = "behind" if (best.auroc or 0) > auroc else "ahead of"
    return f"{head}, {relation} {policy_words(best.name)} at {decimal(best.auroc)}, the best of the others on the same pairs."


def _ranking_table(ranked: list[PolicyResult]) -> Table:
    rows = [
        [
            Cell(policy_words(policy.name)),
            cell(decimal(policy.auroc), policy.auroc),
            cell(spread(policy.intervals.get("auroc")) or DASH, policy.auroc),
            cell(count(len(policy.rows)), len(policy.rows)),
        ]
        for policy in ranked
    ]
    return Table(columns("Policy", "AUROC", "95% interval", "Pairs"), rows)


BINS = 10
# Fewest pairs per bin, so that an observed share means something.
FEWEST = 20
# Most pairs for which scores are computed again for every fold; beyond, the trace that this removes is lost in the
# noise.
NESTED_UP_TO = 2_000
# Share of groups within chance from which probabilities are said to hold.
HOLDING = 0.8
# Mean distance up to which those that do not hold are still called close: large panels show small errors.
CLOSE = 0.03
_VERBS = {"help": "helped", "harm": "harmed"}


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """The chance of an event for every pair of a panel, and whether it happened."""

    event: Literal["help", "harm"]
    chances: Floats  # (n,), NaN where there is none
    happened: Flags  # (n,)

    @property
    def bins(self) -> tuple[ReliabilityBin, ...]:
        """Up to ten bins of about equal size, from the lowest chance to the highest."""
        count = int(np.isfinite(self.chances).sum())
        return reliability_curve(self.chances, self.happened, bins=max(1, min(BINS, count // FEWEST)))

    @property
    def brier(self) -> float | None:
        """Mean squared distance between the chances and what happened; None without a chance."""
        is_known = np.isfinite(self.chances)
        return float(((self.chances - self.happened)[is_known] ** 2).mean()) if is_known.any() else None


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
    pairs = sum(bin_.count for bin_ in bins)
    return sum(bin_.count * abs(bin_.predicted - bin_.observed) for bin_ in bins) / pairs if pairs else math.nan


def reliability(forecasts: Sequence[Forecast]) -> Figure | None:
    """One plot per event; None where no probability was given."""
    curves = [(forecast, forecast.bins) for forecast in forecasts]
    curves = [(forecast, bins) for forecast, bins in curves if bins]
    if not curves:
        return None
    return Figure(
        name="reliability",
        title="Can the probabilities be taken at their word?",
        words=[
            "Tasks are grouped by the probability that was given before their outcome was known. On the diagonal, things happen "
            "as often as said; bars are 95% intervals.",
            *[_reliability_sentence(forecast, bins) for forecast, bins in curves],
        ],
        plots=[_reliability_plot(forecast.event, bins) for forecast, bins in curves],
        table=Table(
            columns("Event", "Said", "Happened", "95% from", "95% to", "Pairs"),
            [_reliability_row(forecast.event, bin_) for forecast, bins in curves for bin_ in bins],
        ),
    )


def _reliability_plot(event: str, bins: Sequence[ReliabilityBin]) -> Plot:
    """Observed share over given probability, with the diagonal; both axes share a range."""
    data = [
        {"said": bin_.predicted, "happened": bin_.observed, "low": bin_.low, "high": bin_.high, "pairs": bin_.count}
        for bin_ in bins
    ]
    top = min(1.0, max(max(bin_.predicted, bin_.high) for bin_ in bins) * 1.06)
    shared = {"scale": {"domain": [0, top], "nice": False}, "axis": {"format": ".0%", "tickCount": 5}}
    x = {**vega.measured("said"), "title": f"Probability of {event} given", **shared}
    y = {**vega.measured("happened"), "title": "Share that came true", **shared}
    hover = vega.tooltip(
        ("said", "Said", ".1%"), ("happened", "Happened", ".1%"), ("low", "95% from", ".1%"), ("high", "95% to", ".1%"),
        ("pairs", "Pairs", ",d"),
    )  # fmt: skip
    color = role(event)
    diagonal = {"type": "line", "color": role("ink-3"), "strokeDash": [4, 3], "strokeWidth": 1}
    interval = {"type": "rule", "color": color, "strokeWidth": 1.5, "opacity": 0.7}
    dot = {"type": "point", "filled": True, "size": 65, "color": color, "opacity": 1}
    drawn = vega.base(
        data,
        height=280,
        layer=[
            vega.layer(diagonal, data=[{"said": end, "happened": end} for end in (0, top)], x=x, y=y),
            vega.layer(interval, x=x, y={**y, "field": "low"}, y2={"field": "high"}),
            vega.layer({"type": "line", "color": color, "strokeWidth": 1.5}, x=x, y=y),
            vega.layer(dot, x=x, y=y, tooltip=hover),
        ],
    )
    return Plot(f"reliability-{event}", drawn, f"How often the skill {_VERBS[event]} against the probability given")


def _reliability_sentence(forecast: Forecast, bins: Sequence[ReliabilityBin]) -> str:
    distance, holding = calibration_error(bins), sum(bin_.holds for bin_ in bins)
    top = bins[-1]
    quality = "hold" if holding >= HOLDING * len(bins) else "are close" if distance <= CLOSE else "are off"
    return (
        f"Probabilities of {forecast.event} {quality}: {holding} of {plural(len(bins), 'group')} lie within chance of what "
        f"happened, and the mean distance is {size(distance)} (Brier score {decimal(forecast.brier)}). Where they were "
        f"highest, {percent(top.predicted, 0)} on average, the skill {_VERBS[forecast.event]} {percent(top.observed, 0)} of "
        f"{plural(top.count, 'pair')}."
    )


def _reliability_row(event: str, bin_: ReliabilityBin) -> list[Cell]:
    shares = (bin_.predicted, bin_.observed, bin_.low, bin_.high)
    return [Cell(event), *[cell(percent(value), value) for value in shares], cell(count(bin_.count), bin_.count)]
