"""The paper's figures over all panels of a study, for the paper's rule, one image each.

The report draws a page per panel. Here every panel stands in one picture, as in the paper: ranking bars, the advantage at the
same rate, its two components, success and tokens over thresholds, error over evidence, help and harm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from skilldelta.errors import InputError
from skilldelta.estimators.registry import policy_words
from skilldelta.evaluation.results import PanelResult, Range
from skilldelta.gate import Gate
from skilldelta.report.content import Plot, Spec
from skilldelta.report.palette import policy_scale, role
from skilldelta.report.vega import layer, measured, number_axis, png, reference_line
from skilldelta.studies.evaluation_study import Evaluated
from skilldelta.studies.loaded_panel import LoadedPanel
from skilldelta.studies.threshold_studies import sweep_evidence, sweep_thresholds

_RANKED = ("paper", "with_skill_only", "relevance", "self_judge")
_STEP = 16
# Width of a small picture in a grid of panels, three beside one another.
_CELL = 210
# More whole numbers than this leave no room for halves between the ticks that are drawn.
_MOST_TICKS = 10


def panel_figures(evaluated: Evaluated, every_run: Sequence[LoadedPanel] = ()) -> dict[str, Callable[[], bytes]]:
    """The figures by name, each drawn as a PNG when it is called; those that the panels cannot give are left out.

    `every_run` are the panels with all runs, for the evidence curves, where the other figures count only the first ones.
    """
    results = [result for result in evaluated.results if "paper" in result.policies]
    panels, seed = [panel.panel for panel in evaluated.panels], evaluated.settings.seed
    plots = [_ranking(results), _matched_rate(results), _components(results), _effects(results)]
    plots += [_tradeoff(panels), *_scaling(every_run or panels, seed)]
    return {plot.name: partial(png, plot) for plot in plots if plot is not None}


def _label(agent: str, suite: str) -> str:
    return f"{agent.partition('@')[0]} · {suite}"


def _rows_axis(rows: Sequence[Mapping[str, Any]]) -> Spec:
    axis = {"labelColor": role("ink"), "grid": False, "labelLimit": 240}
    return {
        "field": "panel",
        "type": "nominal",
        "sort": list(dict.fromkeys(row["panel"] for row in rows)),
        "title": None,
        "axis": axis,
    }


def _ranking(results: Sequence[PanelResult]) -> Plot | None:
    rows = [
        {
            "panel": _label(result.agent, result.suite),
            "policy": policy_words(name),
            "auroc": result.policies[name].auroc,
        }
        for result in results
        for name in _RANKED
        if name in result.policies and result.policies[name].auroc is not None
    ]
    if not rows:
        return None
    names = [policy_words(name) for name in _RANKED]
    bars = layer(
        {"type": "bar"},
        x=number_axis("auroc", "AUROC of positive against other observed gains", ".1f", zero=True),
        y=_rows_axis(rows),
        yOffset={"field": "policy", "type": "nominal", "sort": names},
        color={"field": "policy", "type": "nominal", "scale": policy_scale(_RANKED), "sort": names},
    )
    spec = {"data": {"values": rows}, "height": {"step": _STEP}, "layer": [bars, reference_line(0.5)]}
    return Plot("main-results", spec, "Which score finds the tasks that the skill helps? Dashed: chance")


def _matched_rate(results: Sequence[PanelResult]) -> Plot | None:
    rows = [
        {
            "panel": _label(result.agent, result.suite),
            "advantage": 100 * result.policies["paper"].advantage_vs_random,
            **_ends("low", "high", result.policies["paper"].conditional_intervals.get("advantage_vs_random")),
            **_ends(
                "far_low",
                "far_high",
                result.policies["paper"].conditional_intervals.get("advantage_vs_random_by_family"),
            ),
        }
        for result in results
    ]
    if not rows:
        return None
    y = _rows_axis(rows)
    layers = [
        reference_line(0.0),
        layer(
            {"type": "rule", "strokeWidth": 1, "color": role("ink-3")},
            x=measured("far_low"),
            x2={"field": "far_high"},
            y=y,
        ),
        layer({"type": "rule", "strokeWidth": 3, "color": role("paper")}, x=measured("low"), x2={"field": "high"}, y=y),
        layer(
            {"type": "point", "filled": True, "size": 70, "color": role("paper"), "opacity": 1},
            x=number_axis("advantage", "Success above random use at the same rate, in points", "+.0f", zero=True),
            y=y,
        ),
    ]
    title = "Selection value at the same rate; 95% over tasks (thick) and whole families (thin)"
    return Plot("matched-rate", {"data": {"values": rows}, "height": {"step": 22}, "layer": layers}, title)


def _components(results: Sequence[PanelResult]) -> Plot | None:
    parts = {"within_group": "Within groups", "between_group": "Between groups"}
    rows = [
        {
            "panel": _label(result.agent, result.suite),
            "part": words,
            "value": 100 * getattr(result.policies["paper"], metric),
            **_ends("low", "high", result.policies["paper"].conditional_intervals.get(metric)),
        }
        for result in results
        for metric, words in parts.items()
    ]
    if not rows:
        return None
    y, offset = (
        _rows_axis(rows),
        {"field": "part", "type": "nominal", "sort": list(parts.values())},
    )
    scale = {"domain": list(parts.values()), "range": [role("accent"), role("ink-3")]}
    color = {"field": "part", "type": "nominal", "scale": scale, "sort": list(parts.values())}
    bars = layer(
        {"type": "bar"},
        x=number_axis("value", "Points of success", "+.0f", zero=True),
        y=y,
        yOffset=offset,
        color=color,
    )
    rule = layer(
        {"type": "rule", "strokeWidth": 1.6, "color": role("ink")},
        x=measured("low"),
        x2={"field": "high"},
        y=y,
        yOffset=offset,
    )
    spec = {"data": {"values": rows}, "height": {"step": _STEP}, "layer": [bars, rule]}
    return Plot("selection-components", spec, "Where selection value comes from, with 95% intervals")


def _effects(results: Sequence[PanelResult]) -> Plot | None:
    effects = ("help", "tie", "harm")
    rows = [
        {
            "panel": _label(result.agent, result.suite),
            "effect": effect,
            "order": place,
            "pairs": sum(getattr(family, effect) for family in result.counts),
        }
        for result in results
        for place, effect in enumerate(effects)
    ]
    if not rows:
        return None
    scale = {"domain": list(effects), "range": [role(effect) for effect in effects]}
    bars = layer(
        {"type": "bar"},
        x={
            "field": "pairs",
            "type": "quantitative",
            "stack": "normalize",
            "title": "Share of tasks",
            "axis": {"format": ".0%"},
        },
        y=_rows_axis(rows),
        color={"field": "effect", "type": "nominal", "scale": scale, "sort": list(effects)},
        order={"field": "order", "type": "quantitative"},
    )
    spec = {"data": {"values": rows}, "height": {"step": 22}, "layer": [bars]}
    return Plot("help-harm", spec, "Observed help, harm and ties")


def _tradeoff(panels: Sequence[LoadedPanel]) -> Plot | None:
    rows: list[dict[str, Any]] = []
    marks: list[dict[str, Any]] = []
    for panel in panels:
        swept, label = (
            sweep_thresholds(panel, Gate.from_settings({"paper": True})),
            _label(panel.support.agent, panel.suite),
        )
        points = [swept.point(index) for index in range(len(swept))]
        rows += [
            {"panel": label, "saved": point.token_saving, "success": point.success, "order": order, "kind": ""}
            for order, point in enumerate(points)
            if point.token_saving is not None
        ]
        marks += [
            {"panel": label, "saved": point.token_saving, "success": point.success, "kind": kind, "order": 0}
            for kind, point in (
                ("threshold 0", swept.point(swept.default)),
                ("best in hindsight", swept.point(swept.best)),
            )
            if point.token_saving is not None
        ]
    if not rows:
        return None
    x = number_axis("saved", "Tokens saved against always on", ".0%")
    y = number_axis("success", "Success", ".0%")
    line = layer(
        {"type": "line", "color": role("paper"), "strokeWidth": 2},
        x=x,
        y=y,
        order={"field": "order", "type": "quantitative"},
    )
    line["transform"] = [{"filter": "datum.kind === ''"}]
    scale = {"domain": ["threshold 0", "best in hindsight"], "range": [role("ink"), role("harm")]}
    # A ring around a dot, so that both are seen where they are the same point.
    color = {"field": "kind", "type": "nominal", "scale": scale}
    dot = layer({"type": "point", "filled": True, "size": 45, "opacity": 1}, x=x, y=y, color=color)
    dot["transform"] = [{"filter": "datum.kind === 'threshold 0'"}]
    ring = layer({"type": "point", "filled": False, "size": 150, "strokeWidth": 2, "opacity": 1}, x=x, y=y, color=color)
    ring["transform"] = [{"filter": "datum.kind === 'best in hindsight'"}]
    return _grid(
        "threshold-tradeoff", "Success and tokens as the threshold changes", [*rows, *marks], [line, ring, dot]
    )


def _scaling(panels: Sequence[LoadedPanel], seed: int) -> list[Plot]:
    curves: dict[str, list[dict[str, Any]]] = {}
    for panel in panels:
        try:
            found = sweep_evidence(panel, at_least=2, seed=seed).curves
        except InputError:  # groups too small for any of the curves
            continue
        for curve in (curve for curve in found if len(curve.amounts) > 1):
            label = _label(panel.support.agent, panel.suite)
            curves.setdefault(curve.axis, []).extend(
                {"panel": label, "amount": int(amount), "mae": float(error)}
                for amount, error in zip(curve.amounts, curve.mae, strict=True)
            )
    titles = {"support": "Support tasks", "neighbors": "Neighbors", "repetitions": "Repetitions"}
    plots = []
    for axis, rows in curves.items():
        # No tick between whole numbers, nor between errors that would be written alike.
        amounts = sorted({row["amount"] for row in rows})
        ticks: Spec = {"values": amounts} if len(amounts) <= _MOST_TICKS else {}
        x = number_axis("amount", titles[axis], "d", **ticks)
        y = number_axis("mae", "Mean error of the gain", ".3f", tickMinStep=0.001, tickCount=4)
        line = layer(
            {"type": "line", "point": {"color": role("paper")}, "color": role("paper")},
            x=x,
            y=y,
        )
        plots.append(_grid(f"scaling-{axis}", f"Error of the predicted gain over {titles[axis].lower()}", rows, [line]))
    return plots


def _grid(name: str, title: str, rows: Sequence[Mapping[str, Any]], layers: list[Spec]) -> Plot:
    """One small picture per panel, three in a row, each with axes of its own."""
    header = {"title": None, "labelColor": role("ink"), "labelFontSize": 12}
    spec = {
        "data": {"values": list(rows)},
        "facet": {
            "field": "panel",
            "type": "nominal",
            "header": header,
            "sort": list(dict.fromkeys(row["panel"] for row in rows)),
        },
        "columns": 3,
        "spec": {"width": _CELL, "height": 140, "layer": layers},
        "resolve": {"scale": {"x": "independent", "y": "independent"}},
    }
    return Plot(name, spec, title)


def _ends(low: str, high: str, interval: Range | None) -> dict[str, float | None]:
    if interval is None or interval.low is None or interval.high is None:
        return {low: None, high: None}
    return {low: 100 * interval.low, high: 100 * interval.high}
