"""Intervals for a predicted gain, from the paper's band to tighter ones, each with its promise in one line.

`blend` promises to cover the expected gain of tasks like the target, `conformal` the gain that one more recorded pair would
show. All others promise to cover the weighted expected gain of the neighbors; how far the target's own gain may lie from
that is the coverage term of the paper's bound, which no amount of repetition removes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Strings
from skilldelta.errors import InputError, unknown_name
from skilldelta.intervals.bands import empirical_bernstein, hoeffding, hoeffding_independent
from skilldelta.intervals.betting import betting
from skilldelta.intervals.exact import exact, is_longer_than_hoeffding
from skilldelta.intervals.neighborhood import Neighborhood
from skilldelta.quantiles import student_quantile

__all__ = [
    "BLEND",
    "CONFORMAL",
    "DEFAULT",
    "METHODS",
    "NAMES",
    "Interval",
    "Neighborhood",
    "Residuals",
    "conformal",
    "interval",
    "posterior",
]


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval for the expected gain, and how it was made."""

    low: float
    high: float
    level: float
    method: str


# Each takes the neighborhood and delta, and gives both ends.
METHODS: Mapping[str, Callable[[Neighborhood, float], tuple[float, float]]] = {
    # The paper's band: covers whatever the dependence between the two conditions of a task.
    "hoeffding": hoeffding,
    # Covers when the two conditions are run independently of each other; 1/sqrt(2) of the paper's width.
    "hoeffding_independent": hoeffding_independent,
    # Covers when runs are independent; short once there are a hundred runs that hardly vary.
    "empirical_bernstein": empirical_bernstein,
    # Covers when runs are independent; adapts to outcomes that are mostly alike, for any outcomes in [0, 1].
    "betting": betting,
    # Covers when runs are independent and graded 0 or 1; the shortest at few neighbors.
    "exact": exact,
}
BLEND = "blend"
CONFORMAL = "conformal"
NAMES: tuple[str, ...] = (BLEND, *reversed(list(METHODS)), CONFORMAL)
# For the neighbors of a decision. It gives way where outcomes are not 0 or 1 or weights differ much, and says so.
DEFAULT = "exact"


def interval(method: str, neighborhood: Neighborhood, *, level: float = 0.95) -> Interval:
    """The interval of a neighborhood; where `exact` gives way to another method, that one is named."""
    if method not in METHODS:
        raise unknown_name("interval", method, METHODS)
    _check_level(level)
    if not len(neighborhood.weights):
        raise InputError("an interval needs at least one neighbor; without support there is no estimate")
    if method == "exact":
        method = _best_at_few_runs(neighborhood, 1 - level)
    return _clipped(*METHODS[method](neighborhood, 1 - level), level, method)


def _best_at_few_runs(neighborhood: Neighborhood, delta: float) -> str:
    """`exact`, but `betting` on outcomes between 0 and 1, and Hoeffding's band where weights differ too much."""
    if not neighborhood.is_binary:
        return "betting"
    return "hoeffding_independent" if is_longer_than_hoeffding(neighborhood, delta) else "exact"


def posterior(gain: float, *, deviation: float, freedom: float, level: float = 0.95) -> Interval:
    """The interval of the blend, which estimates how far its own gain may be wrong.

    Promise: covers the expected gain of tasks like the target, where gains follow level and trend of a family. The
    interval is symmetric around the gain until it meets the ends of [-1, 1], so the gain always lies in it.
    """
    _check_level(level)
    half_width = student_quantile(freedom, (1 + level) / 2) * deviation
    return _clipped(gain - half_width, gain + half_width, level, BLEND)


# Tasks that a family needs before conformal intervals use its errors alone.
_ENOUGH = 100


@dataclass(frozen=True, slots=True, eq=False)
class Residuals:
    """Absolute leave-one-out errors of a panel: |observed gain - gain predicted without it|, by family."""

    errors: Floats  # (n,)
    families: Strings  # (n,)

    @classmethod
    def of(cls, predicted: Floats, observed: Floats, families: Strings) -> Residuals:
        """Errors of leave-one-out predictions."""
        return cls(np.abs(observed - predicted), families)


def conformal(
    gain: float, residuals: Residuals, *, family: str = "", level: float = 0.95, widened_by: float = 0.0
) -> Interval:
    """The gain plus and minus the right quantile of the errors made on recorded tasks, each without its own outcome.

    Promise: covers the gain that one more recorded pair would show, for tasks exchangeable with the recorded ones. A
    family with enough tasks is taken by itself (Mondrian); the method's name says so. A gain that was moved after the errors
    were measured needs an interval that is `widened_by` as much.
    """
    _check_level(level)
    own = residuals.errors[residuals.families == family] if family else np.empty(0)
    by_family = len(own) >= _ENOUGH
    half_width = _quantile(own if by_family else residuals.errors, level) + widened_by
    return _clipped(gain - half_width, gain + half_width, level, "conformal_by_family" if by_family else CONFORMAL)


def _quantile(errors: Floats, level: float) -> float:
    """The ceil((n + 1) level)-th smallest error; with too few errors for the level, everything is possible."""
    rank = math.ceil((len(errors) + 1) * level)
    if rank > len(errors):
        return 2.0
    return float(np.partition(errors, rank - 1)[rank - 1])


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level}", setting="level")


def _clipped(low: float, high: float, level: float, method: str) -> Interval:
    """No gain lies outside [-1, 1]."""
    return Interval(max(-1.0, low), min(1.0, high), level, method)
