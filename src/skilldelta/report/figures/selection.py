"""Selection components: how much of the advantage is choosing within families, and how much choosing between them."""

from __future__ import annotations

from typing import Any

from skilldelta.evaluation.policy_table import policy_words
from skilldelta.evaluation.results import PanelResult, PolicyResult
from skilldelta.report.content import Cell, Column, Figure, Plot, Spec, Table
from skilldelta.report.numbers import cell, points, size, spread, words_cell
from skilldelta.report.palette import role
from skilldelta.report.vega import NARROW, base, interval_over_bar, number_axis, reference_line, row_axis, tooltip

_CONSTANT = ("always_off", "always_on", "random_matched")
_WEAK_SHARE = 0.25
"""Share of the advantage up to which selection within families is called weak."""
WITHIN, BETWEEN = "Within families", "Between families"


def components(panel: PanelResult, gate: str) -> Figure:
    """Within-group selection and between-group allocation; they sum to the advantage exactly."""
    chosen = [policy for name, policy in panel.policies.items() if name not in _CONSTANT]
    chosen.sort(key=lambda policy: -policy.advantage_vs_random)
    title = "The two parts of the advantage over random use, in points, with 95% intervals"
    return Figure(
        name="components",
        title="Where does the advantage come from?",
        words=_words(panel, panel.policies.get(gate)),
        plots=[Plot("components", spec(rows(chosen)), title)] if chosen else (),
        table=_table(chosen) if chosen else None,
    )


def rows(policies: list[PolicyResult]) -> list[dict[str, Any]]:
    """Two rows per policy, in percentage points."""
    found = []
    for policy in policies:
        for part, field in ((WITHIN, "within_group"), (BETWEEN, "between_group")):
            interval = policy.intervals.get(field)
            found.append(
                {
                    "policy": policy_words(policy.name),
                    "part": part,
                    "value": 100 * getattr(policy, field),
                    "low": None if interval is None or interval.low is None else 100 * interval.low,
                    "high": None if interval is None or interval.high is None else 100 * interval.high,
                }
            )
    return found


def spec(data: list[dict[str, Any]]) -> Spec:
    """Two thin bars per policy, each with its interval."""
    order = list(dict.fromkeys(line["policy"] for line in data))
    y = row_axis("policy", order)
    offset = {"field": "part", "type": "nominal", "sort": [BETWEEN, WITHIN]}
    x = number_axis("value", None, "+.1f", zero=True)
    color = {
        "field": "part",
        "type": "nominal",
        "scale": {"domain": [BETWEEN, WITHIN], "range": [role("always_off"), role("accent")]},
        "legend": {"columns": {"expr": f"{NARROW} ? 1 : 0"}},
    }
    hover = tooltip(
        ("policy", "Policy", ""),
        ("part", "Part", ""),
        ("value", "Points", "+.2f"),
        ("low", "95% from", "+.2f"),
        ("high", "95% to", "+.2f"),
    )
    return base(
        data,
        height={"step": 17},
        layer=[
            {
                "mark": {"type": "bar", "cornerRadiusEnd": 1},
                "encoding": {"y": y, "yOffset": offset, "x": x, "color": color, "tooltip": hover},
            },
            *interval_over_bar("low", "high", y=y, yOffset=offset, tooltip={"value": None}),
            reference_line(0.0, dash=False),
        ],
    )


def _words(panel: PanelResult, own: PolicyResult | None) -> list[str]:
    sentences = [
        "Between families: using the skill more in families where it helps more. Within families: picking the right tasks "
        "inside a family. The two add up to the advantage over random use."
    ]
    if own is not None:
        sentences.append(_split_sentence(own))
    if panel.structure.singletons:
        sentences.append("Families with a single task can contribute only between families.")
    return sentences


def _split_sentence(own: PolicyResult) -> str:
    name = policy_words(own.name)
    interval = spread(own.intervals.get("within_group"), as_points=True)
    certainty = f" (95% interval {interval})" if interval else ""
    return (
        f"Of {name}'s {points(own.advantage_vs_random)} points, {points(own.between_group)} come from allocation between "
        f"families and {points(own.within_group)} from selection within them{certainty}. {_reading(own)}"
    )


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


def _table(chosen: list[PolicyResult]) -> Table:
    columns = [
        Column("Policy", numeric=False),
        Column("Advantage, points"),
        Column("Between"),
        Column("95%"),
        Column("Within"),
        Column("95%"),
    ]
    return Table(
        columns,
        [
            [
                words_cell(policy_words(policy.name)),
                cell(points(policy.advantage_vs_random, 2), policy.advantage_vs_random),
                cell(points(policy.between_group, 2), policy.between_group),
                _interval_cell(policy, "between_group"),
                cell(points(policy.within_group, 2), policy.within_group),
                _interval_cell(policy, "within_group"),
            ]
            for policy in chosen
        ],
    )


def _interval_cell(policy: PolicyResult, metric: str) -> Cell:
    found = policy.intervals.get(metric)
    return cell(spread(found, as_points=True) or "–", found.low if found else None)
