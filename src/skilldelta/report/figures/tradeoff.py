"""Threshold trade-off: success against how often the skill is used and against tokens, for every threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skilldelta.estimators.registry import policies, policy_words
from skilldelta.evaluation.panel_policy import sweepable
from skilldelta.evaluation.results import PanelResult
from skilldelta.evaluation.sweeps import SweepPoint, ThresholdSweep, threshold_sweep
from skilldelta.report import vega
from skilldelta.report.content import Cell, Figure, Plot, Spec, Table, columns
from skilldelta.report.numbers import cell, count, decimal, percent, points, size
from skilldelta.report.palette import policy_scale, role

# In the order of the legend, before policies of other packages.
_FIRST = ("paper", "blend", "family_mean", "tfidf_knn")
_CONSTANTS = {"always_off": 0.0, "always_on": 1.0}
_TITLES = ("Policy", "Point", "Threshold", "Success", "Use rate", "Tokens", "Tokens saved", "vs in use, points")
# Most points per curve; the default, the best and both ends are always among them.
POINTS = 80
DEFAULT, BEST = "threshold in use", "best in hindsight"


def tradeoff(panel: PanelResult, gate: str) -> Figure | None:
    """Every distinct threshold policy of the main scores; None where no policy has a score for every pair."""
    curves = _curves(panel, gate)
    if not curves:
        return None
    data, constants, names = _rows(curves), _constants(panel), list(curves)
    marks = f"(star: {policy_words(names[0])} at the threshold in use; triangle: its best in hindsight)"
    plots = [Plot("tradeoff-use-rate", _spec(data, constants, names, "use_rate"), f"Success against use rate {marks}")]
    if any(line["tokens"] is not None for line in data):
        spec = _spec(data, constants, names, "tokens")
        plots.append(Plot("tradeoff-tokens", spec, f"Success against tokens {marks}"))
    lines = [line for name, sweep in curves.items() for line in _lines(name, sweep)]
    return Figure(
        name="tradeoff",
        title="What would another threshold have bought?",
        words=_words(panel, *next(iter(curves.items()))),
        plots=plots,
        table=Table(columns(*_TITLES, words=2), lines),
    )


def _rows(curves: dict[str, ThresholdSweep]) -> list[dict[str, Any]]:
    """Points along each curve from always-on to always-off; `mark` names the two of the first curve that are set off.

    Curves run close together near their best, so that stars of all of them would lie on each other.
    """
    rows = []
    first = next(iter(curves))
    for name, sweep in reversed(curves.items()):  # drawn last, the first curve lies on top
        for index in thinned(sweep):
            point = sweep.point(index)
            row = {
                "policy": policy_words(name),
                "threshold": round(point.threshold, 4) if np.isfinite(point.threshold) else None,
                "use_rate": round(point.use_rate, 4),
                "success": round(point.success, 5),
                "tokens": None if point.tokens is None else round(point.tokens, 1),
            }
            if name == first and index in (sweep.default, sweep.best):
                row["mark"] = DEFAULT if index == sweep.default else BEST
            rows.append(row)
    return rows


def thinned(sweep: ThresholdSweep, limit: int = POINTS) -> list[int]:
    """Indices of points spread evenly over the use rate, with the ones that a reader looks for."""
    uses = np.linspace(sweep.used[0], sweep.used[-1], limit)
    spread = np.searchsorted(-sweep.used, -uses)
    indices = {0, len(sweep) - 1, sweep.default, sweep.best, *np.minimum(spread, len(sweep) - 1).tolist()}
    return sorted(indices)


def _spec(data: list[dict[str, Any]], constants: list[dict[str, Any]], names: Sequence[str], x_field: str) -> Spec:
    """Curves, their two marked points, and the two constant policies as labeled dots."""
    title, format = (
        ("Share of tasks with the skill", ".0%") if x_field == "use_rate" else ("Mean tokens of a task", "~s")
    )
    x = vega.number_axis(x_field, title, format)
    if x_field == "tokens":
        x["axis"]["labelExpr"] = "format(datum.value, '~s')"
    # Room around the curves, so that the dots at their ends can be named.
    y = {**vega.number_axis("success", "Success", ".0%"), "scale": {"zero": False, "nice": False, "padding": 22}}
    color = {"field": "policy", "type": "nominal", "scale": policy_scale(names)}
    hover = vega.tooltip(
        ("policy", "Policy", ""),
        ("threshold", "Threshold", "+.3f"),
        ("success", "Success", ".1%"),
        ("use_rate", "Use rate", ".1%"),
        ("tokens", "Tokens", ",.0f"),
    )
    opacity = {"condition": {"param": "chosen", "value": 1}, "value": 0.15}
    place: Spec = {"x": x, "y": y, "color": color}
    legend = {"params": [{"name": "chosen", "select": {"type": "point", "fields": ["policy"]}, "bind": "legend"}]}
    line = {"type": "line", "strokeWidth": 1.8, "interpolate": "linear"}
    touch = {"type": "point", "size": 90, "opacity": 0, "filled": True}
    return vega.base(
        data,
        height=300,
        layer=[
            legend | vega.layer(line, **place, order=vega.measured("use_rate"), opacity=opacity),
            vega.layer(touch, **place, tooltip=hover),
            *_constant_dots(constants, x_field),
            _marked(BEST, "triangle-up", 110, place, hover, opacity),
            _marked(DEFAULT, _STAR, 210, place, hover, opacity),
        ],
    )


# A five-pointed star in the unit square of Vega's custom shapes.
_STAR = (
    "M0,-1L0.235,-0.324L0.951,-0.309L0.38,0.124L0.588,0.809L0,0.4L-0.588,0.809L-0.38,0.124L-0.951,-0.309L-0.235,-0.324Z"
)


def _marked(mark: str, shape: str, area: int, place: Spec, hover: list[Spec], opacity: Spec) -> Spec:
    style = {"type": "point", "shape": shape, "size": area, "filled": True, "stroke": role("page"), "strokeWidth": 1.2}
    filtered = {"transform": [{"filter": f"datum.mark === '{mark}'"}]}
    return filtered | vega.layer(style, **place, tooltip=hover, opacity=opacity)


def _constant_dots(constants: list[dict[str, Any]], x_field: str) -> list[Spec]:
    lines = [line for line in constants if line[x_field] is not None]
    place = {"x": vega.measured(x_field), "y": vega.measured("success")}
    hover = vega.tooltip(("policy", "Policy", ""), ("success", "Success", ".1%"), ("tokens", "Tokens", ",.0f"))
    dot = {"type": "point", "filled": True, "size": 55, "color": role("ink-2"), "opacity": 1}
    return [vega.layer(dot, data=lines, **place, tooltip=hover), *[_constant_label(line, place) for line in lines]]


def _constant_label(line: dict[str, Any], place: Spec) -> Spec:
    """Always off stands at the left end and is named to its right, always on the other way round."""
    left_end = line["use_rate"] == 0
    mark = {
        "type": "text",
        "align": "left" if left_end else "right",
        "dx": 6 if left_end else -6,
        "dy": 17,  # below the dot, since every curve rises from it
    }
    return vega.layer(mark, data=[line], **place, text={"field": "policy", "type": "nominal"})


def _curves(panel: PanelResult, gate: str) -> dict[str, ThresholdSweep]:
    """The sweep of each policy that has a score for every pair; the gate's comes first."""
    curves = {}
    gains = [entry.name for entry in policies().values() if entry.predicts_gain]
    for name in dict.fromkeys((gate, *_FIRST, *gains)):
        policy = panel.policies.get(name)
        if policy is None or policy.scores is None or len(policy.rows) < panel.pairs:
            continue
        scores = sweepable(policy.scores, policy.supported)
        curves[name] = threshold_sweep(scores, panel.support, default=policy.threshold or 0.0)
    return curves


