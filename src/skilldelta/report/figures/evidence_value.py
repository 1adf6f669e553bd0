"""What evidence is worth: whether more of it would make predictions better, and when what it cost is won back.

Evidence scaling is the error of predicted gains over support size, neighbors and repetitions, with the targets fixed.
Deployment accounting is what the bank cost, what the gate saves per task, and when it has paid for itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skilldelta.estimators.registry import policy_words
from skilldelta.evaluation.accounting import Account, Unit, UnitAccount
from skilldelta.evaluation.evidence_scaling import Axis, EvidenceCurve
from skilldelta.nouns import plural
from skilldelta.report import vega
from skilldelta.report.content import Cell, Figure, Plot, Spec, Table, columns
from skilldelta.report.numbers import DASH, cell, count, decimal, percent, size
from skilldelta.report.palette import policy_scale, role
from skilldelta.support import Support

_AXIS_TITLES: dict[Axis, str] = {
    "support": "tasks in the support pool (n)",
    "neighbors": "neighbors averaged (k)",
    "repetitions": "repetitions of each arm (r)",
}
_AXIS_NAMES: dict[Axis, str] = {"support": "Support", "neighbors": "Neighbors", "repetitions": "Repetitions"}
# Relative change of the error below which a curve is called flat.
_NOTICEABLE = 0.01


def scaling(curves: Sequence[EvidenceCurve], support: Support) -> Figure | None:
    """One plot per curve; None where none was computed. A curve of one point is told in words only."""
    if not curves:
        return None
    drawn = [curve for curve in curves if len(curve.amounts) > 1]
    return Figure(
        name="scaling",
        title="Would more evidence help?",
        words=_scaling_words(curves, support),
        plots=[
            Plot(f"scaling-{curve.axis}", _scaling_spec(curve), f"Gain error by {_AXIS_TITLES[curve.axis]}")
            for curve in drawn
        ],
        table=Table(
            columns("What varies", "Amount", "Gain error", "SD", "Targets"),
            [row for curve in curves for row in _scaling_rows(curve)],
        ),
    )


def _scaling_spec(curve: EvidenceCurve) -> Spec:
    """A line with its points; the band is one standard deviation over orderings or draws."""
    data = [
        {"amount": int(amount), "mae": float(mae), "low": float(mae - spread), "high": float(mae + spread)}
        for amount, mae, spread in zip(curve.amounts, curve.mae, curve.spread, strict=True)
    ]
    amounts = [int(amount) for amount in curve.amounts]
    wide = {"type": "log", "base": 2, "nice": False}
    x = {
        **vega.measured("amount"),
        "title": None,
        "scale": wide if amounts[-1] > 12 else {"zero": False, "nice": False},
        "axis": {"format": "d", "values": _spread_ticks(amounts), "grid": False},
    }
    y = {**vega.number_axis("mae", None, ".3f"), "scale": {"zero": False, "nice": True, "padding": 6}}
    hover = vega.tooltip(
        ("amount", "Amount", ",d"),
        ("mae", "Gain error (MAE)", ".4f"),
        ("low", "−1 SD", ".4f"),
        ("high", "+1 SD", ".4f"),
    )
    accent = role("accent")
    dot = {"type": "point", "filled": True, "size": 42, "color": accent, "opacity": 1}
    band: Spec = {"y": {**y, "field": "low"}, "y2": {"field": "high"}}
    return vega.base(
        data,
        height=190,
        layer=[
            vega.layer({"type": "area", "color": accent, "opacity": 0.16}, x=x, **band),
            vega.layer({"type": "line", "color": accent, "strokeWidth": 2}, x=x, y=y),
            vega.layer(dot, x=x, y=y, tooltip=hover),
        ],
    )


def _spread_ticks(amounts: Sequence[int], limit: int = 7) -> list[int]:
    """At most `limit` of the amounts, the first and the last among them."""
    if len(amounts) <= limit:
        return list(amounts)
    places = {round(i * (len(amounts) - 1) / (limit - 1)) for i in range(limit)}
    return [amounts[place] for place in sorted(places)]


def _scaling_words(curves: Sequence[EvidenceCurve], support: Support) -> list[str]:
    sentences = [
        "The error is the mean distance between predicted and observed gains: lower is better. The targets stay the same "
        "along a curve; only the evidence about them changes."
    ]
    sentences += [_scaling_sentence(curve, support) for curve in curves]
    left_out = sorted({name for curve in curves for name in curve.left_out})
    if left_out:
        sentences.append(
            f"{plural(len(left_out), 'family is', 'families are')} too small to follow along at least one of the curves."
        )
    return sentences


def _scaling_sentence(curve: EvidenceCurve, support: Support) -> str:
    first, last, best = 0, len(curve.amounts) - 1, int(curve.mae.argmin())
    if last == 0:
        return _sentence_of_one_point(curve, support)
    start, end = float(curve.mae[first]), float(curve.mae[last])
    change = (end - start) / start if start else 0.0
    ends = f"{decimal(start)} with {count(curve.amounts[first])} to {decimal(end)} with {count(curve.amounts[last])}"
    direction = "stays about the same" if abs(change) < _NOTICEABLE else "falls" if change < 0 else "rises"
    by = "" if abs(change) < _NOTICEABLE else f" ({percent(abs(change), 0)})"
    text = f"{_AXIS_NAMES[curve.axis]}: the error {direction}, from {ends}{by}."
    if best not in (first, last):
        text += f" It is lowest at {count(curve.amounts[best])} ({decimal(float(curve.mae[best]))})."
    return text


def _sentence_of_one_point(curve: EvidenceCurve, support: Support) -> str:
    name, repeated = _AXIS_NAMES[curve.axis], (support.r0 > 1) | (support.r1 > 1)
    if curve.axis != "repetitions" or not repeated.any():
        return f"{name}: every task has {count(curve.amounts[0])}, so there is nothing to compare."
    most = max(int(support.r0.max()), int(support.r1.max()))
    some, tasks = (len(set(ids.tolist())) for ids in (support.task_ids[repeated], support.task_ids))
    return (
        f"{name}: 1 to {count(most)} runs a condition ({count(some)} of {plural(tasks, 'task')} have more than one). "
        "A curve needs more than one of every task, so there is nothing to compare."
    )


def _scaling_rows(curve: EvidenceCurve) -> list[list[Cell]]:
    lines = zip(curve.amounts.tolist(), curve.mae.tolist(), curve.spread.tolist(), strict=True)
    return [
        [
            Cell(_AXIS_NAMES[curve.axis]),
            cell(count(amount), amount),
            cell(decimal(mae, 4), mae),
            cell(decimal(spread, 4) if spread else DASH, spread or None),
            cell(count(curve.targets), curve.targets),
        ]
        for amount, mae, spread in lines
    ]


_UNIT_WORDS: dict[Unit, str] = {"tokens": "tokens", "seconds": "seconds", "usd": "dollars"}
_BASELINE_WORDS = {"always_on": "always using the skill", "always_off": "never using it"}


def accounting(account: Account | None, gate: str) -> Figure | None:
    """Bank, routing and savings side by side; the plot is in tokens, or in the first unit that has a saving."""
    if account is None:
        return None
    drawn = next((unit for unit in account.units if unit.bank is not None and unit.policy is not None), None)
    gate_title = f"{policy_words(gate)}, per task"
    titles = ("Unit", "Bank", "Never, per task", "Always, per task", gate_title, "of it routing", "Saved per task")
    return Figure(
        name="accounting",
        title="Has the bank paid for itself?",
        words=_accounting_words(account, gate),
        plots=[_accounting_plot(drawn, account, gate)] if drawn else (),
        table=Table(columns(*titles, "Paid after, tasks"), [_accounting_row(unit) for unit in account.units]),
    )


def _accounting_plot(unit: UnitAccount, account: Account, gate: str) -> Plot:
    """The lines of the baseline and the gate cross where the bank has paid."""
    data, unit_words = _spending(unit, account, gate), _UNIT_WORDS[unit.unit]
    color = {"field": "policy", "type": "nominal", "scale": policy_scale(dict.fromkeys(line["name"] for line in data))}
    x = vega.number_axis(
        "tasks", "Tasks after the bank was built", ",d", zero=True, labelExpr="format(datum.value, '~s')"
    )
    y = vega.number_axis("spent", None, "~s", zero=True, labelExpr="format(datum.value, '~s')")
    hover = vega.tooltip(("policy", "Policy", ""), ("tasks", "Tasks", ",d"), ("spent", unit_words.title(), ",.0f"))
    layers = [
        vega.layer({"type": "line", "strokeWidth": 2}, x=x, y=y, color=color),
        vega.layer({"type": "point", "filled": True, "size": 40, "opacity": 1}, x=x, y=y, color=color, tooltip=hover),
        *_crossing(data, unit),
    ]
    title = f"What everything has cost after so many tasks, in {unit_words}"
    return Plot("accounting", vega.base(data, height=230, layer=layers), title)


def _spending(unit: UnitAccount, account: Account, gate: str) -> list[dict[str, Any]]:
    """Two straight lines: the baseline from zero, the gate from the cost of its bank."""
    every = unit.always_on if account.baseline == "always_on" else unit.always_off
    assert unit.bank is not None
    assert unit.policy is not None
    assert every is not None
    horizon = 2 * unit.break_even if unit.break_even else 4 * max(unit.tasks, 1)
    lines = ((account.baseline, 0.0, every), (gate, unit.bank, unit.policy))
    return [
        {"name": name, "policy": policy_words(name), "tasks": tasks, "spent": start + tasks * each}
        for name, start, each in lines
        for tasks in (0, horizon // 2, horizon)
    ]


def _crossing(data: list[dict[str, Any]], unit: UnitAccount) -> list[Spec]:
    if not unit.break_even:
        return []
    spent = next(line["spent"] for line in data if line["tasks"] == unit.break_even)
    point = {"tasks": unit.break_even, "spent": spent, "label": f"paid after {plural(unit.break_even, 'task')}"}
    place = {"x": vega.measured("tasks"), "y": vega.measured("spent")}
    ring = {"type": "point", "size": 130, "color": role("ink"), "strokeWidth": 1.5, "opacity": 1}
    label = {"type": "text", "align": "left", "dx": 10, "dy": 16, "color": role("ink")}
    text = {"field": "label", "type": "nominal"}
    return [vega.layer(ring, data=[point], **place), vega.layer(label, data=[point], **place, text=text)]


def _accounting_words(account: Account, gate: str) -> list[str]:
    sentences = [
        "Savings are often told without the runs that taught the gate. Here the bank is part of the bill: "
        f"{plural(account.executions, 'execution')}, counted or not."
    ]
    priced = [unit for unit in account.units if unit.bank is not None and unit.saving is not None]
    sentences += [_unit_sentence(unit, account, gate) for unit in priced]
    seconds = account.of("seconds").routing
    if seconds:
        duration = f"{1000 * seconds:.2g} ms" if seconds < 0.1 else f"{seconds:.2g} s"
        sentences.append(f"Encoding a question and finding its neighbors takes {duration}, and no generative call.")
    unknown = [_UNIT_WORDS[unit.unit] for unit in account.units if unit.bank is None]
    if unknown:
        sentences.append(f"Not recorded: {' and '.join(unknown)}.")
    return sentences


def _unit_sentence(unit: UnitAccount, account: Account, gate: str) -> str:
    name, words = policy_words(gate), _UNIT_WORDS[unit.unit]
    against = _BASELINE_WORDS[account.baseline]
    change = account.success_change
    besides = "" if abs(change) < 5e-4 else f", with success {size(change)} {'higher' if change > 0 else 'lower'}"
    cost = f"The bank cost {_amount(unit.bank, unit.unit)} {words}"
    if unit.unrecorded:
        cost += f", and more: {plural(unit.unrecorded, 'execution')} did not say"
    if unit.break_even is None:
        return f"{cost}. {name} does not save {words} against {against}, so they are never won back{besides}."
    return (
        f"{cost}. {name} saves {_amount(unit.saving, unit.unit)} {words} per task against {against}{besides}: the bank has paid "
        f"for itself after {plural(unit.break_even, 'task')}. {_in_proportion(unit.break_even, unit.tasks)}"
    )


def _in_proportion(break_even: int, tasks: int) -> str:
    """How the break-even compares with the panel itself."""
    if not tasks:
        return ""
    times = break_even / tasks
    if times < 1:
        return f"That is {percent(times, 0)} of the bank's own size."
    return f"That is {times:,.{0 if times >= 10 else 1}f} times as many tasks as the bank has."


def _accounting_row(unit: UnitAccount) -> list[Cell]:
    amounts = (unit.bank, unit.always_off, unit.always_on, unit.policy, unit.routing, unit.saving)
    cells = [cell(_amount(value, unit.unit), value) for value in amounts]
    paid = DASH if unit.saving is None else "never" if unit.break_even is None else count(unit.break_even)
    return [Cell(_UNIT_WORDS[unit.unit]), *cells, cell(paid, unit.break_even)]


def _amount(value: float | None, unit: Unit) -> str:
    """Whole tokens, otherwise as many digits as a small number needs."""
    if value is None or unit == "tokens" or abs(value) >= 100:
        return count(value)
    return f"{value:.3g}" if value else "0"
