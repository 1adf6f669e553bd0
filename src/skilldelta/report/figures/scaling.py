"""Evidence scaling: the error of predicted gains over support size, neighbours and repetitions, targets fixed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skilldelta.evaluation.evidence_scaling import Axis, EvidenceCurve
from skilldelta.nouns import plural
from skilldelta.report.content import Column, Figure, Plot, Spec, Table
from skilldelta.report.numbers import cell, count, decimal, percent, words_cell
from skilldelta.report.palette import role
from skilldelta.report.vega import base, number_axis, tooltip
from skilldelta.support import Support

_WORDS: dict[Axis, tuple[str, str]] = {
    "support": ("Tasks in the support pool (n)", "Support"),
    "neighbors": ("Neighbours averaged (k)", "Neighbours"),
    "repetitions": ("Repetitions of each arm (r)", "Repetitions"),
}
_NOTICEABLE = 0.01
"""Relative change of the error below which a curve is called flat."""


def scaling(curves: Sequence[EvidenceCurve], support: Support) -> Figure | None:
    """One plot a curve; None where none was computed. A curve of one point is told in words only."""
    if not curves:
        return None
    drawn = [curve for curve in curves if len(curve.amounts) > 1]
    return Figure(
        name="scaling",
        title="Would more evidence help?",
        words=_words(curves, support),
        plots=[Plot(f"scaling-{curve.axis}", spec(rows(curve)), _title(curve)) for curve in drawn],
        table=_table(curves),
    )


def rows(curve: EvidenceCurve) -> list[dict[str, Any]]:
    """One row an amount of evidence, with one standard deviation over orderings or draws."""
    return [
        {"amount": int(amount), "mae": float(mae), "low": float(mae - spread), "high": float(mae + spread)}
        for amount, mae, spread in zip(curve.amounts, curve.mae, curve.spread, strict=True)
    ]


def spec(data: list[dict[str, Any]]) -> Spec:
    """A line with its points; the band is one standard deviation."""
    wide = data[-1]["amount"] > 12
    scale = {"type": "log", "base": 2, "nice": False} if wide else {"zero": False, "nice": False}
    ticks = [line["amount"] for line in data]
    x = {
        "field": "amount",
        "type": "quantitative",
        "title": None,
        "scale": scale,
        "axis": {"format": "d", "values": _spread_ticks(ticks), "grid": False},
    }
    y = {**number_axis("mae", None, ".3f"), "scale": {"zero": False, "nice": True, "padding": 6}}
    hover = tooltip(
        ("amount", "Amount", ",d"),
        ("mae", "Gain error (MAE)", ".4f"),
        ("low", "−1 SD", ".4f"),
        ("high", "+1 SD", ".4f"),
    )
    place = {"x": x, "y": y}
    return base(
        data,
        height=190,
        layer=[
            {
                "mark": {"type": "area", "color": role("accent"), "opacity": 0.16},
                "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {"mark": {"type": "line", "color": role("accent"), "strokeWidth": 2}, "encoding": place},
            {
                "mark": {"type": "point", "filled": True, "size": 42, "color": role("accent"), "opacity": 1},
                "encoding": {**place, "tooltip": hover},
            },
        ],
    )


def _spread_ticks(amounts: Sequence[int], limit: int = 7) -> list[int]:
    """At most `limit` of the amounts, the first and the last among them."""
    if len(amounts) <= limit:
        return list(amounts)
    places = {round(i * (len(amounts) - 1) / (limit - 1)) for i in range(limit)}
    return [amounts[place] for place in sorted(places)]


def _title(curve: EvidenceCurve) -> str:
    return f"Gain error by {_WORDS[curve.axis][0][0].lower()}{_WORDS[curve.axis][0][1:]}"


def _words(curves: Sequence[EvidenceCurve], support: Support) -> list[str]:
    sentences = [
        "The error is the mean distance between predicted and observed gains: lower is better. The targets stay the same "
        "along a curve; only the evidence about them changes."
    ]
    sentences += [_sentence(curve, support) for curve in curves]
    left_out = sorted({name for curve in curves for name in curve.left_out})
    if left_out:
        sentences.append(
            f"{plural(len(left_out), 'family is', 'families are')} too small to follow along at least one of the curves."
        )
    return sentences


def _sentence(curve: EvidenceCurve, support: Support) -> str:
    first, last, best = 0, len(curve.amounts) - 1, int(curve.mae.argmin())
    if last == 0:
        return _sentence_of_one_point(curve, support)
    start, end = float(curve.mae[first]), float(curve.mae[last])
    change = (end - start) / start if start else 0.0
    ends = f"{decimal(start)} with {count(curve.amounts[first])} to {decimal(end)} with {count(curve.amounts[last])}"
    direction = "stays about the same" if abs(change) < _NOTICEABLE else "falls" if change < 0 else "rises"
    by = "" if abs(change) < _NOTICEABLE else f" ({percent(abs(change), 0)})"
    text = f"{_WORDS[curve.axis][1]}: the error {direction}, from {ends}{by}."
    if best not in (first, last):
        text += f" It is lowest at {count(curve.amounts[best])} ({decimal(float(curve.mae[best]))})."
    return text


def _sentence_of_one_point(curve: EvidenceCurve, support: Support) -> str:
    name, repeated = _WORDS[curve.axis][1], (support.r0 > 1) | (support.r1 > 1)
    if curve.axis != "repetitions" or not repeated.any():
        return f"{name}: every task has {count(curve.amounts[0])}, so there is nothing to compare."
    most = max(int(support.r0.max()), int(support.r1.max()))
    some, tasks = (len(set(ids.tolist())) for ids in (support.task_ids[repeated], support.task_ids))
    return (
        f"{name}: 1 to {count(most)} runs a condition ({count(some)} of {plural(tasks, 'task')} have more than one). "
        "A curve needs more than one of every task, so there is nothing to compare."
    )


def _table(curves: Sequence[EvidenceCurve]) -> Table:
    columns = [
        Column("What varies", numeric=False),
        Column("Amount"),
        Column("Gain error"),
        Column("SD"),
        Column("Targets"),
    ]
    return Table(
        columns,
        [
            [
                words_cell(_WORDS[curve.axis][1]),
                cell(count(amount), amount),
                cell(decimal(mae, 4), mae),
                cell(decimal(spread, 4) if spread else "–", spread or None),
                cell(count(curve.targets), curve.targets),
            ]
            for curve in curves
            for amount, mae, spread in zip(
                curve.amounts.tolist(), curve.mae.tolist(), curve.spread.tolist(), strict=True
            )
        ],
    )
