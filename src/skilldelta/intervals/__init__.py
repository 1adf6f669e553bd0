"""Intervals for a predicted gain, from the paper's band to tighter ones, each with its promise in one line.

`stack` promises to cover the expected gain of tasks like the target, `conformal` the gain that one more recorded pair would
show. All others promise to cover the weighted expected gain of the neighbours; how far the target's own gain may lie from
that is the coverage term of the paper's bound, which no amount of repetition removes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from skilldelta.errors import InputError, unknown_name
from skilldelta.gate import Interval
from skilldelta.intervals.bands import empirical_bernstein, hoeffding, hoeffding_independent
from skilldelta.intervals.betting import betting
from skilldelta.intervals.conformal import Residuals, conformal
from skilldelta.intervals.exact import exact, is_longer_than_hoeffding
from skilldelta.intervals.neighborhood import Neighborhood
from skilldelta.intervals.posterior import STACK, posterior

__all__ = [
    "CONFORMAL",
    "DEFAULT",
    "METHODS",
    "NAMES",
    "STACK",
    "Interval",
    "Method",
    "Neighborhood",
    "Residuals",
    "conformal",
    "interval",
    "posterior",
]

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Method:
    """One way to make an interval: its promise, and the function (neighbourhood, delta) -> (low, high)."""

    name: str
    promise: str
    ends: Callable[[Neighborhood, float], Ends]


_ALL = (
    Method(
        "hoeffding",
        "Covers whatever the dependence between the two conditions of a task; the paper's band.",
        hoeffding,
    ),
    Method(
        "hoeffding_independent",
        "Covers when the two conditions are run independently of each other; 1/sqrt(2) of the paper's width.",
        hoeffding_independent,
    ),
    Method(
        "empirical_bernstein",
        "Covers when runs are independent; short once there are a hundred runs that hardly vary.",
        empirical_bernstein,
    ),
    Method(
        "betting",
        "Covers when runs are independent; adapts to outcomes that are mostly alike, for any outcomes in [0, 1].",
        betting,
    ),
    Method(
        "exact",
        "Covers when runs are independent and graded 0 or 1; the shortest at few neighbours.",
        exact,
    ),
)

METHODS: Mapping[str, Method] = {method.name: method for method in _ALL}
CONFORMAL = "conformal"
NAMES: tuple[str, ...] = (STACK, *reversed(list(METHODS)), CONFORMAL)
DEFAULT = "exact"
"""For the neighbours of a decision. It gives way where outcomes are not 0 or 1 or weights differ much, and says so."""


def interval(method: str, neighborhood: Neighborhood, *, level: float = 0.95) -> Interval:
    """The interval of a neighbourhood; where `exact` gives way to another method, that one is named."""
    if method not in METHODS:
        raise unknown_name("interval", method, METHODS)
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level}", setting="level")
    if not len(neighborhood.weights):
        raise InputError("an interval needs at least one neighbour; without support there is no estimate")
    if method == "exact":
        method = _best_at_few_runs(neighborhood, 1 - level)
    low, high = METHODS[method].ends(neighborhood, 1 - level)
    return Interval(max(-1.0, low), min(1.0, high), level, method)


def _best_at_few_runs(neighborhood: Neighborhood, delta: float) -> str:
    """`exact`, but `betting` on outcomes between 0 and 1, and Hoeffding's band where weights differ too much."""
    if not neighborhood.is_binary:
        return "betting"
    return "hoeffding_independent" if is_longer_than_hoeffding(neighborhood, delta) else "exact"
