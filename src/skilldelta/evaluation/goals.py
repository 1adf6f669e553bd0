"""What a threshold is chosen for: a use rate, a token budget, a margin below always-on, or the highest value.

A goal picks a point of a success-token curve, and says of a policy's values whether it was met.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from skilldelta.arrays import Flags, Floats, tie_rounding
from skilldelta.errors import InputError
from skilldelta.evaluation.sweeps import ThresholdSweep
from skilldelta.evaluation.thresholds import for_margin, for_token_budget, for_use_rate, for_value


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """What a policy gave, once or in every draw of a resampling."""

    success: Floats  # (draws,)
    use_rate: Floats
    tokens: Floats  # NaN where unknown

    def net(self, per_token: float) -> Floats:
        """Success less the cost of the tokens; free tokens need not be known."""
        return self.success - per_token * self.tokens if per_token else self.success


class Goal(Protocol):
    """A wish about a policy."""

    @property
    def words(self) -> str:
        """The goal as a person would say it."""
        ...

    @property
    def per_token(self) -> float:
        """What a token costs in success, where the goal weighs it."""
        ...

    def choose(self, sweep: ThresholdSweep) -> int:
        """The point of the curve that serves the goal best; InputError where none can."""
        ...

    def met(self, policy: Values, *, always_on: Values, always_off: Values) -> Flags:
        """(draws,) whether the goal was reached."""
        ...


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
        return for_use_rate(sweep, self.rate)

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
        return for_token_budget(sweep, self.tokens)

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
        return for_margin(sweep, self.margin)

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
        return for_value(sweep, self.per_token)

    def met(self, policy: Values, *, always_on: Values, always_off: Values) -> Flags:
        value = tie_rounding(policy.net(self.per_token))
        on, off = (tie_rounding(constant.net(self.per_token)) for constant in (always_on, always_off))
        return (value >= on) & (value >= off)
