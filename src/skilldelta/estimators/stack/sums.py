"""Weighted sums of gains by group and fold: all that a mean with shrinkage needs to know about its rows.

Summands are rounded to binary fractions so that every sum is exact: taking a row out again leaves no trace of it, and a
row that arrives later gives the same sum as one that was there from the start.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Ints, Strings

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


BETWEEN_TASKS = 0.1
WITHIN_ARM = 0.2
"""The variance of one execution's success at a success rate of 0.28 or 0.72."""

UNIT_VARIANCE = BETWEEN_TASKS + 2 * WITHIN_ARM
"""The variance of a gain from one execution of each arm: a pair of weight 1."""


def precisions(r0: Ints, r1: Ints) -> Floats:
    """(n,) the weight of each pair, 1 at one execution of each arm, at most 5 at any number.

    An observed gain varies for two reasons: tasks differ (no number of repetitions helps) and executions are chance
    (their share falls with r0 and r1). The two variances are fixed, typical values, not estimates, so that no outcome can
    reach a weight; only their ratio matters, and it matters little.
    """
    weights: Floats = UNIT_VARIANCE / (BETWEEN_TASKS + WITHIN_ARM * (1.0 / r0 + 1.0 / r1))
    return weights


FOLDS = 10
"""Parts of a panel that are held out in turn while weights are learned."""


def fold_of(task_id: str) -> int:
    """The fold of one task, a hash of its id: every row of a task falls into it, and a new task moves no other task."""
    return zlib.crc32(task_id.encode("utf-8", "surrogatepass")) % FOLDS


def folds_of(task_ids: Strings) -> Ints:
    """(n,) the fold of every row."""
    return np.fromiter((fold_of(str(task_id)) for task_id in task_ids), np.int64, len(task_ids))


def hash_order(task_ids: Strings) -> Ints:
    """(n,) rows in an order that neither outcomes nor record order decide, for samples of a large support."""
    keys = np.fromiter((zlib.crc32(f"order:{task_id}".encode()) for task_id in task_ids), np.int64, len(task_ids))
    return np.argsort(keys, kind="stable")
