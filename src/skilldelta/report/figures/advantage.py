"""Matched-rate advantage: what choosing tasks adds over using the skill equally often on randomly chosen ones."""

from __future__ import annotations

from typing import Any

from skilldelta.evaluation.policy_table import policy_words
from skilldelta.evaluation.results import PanelResult, PolicyResult, Range
from skilldelta.report.content import Cell, Column, Figure, Plot, Spec, Table
from skilldelta.report.numbers import cell, percent, points, size, spread, words_cell
from skilldelta.report.palette import role
from skilldelta.report.vega import BAR_STEP, base, interval_rule, number_axis, reference_line, row_axis, tooltip

TITLE = (
    "Success above random use at the same rate, in points; 95% intervals over tasks (thick) and whole families (thin)"
)
_CONSTANT = ("always_off", "always_on", "random_matched")


def advantage(panel: PanelResult, gate: str) -> Figure:
    """Advantage over random use at the same rate, by policy, with task and whole-family intervals."""
    chosen = _selecting(panel)
    return Figure(
        name="advantage",
        title="Does it choose the right tasks?",
        words=_words(panel.policies.get(gate)),
        plots=[Plot("advantage", spec(rows(chosen)), TITLE)] if chosen else (),
        table=_table(chosen) if chosen else None,
    )


def rows(policies: list[PolicyResult]) -> list[dict[str, Any]]:
    """One row per policy, in percentage points."""
    return [row(policy, policy_words(policy.name)) for policy in policies]


def row(policy: PolicyResult, label: str) -> dict[str, Any]:
    """The advantage of one policy in percentage points, under the label of its line in the plot."""
    task, family = policy.intervals.get("advantage_vs_random"), policy.intervals.get("advantage_vs_random_by_family")
    return {
        "name": policy.name,
        "policy": label,
        "advantage": 100 * policy.advantage_vs_random,
        "use_rate": policy.use_rate,
        "low": _scaled(task, "low"),
        "high": _scaled(task, "high"),
        "family_low": _scaled(family, "low"),
        "family_high": _scaled(family, "high"),
    }


def spec(data: list[dict[str, Any]]) -> Spec:
    """A point per policy; the thick line resamples tasks, the thin one whole families."""
    y = row_axis("policy", [line["policy"] for line in data])
    x = number_axis("advantage", None, "+.1f")
    names = list(dict.fromkeys(line["name"] for line in data))
    color = {
        "field": "name",
        "type": "nominal",
        "scale": {"domain": names, "range": [role(name) for name in names]},
        "legend": None,
    }
    hover = tooltip(
        ("policy", "Policy", ""),
        ("advantage", "Advantage (points)", "+.2f"),
        ("low", "95% from (tasks)", "+.2f"),
        ("high", "95% to (tasks)", "+.2f"),
        ("family_low", "95% from (families)", "+.2f"),
        ("family_high", "95% to (families)", "+.2f"),
        ("use_rate", "Use rate", ".1%"),
    )
    return base(
        data,
        height={"step": BAR_STEP},
        layer=[
            reference_line(0.0),
            interval_rule("family_low", "family_high", width=1, y=y, color=color),
            interval_rule("low", "high", width=3.5, y=y, color=color),
            {
                "mark": {
                    "type": "point",
                    "filled": True,
                    "size": 75,
                    "opacity": 1,
                    "stroke": role("paper"),
                    "strokeWidth": 1,
                },
                "encoding": {"y": y, "x": x, "color": color, "tooltip": hover},
            },
        ],
    )


def _selecting(panel: PanelResult) -> list[PolicyResult]:
    chosen = [policy for name, policy in panel.policies.items() if name not in _CONSTANT]
    return sorted(chosen, key=lambda policy: -policy.advantage_vs_random)


def _scaled(found: Range | None, end: str) -> float | None:
    value = getattr(found, end) if found is not None else None
    return None if value is None else 100 * float(value)


def _words(own: PolicyResult | None) -> list[str]:
    sentences = [
        "A policy that uses the skill often gains from the skill itself. Compared with random use at the same rate, only the "
        "choice of tasks counts."
    ]
    if own is None:
        return sentences
    task, family = own.intervals.get("advantage_vs_random"), own.intervals.get("advantage_vs_random_by_family")
    direction = "above" if own.advantage_vs_random >= 0 else "below"
    sentences.append(
        f"{policy_words(own.name)} used the skill on {percent(own.use_rate, 0)} of tasks and is "
        f"{size(own.advantage_vs_random)} {direction} random use at that rate{_certainty(task, family)}."
    )
    return sentences


def _certainty(task: Range | None, family: Range | None) -> str:
    parts = []
    if spread(task):
        parts.append(f"95% interval {spread(task, as_points=True)}")
    if spread(family):
        parts.append(f"{spread(family, as_points=True)} when whole families are resampled")
    if not parts:
        return ""
    excludes = task is not None and task.low is not None and task.high is not None and (task.low > 0 or task.high < 0)
    return f" ({'; '.join(parts)})" + ("" if excludes else ", which may be chance")


def _table(chosen: list[PolicyResult]) -> Table:
    columns = [
        Column("Policy", numeric=False),
        Column("Advantage, points"),
        Column("95%, tasks"),
        Column("95%, families"),
        Column("Use rate"),
    ]
    return Table(
        columns,
        [
            [
                words_cell(policy_words(policy.name)),
                cell(points(policy.advantage_vs_random, 2), policy.advantage_vs_random),
                _interval_cell(policy.intervals.get("advantage_vs_random")),
                _interval_cell(policy.intervals.get("advantage_vs_random_by_family")),
                cell(percent(policy.use_rate), policy.use_rate),
            ]
            for policy in chosen
        ],
    )


def _interval_cell(found: Range | None) -> Cell:
    return cell(spread(found, as_points=True) or "–", found.low if found else None)
