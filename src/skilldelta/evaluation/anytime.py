"""A mean that is watched while it grows: a test and an interval that keep their promise whenever somebody looks.

Each difference between an outcome and its prediction is a bet against "the mean difference is at most m". Wealth is
multiplied by 1 + share * (difference - m), so while that holds, no bet wins on average, and the chance that the wealth
ever reaches 1 / alpha is at most alpha (Ville's inequality): not at one look, but at all looks together. The shares of a few
bets are fixed in advance and their wealth is averaged, because nobody knows how large a difference will be.

The promise asks one thing of the data: what came before says nothing about the mean of the next difference. Ask with one
difference per task and in the order of arrival.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from skilldelta.arrays import Floats
from skilldelta.quantiles import student_quantile

LEVEL = 0.95
# Of the largest share that cannot lose everything: large ones settle large differences soon, the smaller ones serve
# differences down to 2 points, which take thousands of outcomes. A share is the same for all differences, so that predictions
# need to be right on average only, and not for each kind of task.
_SHARES = 0.9 * 0.5 ** np.arange(6)
_HALVINGS = 14  # to a limit's fourth digit


@dataclass(frozen=True, slots=True)
class Watched:
    """What the differences show so far."""

    number: int
    mean: float
    low: float
    """Below the true mean, and `high` above it, at every look with the chance `level` for all looks together."""
    high: float
    level: float
    margin: float
    """How far the mean may lie from zero before that is worth an alarm."""
    alarm: int | None
    """The place of the difference at which it was clear that the mean is farther off; None while it is not."""
    direction: int
    """1 where more happened than was predicted, -1 where less did, 0 without an alarm."""


def watch(differences: Floats, *, margin: float = 0.0, level: float = LEVEL) -> Watched:
    """The mean of differences in their order of arrival, and whether it is farther from zero than `margin`.

    Parameters:
        differences: (n,) outcome minus prediction, each between -1 and 1.
        margin: what counts as agreement.
        level: one minus the chance of any false alarm, however often and long one looks.

    Examples:
        >>> watch(np.array([-0.5] * 60), margin=0.05).direction
        -1
        >>> watch(np.array([-0.5, 0.5] * 30), margin=0.05).alarm is None
        True
    """
    number = len(differences)
    above, below = _crossing(differences, margin, level), _crossing(-differences, margin, level)
    alarm = min((place for place in (above, below) if place is not None), default=None)
    return Watched(
        number=number,
        mean=float(differences.mean()) if number else math.nan,
        low=_limit(differences, level),
        high=-_limit(-differences, level),
        level=level,
        margin=margin,
        alarm=alarm,
        direction=0 if alarm is None else 1 if alarm == above else -1,
    )


def _log_wealth(differences: Floats, mean: float) -> Floats:
    """(n,) of bets that the mean is larger, the average over the shares."""
    if mean <= -1:
        return np.full(len(differences), np.inf)
    shares = _SHARES[:, None] / (1 + mean)  # no difference is below -1
    each = np.cumsum(np.log1p(shares * (differences - mean)), axis=1)
    wealth: Floats = logsumexp(each, axis=0) - math.log(len(_SHARES))
    return wealth


def _needed(level: float) -> float:
    """The log wealth that settles one side; half of the chance is for the other."""
    return math.log(2 / (1 - level))


def _crossing(differences: Floats, mean: float, level: float) -> int | None:
    """Where it was clear that the mean is larger."""
    if not len(differences):
        return None
    is_clear = _log_wealth(differences, mean) >= _needed(level)
    return int(is_clear.argmax()) if is_clear.any() else None


def _limit(differences: Floats, level: float) -> float:
    """The largest mean that was ever clearly exceeded; what was ruled out once stays ruled out."""
    low, high = -1.0, 1.0
    if not len(differences):
        return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _crossing(differences, middle, level) is not None else (low, middle)
    return low


def mean_interval(values: Floats, *, level: float = LEVEL) -> tuple[float, float]:
    """The interval of the mean of values from 0 to 1, for one look.

    It is Wilson's with Student's quantile, which is wide enough for few values and for graded ones.

    >>> [round(end, 3) for end in mean_interval(np.array([1.0, 1.0, 0.0, 1.0, 1.0]))]
    [0.257, 0.979]
    """
    number = len(values)
    if number < 2:
        return 0.0, 1.0
    mean, quantile = float(values.mean()), student_quantile(number - 1, (1 + level) / 2)
    share = quantile * quantile / number
    center = (mean + share / 2) / (1 + share)
    reach = math.sqrt(share * mean * (1 - mean) + share * share / 4) / (1 + share)
    return max(0.0, center - reach), min(1.0, center + reach)
