"""How well scores rank and actions match observed gains, where a policy's advantage over random use comes from, and
whether tasks that were called 70% likely to be helped get help seven times in ten (a reliability curve).

A task is positive when its observed gain D exceeds zero. Metrics that need both classes are None where one is missing.

The advantage of a policy is its success minus that of using the skill on each task with the same probability p, its own
use rate: (1/N) sum (a - p) D, an exact expectation in place of simulated coin flips. It has two parts, choosing within
groups and allocating between them: (1/N) sum (a - p_g) D + (1/N) sum (p_g - p) D. A group of one task, or of equal
actions, has a = p_g and contributes nothing within.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.stats import binomtest, rankdata

from skilldelta.arrays import Flags, Floats, Ints, SmallInts, Strings, exceeds, tie_rounding
from skilldelta.errors import InputError


def auroc(scores: Floats, positive: Flags) -> float | None:
    """Probability that a positive task scores above a non-positive one, ties counting half (midranks)."""
    area = float(aurocs(scores[:, None], positive[:, None])[0])
    return None if np.isnan(area) else area


def aurocs(scores: Floats, positive: Flags) -> Floats:
    """(draws,) the same for each column of (n, draws); NaN where a class is missing."""
    ranks = rankdata(tie_rounding(scores), axis=0)
    positives = positive.sum(axis=0).astype(np.float64)
    pairs = positives * (len(scores) - positives)
    above = (ranks * positive).sum(axis=0) - positives * (positives + 1) / 2
    areas: Floats = np.where(pairs > 0, above / np.maximum(pairs, 1.0), np.nan)
    return areas


def balanced_accuracy(actions: Flags | Floats, positive: Flags) -> float | None:
    """Mean of the use rate among positive tasks and the skip rate among the others; actions may be probabilities."""
    if positive.all() or not positive.any():
        return None
    return float((actions[positive].mean() + 1 - actions[~positive].mean()) / 2)


def regret(actions: Flags | Floats, gains: Floats, *, threshold: float | Floats = 0.0) -> Floats:
    """(n,) routing regret |tau - eta| where the action differs from 1{tau > eta}; `gains` are the true expected ones.

    The threshold may depend on the task (n,).
    """
    best = exceeds(gains, threshold)
    wrong = np.where(best, 1.0 - actions, actions)
    return np.abs(gains - threshold) * wrong


class AurocOfDraws:
    """AUROC of many resamples of the same scored tasks.

    Scores are sorted once. In a resample, a positive task beats as many negatives as have been drawn below its place:
    one cumulative sum over the drawn counts, read at the places of the positives.
    """

    def __init__(self, scores: Floats, positive: Flags) -> None:
        values = tie_rounding(scores)
        order = np.argsort(values, kind="stable")
        self._negatives: Ints = order[~positive[order]]
        self._positives: Ints = order[positive[order]]
        self._below = np.searchsorted(values[self._negatives], values[self._positives], side="left")
        self._up_to = np.searchsorted(values[self._negatives], values[self._positives], side="right")

    def __call__(self, counts: SmallInts) -> Floats:
        """(draws,) for counts (draws, n) of how often each task was drawn; NaN where a class was not drawn."""
        drawn = np.zeros((len(counts), len(self._negatives) + 1), np.int32)
        # Whole numbers: their sums are exact, and five times faster to accumulate than floats.
        np.cumsum(np.take(counts, self._negatives, axis=1), axis=1, out=drawn[:, 1:])
        won = np.take(drawn, self._below, axis=1) + np.take(drawn, self._up_to, axis=1)
        weight = np.take(counts, self._positives, axis=1).astype(np.float64)
        pairs = 2.0 * weight.sum(axis=1) * drawn[:, -1]
        with np.errstate(invalid="ignore"):
            areas: Floats = np.vecdot(weight, won.astype(np.float64)) / np.where(pairs > 0, pairs, np.nan)
        return areas


Number = TypeVar("Number", float, Floats)


def advantage(used_gain: Number, gain: Number, use_rate: Number) -> Number:
    """A policy's success minus that of random activation at its own rate; `used_gain` is the mean of a_i D_i."""
    return used_gain - use_rate * gain


@dataclass(frozen=True, slots=True)
class Components:
    """The two parts; their sum is the advantage over matched-rate random activation."""

    within_group: float
    between_group: float


def decompose(actions: Flags | Floats, gains: Floats, groups: Strings | Ints) -> Components:
    """The identity for one panel; actions may be probabilities."""
    a = np.asarray(actions, np.float64)
    codes = np.unique(groups, return_inverse=True)[1]
    rate = (np.bincount(codes, weights=a) / np.bincount(codes))[codes]
    return Components(
        within_group=float(((a - rate) * gains).mean()), between_group=float(((rate - a.mean()) * gains).mean())
    )


