"""Deployment accounting: what the bank cost, what the gate saves per task, and after how many tasks it has paid off.

Savings of a policy are usually reported without the executions that taught it. Here both stand side by side, in tokens,
seconds and dollars, each only as far as it was recorded.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from skilldelta.arrays import Flags, Floats
from skilldelta.errors import InputError
from skilldelta.nouns import plural
from skilldelta.pairing import is_counted
from skilldelta.records import Execution
from skilldelta.support import Support

Unit = Literal["tokens", "seconds", "usd"]
UNITS: tuple[Unit, ...] = ("tokens", "seconds", "usd")
Baseline = Literal["always_on", "always_off"]

_READ: dict[Unit, Callable[[Execution], float | None]] = {
    "tokens": lambda execution: execution.tokens,
    "seconds": lambda execution: execution.seconds,
    "usd": lambda execution: execution.cost_usd,
}


@dataclass(frozen=True, slots=True)
class RoutingCost:
    """What one decision costs: encoding the question and finding its neighbors. No generative call is made."""

    tokens: float = 0.0
    seconds: float = 0.0
    usd: float = 0.0


@dataclass(frozen=True, slots=True)
class UnitAccount:
    """The account in one unit; what was never recorded is None."""

    unit: Unit
    bank: float | None
    """Sum over all executions that recorded it, also those that were never counted: they were paid for."""
    unrecorded: int
    """Executions that did not record it: the bank cost more than its sum."""
    tasks: int
    """Rows with both arms recorded, over which the means below are taken."""
    always_off: float | None
    always_on: float | None
    policy: float | None
    """Mean per task under the policy, routing included."""
    routing: float
    saving: float | None
    """The baseline's mean minus the policy's."""
    break_even: int | None
    """Tasks after which savings have paid for the bank; None if never, or if unknown."""


@dataclass(frozen=True, slots=True)
class Account:
    """What the bank cost and what it earns."""

    executions: int
    baseline: Baseline
    use_rate: float
    success: float
    success_change: float
    """The policy's success minus the baseline's: what the saving costs, or brings besides."""
    units: tuple[UnitAccount, ...]

    def of(self, unit: Unit) -> UnitAccount:
        """The account in one unit."""
        return next(account for account in self.units if account.unit == unit)


def account(
    support: Support,
    actions: Flags,
    executions: Iterable[Execution],
    *,
    routing: RoutingCost | None = None,
    baseline: Baseline = "always_on",
) -> Account:
    """Account for a policy with fixed actions on the support's rows; `executions` are all that the bank holds for it."""
    if len(actions) != len(support) or not len(support):
        raise InputError(
            f"{plural(len(actions), 'action')} came for {plural(len(support), 'pair')}; give one per pair, and at least one"
        )
    if baseline not in ("always_on", "always_off"):
        raise InputError(f"baseline must be always_on or always_off, got {baseline!r}")
    held = list(executions)
    success = float(np.where(actions, support.y1, support.y0).mean())
    compared = float((support.y1 if baseline == "always_on" else support.y0).mean())
    routing = routing or RoutingCost()
    return Account(
        executions=len(held),
        baseline=baseline,
        use_rate=float(actions.mean()),
        success=success,
        success_change=success - compared,
        units=tuple(_in_unit(unit, support, actions, held, getattr(routing, unit), baseline) for unit in UNITS),
    )


def break_even(cost: float, saving: float) -> int | None:
    """The least number of tasks whose savings cover a cost; None where a task saves nothing."""
    if saving <= 0:
        return None
    return math.ceil(cost / saving - 1e-9)


def _in_unit(
    unit: Unit, support: Support, actions: Flags, executions: Sequence[Execution], routing: float, baseline: Baseline
) -> UnitAccount:
    recorded = [value for value in map(_READ[unit], executions) if value is not None]
    bank = math.fsum(recorded) if recorded else None
    off, on = _arms(unit, support, executions)
    priced = np.isfinite(off) & np.isfinite(on)
    if not priced.any():
        return UnitAccount(unit, bank, len(executions) - len(recorded), 0, None, None, None, routing, None, None)
    off_mean, on_mean = float(off[priced].mean()), float(on[priced].mean())
    policy = float(np.where(actions, on, off)[priced].mean()) + routing
    saving = (on_mean if baseline == "always_on" else off_mean) - policy
    return UnitAccount(
        unit=unit,
        bank=bank,
        unrecorded=len(executions) - len(recorded),
        tasks=int(priced.sum()),
        always_off=off_mean,
        always_on=on_mean,
        policy=policy,
        routing=routing,
        saving=saving,
        break_even=None if bank is None else break_even(bank, saving),
    )


def _arms(unit: Unit, support: Support, executions: Sequence[Execution]) -> tuple[Floats, Floats]:
    """(n,) mean per row without and with the skill, NaN where not every counted execution recorded it."""
    if unit == "tokens":
        return support.tokens0, support.tokens1
    values: defaultdict[tuple[str, str, str], list[float | None]] = defaultdict(list)
    for execution in executions:
        if is_counted(execution):
            values[execution.task_id, execution.skill_id, execution.condition].append(_READ[unit](execution))
    rows = list(zip(support.task_ids.tolist(), support.skills.tolist(), strict=True))
    # A run without the skill that names no skill serves every skill of its task, as in pairing.
    off = [_mean(values.get((task, skill, "skip")) or values.get((task, "", "skip"))) for task, skill in rows]
    on = [_mean(values.get((task, skill, "use"))) for task, skill in rows]
    return np.array(off), np.array(on)


def _mean(values: Sequence[float | None] | None) -> float:
    recorded = [value for value in values or () if value is not None]
    return math.fsum(recorded) / len(recorded) if values and len(recorded) == len(values) else math.nan
