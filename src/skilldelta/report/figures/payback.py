"""Deployment accounting: what the bank cost, what the gate saves per task, and when it has paid for itself."""

from __future__ import annotations

from typing import Any

from skilldelta.evaluation.accounting import Account, Unit, UnitAccount
from skilldelta.evaluation.policy_table import policy_words
from skilldelta.nouns import plural
from skilldelta.report.content import Cell, Column, Figure, Plot, Spec, Table
from skilldelta.report.numbers import cell, count, percent, size, words_cell
from skilldelta.report.palette import role
from skilldelta.report.vega import base, number_axis, tooltip

_UNIT_WORDS: dict[Unit, str] = {"tokens": "tokens", "seconds": "seconds", "usd": "dollars"}
_BASELINE_WORDS = {"always_on": "always using the skill", "always_off": "never using it"}


def accounting(account: Account | None, gate: str) -> Figure | None:
    """Bank, routing and savings side by side; the plot is in tokens, or in the first unit that has a saving."""
    if account is None:
        return None
    drawn = next((unit for unit in account.units if unit.bank is not None and unit.policy is not None), None)
    title = "What everything has cost after so many tasks"
    return Figure(
        name="accounting",
        title="Has the bank paid for itself?",
        words=_words(account, gate),
        plots=[Plot("accounting", spec(rows(drawn, account, gate), drawn), f"{title}, in {_UNIT_WORDS[drawn.unit]}")]
        if drawn
        else (),
        table=_table(account, gate),
    )


def rows(unit: UnitAccount, account: Account, gate: str) -> list[dict[str, Any]]:
    """Two straight lines: the baseline from zero, the gate from the cost of its bank."""
    assert unit.bank is not None
    assert unit.policy is not None
    every = unit.always_on if account.baseline == "always_on" else unit.always_off
    assert every is not None
    shown = 2 * unit.break_even if unit.break_even else 4 * max(unit.tasks, 1)
    lines = ((account.baseline, 0.0, every), (gate, unit.bank, unit.policy))
    return [
        {"name": name, "policy": policy_words(name), "tasks": tasks, "spent": start + tasks * each}
        for name, start, each in lines
        for tasks in (0, shown // 2, shown)
    ]


def spec(data: list[dict[str, Any]], unit: UnitAccount) -> Spec:
    """The lines cross where the bank has paid."""
    names = list(dict.fromkeys(line["name"] for line in data))
    color = {
        "field": "policy",
        "type": "nominal",
        "scale": {"domain": [policy_words(name) for name in names], "range": [role(name) for name in names]},
    }
    x = number_axis("tasks", "Tasks after the bank was built", ",d", zero=True, labelExpr="format(datum.value, '~s')")
    y = number_axis("spent", None, "~s", zero=True, labelExpr="format(datum.value, '~s')")
    hover = tooltip(
        ("policy", "Policy", ""), ("tasks", "Tasks", ",d"), ("spent", _UNIT_WORDS[unit.unit].title(), ",.0f")
    )
    layers: list[Spec] = [
        {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"x": x, "y": y, "color": color}},
        {
            "mark": {"type": "point", "filled": True, "size": 40, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": color, "tooltip": hover},
        },
    ]
    return base(data, height=230, layer=[*layers, *_crossing(data, unit)])


def _crossing(data: list[dict[str, Any]], unit: UnitAccount) -> list[Spec]:
    if not unit.break_even:
        return []
    spent = next(line["spent"] for line in data if line["tasks"] == unit.break_even)
    point = {"tasks": unit.break_even, "spent": spent, "label": f"paid after {plural(unit.break_even, 'task')}"}
    place = {"x": {"field": "tasks", "type": "quantitative"}, "y": {"field": "spent", "type": "quantitative"}}
    ring = {"type": "point", "size": 130, "color": role("ink"), "strokeWidth": 1.5, "opacity": 1}
    label = {"type": "text", "align": "left", "dx": 10, "dy": 16, "color": role("ink")}
    return [
        {"data": {"values": [point]}, "mark": ring, "encoding": place},
        {
            "data": {"values": [point]},
            "mark": label,
            "encoding": {**place, "text": {"field": "label", "type": "nominal"}},
        },
    ]


def _words(account: Account, gate: str) -> list[str]:
    sentences = [
        "Savings are often told without the runs that taught the gate. Here the bank is part of the bill: "
        f"{plural(account.executions, 'execution')}, counted or not."
    ]
    priced = [unit for unit in account.units if unit.bank is not None and unit.saving is not None]
    sentences += [_unit_sentence(unit, account, gate) for unit in priced]
    seconds = account.of("seconds").routing
    if seconds:
        sentences.append(
            f"Encoding a question and finding its neighbours takes {_duration(seconds)}, and no generative call."
        )
    unknown = [_UNIT_WORDS[unit.unit] for unit in account.units if unit.bank is None]
    if unknown:
        sentences.append(f"Not recorded: {' and '.join(unknown)}.")
    return sentences


def _unit_sentence(unit: UnitAccount, account: Account, gate: str) -> str:
    name, words = policy_words(gate), _UNIT_WORDS[unit.unit]
    against = _BASELINE_WORDS[account.baseline]
    assert unit.saving is not None
    change = account.success_change
    besides = "" if abs(change) < 5e-4 else f", with success {size(change)} {'higher' if change > 0 else 'lower'}"
    cost = f"The bank cost {_amount(unit.bank, unit.unit)} {words}"
    if unit.unrecorded:
        cost += f", and more: {plural(unit.unrecorded, 'execution')} did not say"
    if unit.break_even is None:
        return f"{cost}. {name} does not save {words} against {against}, so they are never won back{besides}."
    return (
        f"{cost}. {name} saves {_amount(unit.saving, unit.unit)} {words} per task against {against}{besides}: the bank has paid "
        f"for itself after {plural(unit.break_even, 'task')}. {_in_proportion(unit)}"
    )


def _in_proportion(unit: UnitAccount) -> str:
    """How the break-even compares with the panel itself."""
    assert unit.break_even is not None
    if not unit.tasks:
        return ""
    times = unit.break_even / unit.tasks
    return (
        f"That is {times:,.{0 if times >= 10 else 1}f} times as many tasks as the bank has."
        if times >= 1
        else f"That is {percent(times, 0)} of the bank's own size."
    )


def _table(account: Account, gate: str) -> Table:
    columns = [Column("Unit", numeric=False), Column("Bank"), Column("Never, per task"), Column("Always, per task")]
    columns += [
        Column(f"{policy_words(gate)}, per task"),
        Column("of it routing"),
        Column("Saved per task"),
        Column("Paid after, tasks"),
    ]
    return Table(columns, [_row(unit) for unit in account.units])


def _row(unit: UnitAccount) -> list[Cell]:
    amounts = (unit.bank, unit.always_off, unit.always_on, unit.policy, unit.routing, unit.saving)
    cells = [cell(_amount(value, unit.unit), value) for value in amounts]
    paid = "–" if unit.saving is None else "never" if unit.break_even is None else count(unit.break_even)
    return [words_cell(_UNIT_WORDS[unit.unit]), *cells, cell(paid, unit.break_even)]


def _duration(seconds: float) -> str:
    return f"{1000 * seconds:.2g} ms" if seconds < 0.1 else f"{seconds:.2g} s"


def _amount(value: float | None, unit: Unit) -> str:
    """Whole tokens, otherwise as many digits as a small number needs."""
    if value is None or unit == "tokens" or abs(value) >= 100:
        return count(value)
    return f"{value:.3g}" if value else "0"
