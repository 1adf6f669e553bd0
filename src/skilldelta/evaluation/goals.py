"""What a threshold is chosen for: a use rate, a token budget, a margin below always-on, or the highest value.

A goal chooses a point of a success-token curve and says, for every draw of a policy's values, whether it was met. The
curve shows the support's own outcomes, so the success that a choice promises is hindsight on those tasks; a threshold must
be fixed before the outcomes of the tasks it will decide exist.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Flags, Floats, tie_rounding
from skilldelta.errors import InputError
from skilldelta.evaluation.sweeps import ThresholdSweep, last_best


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """What a policy gave, once or in every draw of a resampling."""

    success: Floats  # (draws,)
    use_rate: Floats
    tokens: Floats  # NaN where unknown

    def net(self, per_token: float) -> Floats:
        """Success less the cost of the tokens; free tokens need not be known."""
        return self.success - per_token * self.tokens if per_token else self.success


@dataclass(frozen=True, slots=True)
class UseRate:
    """Use the skill as often as possible, on at most this share of tasks."""

    rate: float
    per_token: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.rate <= 1:
            raise InputError(f"use rate must lie in [0, 1], got {self.rate}")

    @property
    def words(self) -> str:
        return f"use the skill on at most {self.rate:.0%} of tasks"

    def choose(self, sweep: ThresholdSweep) -> int:
        """The point that uses the skill most without exceeding the rate."""
        return int(np.argmax(sweep.use_rates <= self.rate))

    def met(self, policy: Values, *, always_on: Values, always_off: Values) -> Flags:
        return tie_rounding(policy.use_rate) <= self.rate


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """The highest success within mean tokens of a task."""

    tokens: float
    per_token: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.tokens) and self.tokens > 0):
            raise InputError(f"token budget must be a finite number above 0, got {self.tokens}")

    @property
    def words(self) -> str:
        return f"highest success within {self.tokens:,.6g} tokens per task"

    def choose(self, sweep: ThresholdSweep) -> int:
        """The point of highest success within the budget, ties toward fewer uses; refused where none is."""
        within = sweep.tokens <= self.tokens
        if not within.any():
            budgets = sweep.tokens[np.isfinite(sweep.tokens)]
            why = (
                f"the cheapest policy needs {budgets.min():.6g} tokens per task"
                if len(budgets)
                else "no tokens are recorded"
            )
            raise InputError(f"no threshold keeps within {self.tokens:g} tokens per task: {why}")
        return last_best(np.where(within, sweep.success, -np.inf))

    def met(self, policy: Values, *, always_on: Values, always_off: Values) -> Flags:
        return policy.tokens <= self.tokens


@dataclass(frozen=True, slots=True)
class Margin:
    """The cheapest policy whose success is at most `margin` below always-on's."""

    margin: float
    per_token: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.margin <= 1:
            raise InputError(f"margin must lie in [0, 1], got {self.margin}")

    @property
    def words(self) -> str:
        return f"cheapest policy no worse than always-on by more than {100 * self.margin:.3g} points"

    def choose(self, sweep: ThresholdSweep) -> int:
        """The cheapest point within the margin; uses count where tokens are unknown."""
        good = tie_rounding(sweep.success) >= tie_rounding(sweep.success[:1] - self.margin)[0]
        cost = sweep.tokens if np.isfinite(sweep.tokens).all() else sweep.use_rates
        return last_best(np.where(good, -cost, -np.inf))

    def met(self, policy: Values, *, always_on: Values, always_off: Values) -> Flags:
        return tie_rounding(policy.success - always_on.success + self.margin) >= 0


@dataclass(frozen=True, slots=True)
class BestValue:
    """The highest success, less what its tokens cost. Met where neither constant policy is worth more."""

    per_token: float = 0.0

    def __post_init__(self) -> None:
        if not self.per_token >= 0:
            raise InputError(f"the cost of a token must not be negative, got {self.per_token}")

    @property
    def words(self) -> str:
        weighed = f" less {1000 * self.per_token:.3g} per 1,000 tokens" if self.per_token else ""
        return f"highest success{weighed}"

    def choose(self, sweep: ThresholdSweep) -> int:
        """The point of the highest value, ties toward fewer uses."""
        if not self.per_token:
            return last_best(sweep.success)
        if not np.isfinite(sweep.tokens).any():
            raise InputError("no tokens are recorded, so that their cost cannot be weighed; leave the price out")
        return last_best(sweep.success - self.per_token * sweep.tokens)

    def met(self, policy: Values, *, always_on: Values, always_off: Values) -> Flags:
        value = tie_rounding(policy.net(self.per_token))
        on, off = (tie_rounding(constant.net(self.per_token)) for constant in (always_on, always_off))
        return (value >= on) & (value >= off)


# A wish about a policy; `words` say it as a person would, and `per_token` is what a token costs in success.
Goal = UseRate | TokenBudget | Margin | BestValue
