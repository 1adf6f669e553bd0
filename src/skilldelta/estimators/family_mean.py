"""Family-mean control: the mean gain of all other tasks of the target's family, near or far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Ints
from skilldelta.estimators.base import Score, Scores, Target
from skilldelta.estimators.paper_rule import RowsByScope
from skilldelta.support import Support
from skilldelta.ties import tie_rounding


@dataclass(frozen=True, slots=True)
class FamilyMean:
    """One number per family, the target's own task left out."""

    @property
    def name(self) -> str:
        """The policy name."""
        return "family_mean"

    def leave_one_out(self, support: Support) -> Scores:
        """Family sums minus the task's own rows; a family of one task scores 0."""
        families = np.unique(support.scope_labels("family"), return_inverse=True)[1]
        own = np.unique(families * (len(support) + 1) + support.task_codes, return_inverse=True)[1]
        gains = support.gains
        total = _sums(families, gains) - _sums(own, gains)
        count = np.bincount(families)[families] - np.bincount(own)[own]
        return Scores(_mean(total, count), supported=count > 0)

    def fit(self, support: Support) -> FittedFamilyMean:
        """Rows by family, looked up once."""
        return FittedFamilyMean(RowsByScope.of(support, "family"))


@dataclass(frozen=True, slots=True)
class FittedFamilyMean:
    """The families' gains at hand."""

    rows: RowsByScope

    def score(self, target: Target) -> Score:
        """The mean gain of the family's other tasks, 0 where there is none."""
        gains = self.rows.support.gains[self.rows.eligible(target)]
        mean = float(_mean(np.array([gains.sum()]), np.array([len(gains)]))[0])
        return Score(mean, {"family_mean": mean}, {"family_mean": 1.0})


def _sums(codes: Ints, gains: Floats) -> Floats:
    """(n,) for each row the sum of its group."""
    return np.asarray(np.bincount(codes, weights=gains), np.float64)[codes]


def _mean(total: Floats, count: Ints) -> Floats:
    # A mean made by subtraction carries rounding error; without it, gains that cancel stay exactly zero.
    mean: Floats = tie_rounding(total / np.maximum(count, 1)) + 0.0  # no negative zero
    return np.where(count > 0, mean, 0.0)