@dataclass(frozen=True, slots=True, eq=False)
class ComponentsOfDraws:
    """Both parts in many resamples, with every group's use rate taken anew in each."""

    within_group: Floats  # (policies, draws)
    between_group: Floats  # (policies, draws)


class DecompositionOfDraws:
    """The identity on resampled tasks for several policies at once."""

    def __init__(self, actions: Sequence[Flags | Floats], gains: Floats, groups: Strings) -> None:
        codes = np.unique(groups, return_inverse=True)[1]
        self._groups = int(codes.max()) + 1
        self._policies = len(actions)
        self._size, self._gain = (summing_matrix(codes, weights) for weights in (np.ones(len(gains)), gains))
        stacked = [np.asarray(action, np.float64) for action in actions]
        self._use = summing_matrix(
            np.concatenate([codes + policy * self._groups for policy in range(self._policies)]),
            np.concatenate(stacked),
            columns=len(gains),
        )
        self._used_gain = np.stack([action * gains for action in stacked])

    def __call__(self, counts: SmallInts) -> ComponentsOfDraws:
        """For counts (draws, n) of how often each task was drawn."""
        drawn = np.ascontiguousarray(counts.T, dtype=np.float64)  # (n, draws)
        size, gain = self._size @ drawn, self._gain @ drawn  # (groups, draws)
        use = (self._use @ drawn).reshape(self._policies, self._groups, -1)
        total = size.sum(axis=0)
        used_gain = self._used_gain @ drawn  # (policies, draws)
        at_group_rate = (use * (gain / np.maximum(size, 1.0))).sum(axis=1)
        with np.errstate(invalid="ignore"):  # a draw without any row of the policy is NaN
            at_panel_rate = use.sum(axis=1) * gain.sum(axis=0) / total
            return ComponentsOfDraws((used_gain - at_group_rate) / total, (at_group_rate - at_panel_rate) / total)


def summing_matrix(codes: NDArray[np.intp], weights: Floats, *, columns: int | None = None) -> csr_array:
    """(groups, n) sparse matrix that sums weighted rows by group; n repeats where codes hold several policies."""
    n = columns or len(weights)
    return csr_array((weights, (codes, np.arange(len(codes)) % n)), shape=(int(codes.max()) + 1, n))


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Tasks of about one predicted chance of help, and how often it came true."""

    predicted: float
    """Mean predicted chance."""
    observed: float
    """Share of tasks where it happened."""
    count: int
    low: float
    """Wilson interval of the observed share."""
    high: float

    @property
    def holds(self) -> bool:
        """Whether the predicted chance lies within the interval of what was observed."""
        return self.low <= self.predicted <= self.high


def reliability_curve(
    predicted: Floats, happened: Flags, *, bins: int = 10, level: float = 0.95
) -> tuple[ReliabilityBin, ...]:
    """Bins of about equal size by rising chance; equal chances share a bin, NaN is left out, no rows give no bins."""
    if bins < 1:
        raise InputError(f"bins must be at least 1, got {bins}")
    is_known = np.isfinite(predicted)
    values, outcomes = predicted[is_known], happened[is_known]
    # A tied chance takes the place of its first row, so that no tie is cut apart.
    place = np.searchsorted(np.sort(tie_rounding(values)), tie_rounding(values), side="left")
    bin_of = place * bins // max(1, len(values))
    return tuple(_bin(values[bin_of == b], outcomes[bin_of == b], level) for b in np.unique(bin_of))


def wilson_interval(successes: int, count: int, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share; of nothing it is [0, 1]."""
    if not count:
        return 0.0, 1.0
    interval = binomtest(successes, count).proportion_ci(level, method="wilson")
    return float(interval.low), float(interval.high)


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many, with a 95% interval (Wilson)."""

    count: int
    of: int
    low: float
    high: float

    @classmethod
    def counted(cls, count: int, of: int) -> Share:
        """With the interval."""
        return cls(count, of, *wilson_interval(count, of))

    @property
    def rate(self) -> float | None:
        """The share itself; None of nothing."""
        return self.count / self.of if self.of else None


def _bin(predicted: Floats, happened: Flags, level: float) -> ReliabilityBin:
    count, successes = len(predicted), int(happened.sum())
    low, high = wilson_interval(successes, count, level=level)
    return ReliabilityBin(float(predicted.mean()), successes / count, count, low, high)
