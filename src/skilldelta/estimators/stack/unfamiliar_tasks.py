"""What to expect of a target that is unlike the recorded tasks or of a family without any, and what is reported of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Ints, Vectors
from skilldelta.estimators.stack.shrinkage import family_levels, new_families
from skilldelta.estimators.stack.stack_panel import StackPanel

_NEIGHBORS = 25
_CANDIDATES = 20_000
_QUERIES = 500
_DEFAULT, _SPREAD = 0.3, 0.3
"""The share of the average before any family is seen, and how far it may be wrong."""

_VARIANCE = 0.04
"""Typical squared distance of a family's level from what its neighbours say."""


@dataclass(frozen=True, slots=True, eq=False)
class Transfer:
    """What a family without any row may expect: between the suite's level and the levels of the families nearest to it.

    The tasks nearest to the target show which families are like its own; their families' levels are averaged. How much
    that average counts is learned from the families there are, each as if it were new.
    """

    vectors: Vectors  # (m, dim)
    levels: Floats  # (m,)
    suite: float
    share: float

    @classmethod
    def of(cls, panel: StackPanel, without: list[int]) -> Transfer:
        """From the rows outside some folds."""
        kept = panel.order[~np.isin(panel.folds[panel.order], without)]
        rows = np.sort(kept[:_CANDIDATES])
        sums = panel.sums.without(without)
        levels = family_levels(sums, panel.nesting).level
        vectors = np.ascontiguousarray(panel.views.vectors[rows])
        suite = float(new_families(sums, panel.nesting).level[-1])
        queries = np.sort(kept[:_QUERIES])
        foreign = _foreign_levels(panel, queries, vectors, panel.groups[rows], levels, suite)
        share = _share(foreign - suite, sums.mean[panel.groups[queries]] - suite, panel.groups[queries])
        return cls(vectors, levels[panel.groups[rows]], suite, share)

    def nearby(self, vector: Vectors) -> float:
        """The mean level of the families of the nearest recorded tasks; the suite's level where there is none."""
        if not len(self.levels):
            return self.suite
        return float(self.levels[_nearest(self.vectors @ vector)].mean())

    def level(self, vector: Vectors) -> float:
        """The level of a new family with a task there."""
        return self.suite + self.share * (self.nearby(vector) - self.suite)


def _foreign_levels(
    panel: StackPanel, queries: Ints, vectors: Vectors, groups: Ints, levels: Floats, suite: float
) -> Floats:
    """(q,) for each query what the tasks of other families say; the suite's level where there is no other."""
    found = np.full(len(queries), suite)
    for i, (row, group) in enumerate(zip(queries, panel.groups[queries], strict=True)):
        others = np.flatnonzero(groups != group)
        if len(others):
            near = others[_nearest(vectors[others] @ panel.views.vectors[row])]
            found[i] = levels[groups[near]].mean()
    return found


def _share(predicted: Floats, observed: Floats, groups: Ints) -> float:
    """The regression of families on what their neighbours say, one vote per family, pulled towards the default."""
    present, place, rows = np.unique(groups, return_inverse=True, return_counts=True)
    x = np.bincount(place, weights=predicted, minlength=len(present)) / rows
    y = np.bincount(place, weights=observed, minlength=len(present)) / rows
    precision = 1 / _SPREAD**2
    slope = (x @ y / _VARIANCE + precision * _DEFAULT) / (x @ x / _VARIANCE + precision)
    return float(np.clip(slope, 0.0, 1.0))


def _nearest(similarity: Floats | Vectors) -> Ints:
    if len(similarity) <= _NEIGHBORS:
        return np.arange(len(similarity))
    return np.argpartition(similarity, len(similarity) - _NEIGHBORS)[-_NEIGHBORS:]


_EVEN = 0.001
"""The familiarity at which both are equally likely: one target in twenty of another family, spread evenly over log steps."""

_USUAL = 0.05
"""From this familiarity on a target is one of the family. Rows that tie must not be told apart by dust."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """An expected gain, and how far the truth may lie from it, squared."""

    gain: float
    variance: float


def credit(familiarity: float) -> float:
    """How likely a target of some familiarity is one of the family; NaN, not known, has full credit.

    A target unlike the recorded tasks either is an odd one of the family or belongs to a family that nobody has recorded.
    Tasks of the family have any familiarity equally often; tasks of other families have one near zero (real tasks asked
    under skills of other families lay below 0.01 in 98 of 100 cases where the family is large).
    """
    if not familiarity < _USUAL:
        return 1.0
    return familiarity / (familiarity + _EVEN)


def blend(own: Expectation, new: Expectation, share: float) -> Expectation:
    """One of two expectations, the first with the probability `share`."""
    gain = share * own.gain + (1 - share) * new.gain
    variance = share * own.variance + (1 - share) * new.variance
    return Expectation(gain, variance + share * (1 - share) * (own.gain - new.gain) ** 2)


def credits_of(familiarity: Floats) -> Floats:
    """(n,) the credit of each."""
    return np.array([credit(one) for one in familiarity.tolist()])


NOTHING = 0.005
_DECIMALS = 9


def reported_gains(gains: Floats) -> Floats:
    """(n,) the last step of every score: no gain outside [-1, 1], and a gain that would print as 0.00 is none.

    Less than half a point of success is not worth a skill's tokens, and the last digits of a pull towards the mean must
    not decide a task. Rounding removes the error of sums from which a task was taken out.
    """
    rounded = np.round(np.clip(gains, -1.0, 1.0), _DECIMALS)
    return np.where(np.abs(rounded) < NOTHING, 0.0, rounded)


def reported_gain(gain: float) -> float:
    """One gain as it is reported."""
    rounded = round(min(1.0, max(-1.0, gain)), _DECIMALS)
    return 0.0 if abs(rounded) < NOTHING else rounded
