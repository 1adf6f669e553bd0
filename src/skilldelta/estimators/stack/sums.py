"""Weighted sums of gains by group: all that a mean with shrinkage needs to know about its rows.

Summands are rounded to binary fractions so that every sum is exact: taking a row out again leaves no trace of it, and a
row that arrives later gives the same sum as one that was there from the start.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Ints

_STEP = 2.0**-30


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums over the rows of each group; any shape, the same in every field."""

    weight: Floats
    gain: Floats
    square: Floats
    rows: Ints

    @classmethod
    def by(cls, codes: Ints, size: int, gains: Floats, weights: Floats) -> Sums:
        """(size,) sums over the rows of each code."""
        return cls(
            weight=_exact_sum(codes, size, weights),
            gain=_exact_sum(codes, size, weights * gains),
            square=_exact_sum(codes, size, weights * gains**2),
            rows=np.bincount(codes, minlength=size).astype(np.int64),
        )

    def __getitem__(self, index: Ints) -> Sums:
        return Sums(self.weight[index], self.gain[index], self.square[index], self.rows[index])

    def __sub__(self, other: Sums) -> Sums:
        return Sums(
            self.weight - other.weight, self.gain - other.gain, self.square - other.square, self.rows - other.rows
        )

    def without(self, folds: list[int]) -> Sums:
        """Sums (groups, folds) added up over all folds but some."""
        kept = [fold for fold in range(self.rows.shape[1]) if fold not in folds]
        return Sums(
            self.weight[:, kept].sum(axis=1),
            self.gain[:, kept].sum(axis=1),
            self.square[:, kept].sum(axis=1),
            self.rows[:, kept].sum(axis=1),
        )

    @property
    def mean(self) -> Floats:
        """The weighted mean of each group, 0 where it is empty."""
        present = self.weight > 0
        mean: Floats = np.where(present, self.gain / np.where(present, self.weight, 1.0), 0.0)
        return mean


def sums_by_fold(codes: Ints, size: int, folds: Ints, fold_count: int, gains: Floats, weights: Floats) -> Sums:
    """(size, fold_count) sums over the rows of each code and fold."""
    flat = Sums.by(codes * fold_count + folds, size * fold_count, gains, weights)
    shape = (size, fold_count)
    return Sums(
        flat.weight.reshape(shape), flat.gain.reshape(shape), flat.square.reshape(shape), flat.rows.reshape(shape)
    )


def _exact_sum(codes: Ints, size: int, values: Floats) -> Floats:
    exact = np.rint(values / _STEP) * _STEP
    return np.asarray(np.bincount(codes, weights=exact, minlength=size), np.float64)
