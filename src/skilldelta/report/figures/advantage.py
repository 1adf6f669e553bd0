"""Matched-rate advantage: what choosing tasks adds over using the skill equally often on randomly chosen ones.

Its two components say how much of it is choosing within families, and how much choosing between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from skilldelta.estimators.registry import policy_words
from skilldelta.evaluation.results import PanelResult, PolicyResult, Range
from skilldelta.report import vega
from skilldelta.report.content import Cell, Figure, Plot, Spec, Table, columns
from skilldelta.report.numbers import DASH, cell, certainty, distance, excludes_zero, percent, points, size, spread
from skilldelta.report.palette import role

TITLE = (
    "Success above random use at the same rate, in points; 95% intervals over tasks (thick) and whole families (thin)"
)
_CONSTANT = ("always_off", "always_on", "random_matched")
# Share of the advantage up to which selection within families is called weak.
_WEAK_SHARE = 0.25
WITHIN, BETWEEN = "Within families", "Between families"


def advantage(panel: PanelResult, gate: str) -> Figure:
    """Advantage over random use at the same rate, by policy, with task and whole-family intervals."""
    words, chosen = _advantage_words(panel.policies.get(gate)), _selecting(panel)
    figure = Figure("advantage", "Does it choose the right tasks?", words)
    if not chosen:
        return figure
    lines = [advantage_line(policy, policy_words(policy.name)) for policy in chosen]
    rows = [
        [
            *_advantage_cells(policy),
            _interval_cell(policy, "advantage_vs_random"),
            _interval_cell(policy, "advantage_vs_random_by_family"),
            cell(percent(policy.use_rate), policy.use_rate),
        ]
        for policy in chosen
    ]
    table = Table(columns("Policy", "Advantage, points", "95%, tasks", "95%, families", "Use rate"), rows)
    return replace(figure, plots=[Plot("advantage", advantage_spec(lines), TITLE)], table=table)


def _selecting(panel: PanelResult) -> list[PolicyResult]:
    """The policies that choose tasks, the one with the largest advantage first."""
    chosen = [policy for name, policy in panel.policies.items() if name not in _CONSTANT]
    return sorted(chosen, key=lambda policy: -policy.advantage_vs_random)


def advantage_line(policy: PolicyResult, label: str) -> dict[str, Any]:
    """The advantage of one policy in percentage points, under the label of its line in the plot."""
    low, high = _ends(policy.intervals.get("advantage_vs_random"))
    family_low, family_high = _ends(policy.intervals.get("advantage_vs_random_by_family"))
    return {
        "name": policy.name,
        "policy": label,
        "advantage": 100 * policy.advantage_vs_random,
        "use_rate": policy.use_rate,
        "low": low,
        "high": high,
        "family_low": family_low,
        "family_high": family_high,
    }


def _ends(interval: Range | None) -> list[float | None]:
    """Both ends of an interval in percentage points."""
    ends = (None, None) if interval is None else (interval.low, interval.high)
    return [None if end is None else 100 * float(end) for end in ends]


def advantage_spec(data: Sequence[dict[str, Any]]) -> Spec:
    """A point per policy; the thick line resamples tasks, the thin one whole families."""
    y = vega.row_axis("policy", [line["policy"] for line in data])
    names = list(dict.fromkeys(line["name"] for line in data))
    scale = {"domain": names, "range": [role(name) for name in names]}
    color = {"field": "name", "type": "nominal", "scale": scale, "legend": None}
    hover = vega.tooltip(
        ("policy", "Policy", ""),
        ("advantage", "Advantage (points)", "+.2f"),
        ("low", "95% from (tasks)", "+.2f"),
        ("high", "95% to (tasks)", "+.2f"),
        ("family_low", "95% from (families)", "+.2f"),
        ("family_high", "95% to (families)", "+.2f"),
        ("use_rate", "Use rate", ".1%"),
    )
    dot = {"type": "point", "filled": True, "size": 75, "opacity": 1, "stroke": role("page"), "strokeWidth": 1}
    return vega.base(
        data,
        height={"step": vega.BAR_STEP},
        layer=[
            vega.reference_line(0.0),
            vega.interval_rule("family_low", "family_high", width=1, y=y, color=color),
            vega.interval_rule("low", "high", width=3.5, y=y, color=color),
            vega.layer(dot, y=y, x=vega.number_axis("advantage", None, "+.1f"), color=color, tooltip=hover),
        ],
    )


def _advantage_words(own: PolicyResult | None) -> list[str]:
    sentences = [
        "A policy that uses the skill often gains from the skill itself. Compared with random use at the same rate, only the "
        "choice of tasks counts."
    ]
    if own is None:
        return sentences
    sentences.append(
        f"{policy_words(own.name)} used the skill on {percent(own.use_rate, 0)} of tasks and is "
        f"{distance(own.advantage_vs_random)} random use at that rate{_both_intervals(own)}."
    )
    return sentences


def _both_intervals(own: PolicyResult) -> str:
    task, family = own.intervals.get("advantage_vs_random"), own.intervals.get("advantage_vs_random_by_family")
    parts = []
    if spread(task):
        parts.append(f"95% interval {spread(task, as_points=True)}")
    if spread(family):
        parts.append(f"{spread(family, as_points=True)} when whole families are resampled")
    if not parts:
        return ""
    return f" ({'; '.join(parts)})" + ("" if excludes_zero(task) else ", which may be chance")


def components(panel: PanelResult, gate: str) -> Figure:
    """Within-group selection and between-group allocation; they sum to the advantage exactly."""
    words, chosen = _components_words(panel, panel.policies.get(gate)), _selecting(panel)
    figure = Figure("components", "Where does the advantage come from?", words)
    if not chosen:
        return figure
    title = "The two parts of the advantage over random use, in points, with 95% intervals"
    rows = [
        [
            *_advantage_cells(policy),
            cell(points(policy.between_group, 2), policy.between_group),
            _interval_cell(policy, "between_group"),
            cell(points(policy.within_group, 2), policy.within_group),
            _interval_cell(policy, "within_group"),
        ]
        for policy in chosen
    ]
    table = Table(columns("Policy", "Advantage, points", "Between", "95%", "Within", "95%"), rows)
    return replace(figure, plots=[Plot("components", _components_spec(_parts(chosen)), title)], table=table)


def _parts(policies: list[PolicyResult]) -> list[dict[str, Any]]:
    """Two rows per policy, in percentage points."""
    rows = []
    for policy in policies:
        for part, field in ((WITHIN, "within_group"), (BETWEEN, "between_group")):
            low, high = _ends(policy.intervals.get(field))
            value = 100 * getattr(policy, field)
            rows.append({"policy": policy_words(policy.name), "part": part, "value": value, "low": low, "high": high})
    return rows


def _components_spec(data: list[dict[str, Any]]) -> Spec:
    """Two thin bars per policy, each with its interval."""
    y = vega.row_axis("policy", list(dict.fromkeys(line["policy"] for line in data)))
    offset = {"field": "part", "type": "nominal", "sort": [BETWEEN, WITHIN]}
    x = vega.number_axis("value", None, "+.1f", zero=True)
    color = {
        "field": "part",
        "type": "nominal",
        "scale": {"domain": [BETWEEN, WITHIN], "range": [role("always_off"), role("accent")]},
        "legend": {"columns": {"expr": f"{vega.NARROW} ? 1 : 0"}},
    }
    hover = vega.tooltip(
        ("policy", "Policy", ""),
        ("part", "Part", ""),
        ("value", "Points", "+.2f"),
        ("low", "95% from", "+.2f"),
        ("high", "95% to", "+.2f"),
    )
    return vega.base(
        data,
        height={"step": 17},
        layer=[
            vega.layer({"type": "bar", "cornerRadiusEnd": 1}, y=y, yOffset=offset, x=x, color=color, tooltip=hover),
            *vega.interval_over_bar(y=y, yOffset=offset, tooltip={"value": None}),
            vega.reference_line(0.0, dash=False),
        ],
    )


def _components_words(panel: PanelResult, own: PolicyResult | None) -> list[str]:
    sentences = [
        "Between families: using the skill more in families where it helps more. Within families: picking the right tasks "
        "inside a family. The two add up to the advantage over random use."
    ]
    if own is not None:
        sentences.append(
            f"Of {policy_words(own.name)}'s {points(own.advantage_vs_random)} points, {points(own.between_group)} come from "
            f"allocation between families and {points(own.within_group)} from selection within them"
            f"{certainty(own.intervals.get('within_group'), as_points=True)}. {_reading(own)}"
        )
    if panel.structure.singletons:
        sentences.append("Families with a single task can contribute only between families.")
    return sentences


def _reading(own: PolicyResult) -> str:
    interval = own.intervals.get("within_group")
    if interval is not None and interval.low is not None and interval.low > 0:
        weak = own.within_group <= _WEAK_SHARE * own.advantage_vs_random
        return "It does tell tasks of one family apart" + (", a little." if weak else ".")
    if interval is not None and interval.high is not None and interval.high < 0:
        return f"Within a family its choices lose {size(own.within_group)}: a rule by family would do better."
    if own.within_group <= _WEAK_SHARE * abs(own.advantage_vs_random):
        return "It mainly knows which families merit the skill; telling tasks of one family apart is weak."
    return "Both parts count."


def _advantage_cells(policy: PolicyResult) -> list[Cell]:
    advantage = policy.advantage_vs_random
    return [Cell(policy_words(policy.name)), cell(points(advantage, 2), advantage)]


def _interval_cell(policy: PolicyResult, metric: str) -> Cell:
    interval = policy.intervals.get(metric)
    return cell(spread(interval, as_points=True) or DASH, interval.low if interval else None)