def _constants(panel: PanelResult) -> list[dict[str, Any]]:
    constants = [(panel.policies[name], rate) for name, rate in _CONSTANTS.items() if name in panel.policies]
    return [
        {"policy": policy_words(policy.name), "use_rate": rate, "success": policy.success, "tokens": policy.tokens}
        for policy, rate in constants
    ]


def _words(panel: PanelResult, policy: str, sweep: ThresholdSweep) -> list[str]:
    name = policy_words(policy)
    default, best = sweep.point(sweep.default), sweep.point(sweep.best)
    saving = (
        f", saving {percent(default.token_saving, 0)} of always-on's tokens" if default.token_saving is not None else ""
    )
    sentences = [
        "Raising the threshold uses the skill on fewer tasks. Each point of a curve is one threshold; "
        f"{name} has {count(len(sweep))} that differ.",
        f"At the threshold in use ({decimal(default.threshold)}), {name} reaches {percent(default.success)} with the skill on "
        f"{percent(default.use_rate, 0)} of tasks{saving}.",
    ]
    missed = best.success - default.success
    if missed <= 0:
        return [*sentences, "No other threshold would have reached more."]
    return [
        *sentences,
        f"In hindsight {_choice(best)} would have reached {percent(best.success)} "
        f"({size(missed)} more) with the skill on {percent(best.use_rate, 0)}. It was picked knowing the outcomes: expect less "
        "of it on new tasks.",
        *_cheapest_as_good(panel, sweep),
    ]


def _choice(best: SweepPoint) -> str:
    """A point by its threshold; always-on has none where some tasks lack support."""
    return f"the best threshold, {decimal(best.threshold)}," if np.isfinite(best.threshold) else "always-on"


def _cheapest_as_good(panel: PanelResult, sweep: ThresholdSweep) -> list[str]:
    """The least use whose success is no lower than always-on's, if that is less than always."""
    as_good = np.flatnonzero(sweep.success >= panel.on)
    fewest = sweep.point(int(as_good[-1])) if len(as_good) else None
    if fewest is None or fewest.use_rate in (0.0, 1.0):
        return []
    return [
        f"The highest threshold that keeps always-on's {percent(panel.on)} uses the skill on "
        f"{percent(fewest.use_rate, 0)} of tasks (also in hindsight)."
    ]


def _lines(policy: str, sweep: ThresholdSweep) -> list[list[Cell]]:
    default, best = sweep.point(sweep.default), sweep.point(sweep.best)
    return [
        [
            Cell(policy_words(policy)),
            Cell(words),
            cell(decimal(point.threshold), point.threshold),
            cell(percent(point.success), point.success),
            cell(percent(point.use_rate), point.use_rate),
            cell(count(point.tokens), point.tokens),
            cell(percent(point.token_saving), point.token_saving),
            cell(points(point.success - default.success), point.success - default.success),
        ]
        for words, point in ((DEFAULT, default), (BEST, best))
    ]
