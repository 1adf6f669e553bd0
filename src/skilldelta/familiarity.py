"""Familiarity: how much a target resembles the recorded tasks of its scope. No outcome is an argument here.

A task's nearness is the mean of its three largest cosines to other recorded tasks. Familiarity is the share of the
recorded tasks that are no nearer to their own nearest tasks than the target is to its own. Between two recorded
tasks the share is interpolated. Below the lowest it falls off exponentially, at the rate that leads from the median to the lowest, so
that small scopes can tell "a little less like them" from "unlike anything recorded" too. For a task like the recorded
ones it is about uniform on [0, 1]: a limit of 0.05 flags about one in twenty of those.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skilldelta.arrays import Floats, Ints, Vectors
from skilldelta.neighbors import Neighbors, nearest_to_each

NEAREST = 3
FEWEST = 8
"""Recorded tasks of a scope below which nobody can say what is usual in it: familiarity is unknown."""

_SAMPLE = 1_000
"""In a larger scope this many recorded tasks, drawn with a fixed seed, stand for all; they are compared with all."""

_EXACT = 500
"""Recorded tasks up to which `leave_one_out` takes a task out of the others' nearest as well."""


@dataclass(frozen=True, eq=False)
class Familiarity:
    """The nearness of a scope's recorded tasks among themselves, which a target's is compared with."""

    usual: Floats  # (m,) ascending, at least two

    @classmethod
    def of(cls, vectors: Vectors) -> Familiarity | None:
        """From one row (of length 1) per distinct task; None where there are too few to say."""
        n = len(vectors)
        if n < FEWEST:
            return None
        asked = np.arange(n)
        if n > _SAMPLE:
            asked = np.sort(np.random.default_rng(0).choice(n, _SAMPLE, replace=False))
        return cls(np.sort(_near(vectors, asked, NEAREST).similarities.mean(axis=1)))

    def at(self, nearness: float) -> float:
        """The familiarity of a target of some nearness."""
        usual = self.usual
        if nearness >= usual[0]:
            return float(np.interp(nearness, usual, self._shares))
        return float(self._shares[0] * math.exp((nearness - usual[0]) / self._scale))

    @cached_property
    def _shares(self) -> Floats:
        m = len(self.usual)
        return np.arange(1, m + 1) / (m + 1)

    @cached_property
    def _scale(self) -> float:
        """How much less near is e times less familiar."""
        m = len(self.usual)
        return max((float(np.median(self.usual)) - float(self.usual[0])) / math.log((m + 1) / 2), 1e-6)


def nearness(vectors: Vectors, query: Vectors, *, excluded: Ints | None = None) -> float:
    """The mean of the largest cosines of a query to recorded tasks, one row per task; `excluded` rows are its own."""
    cosines = vectors @ query
    if excluded is not None and len(excluded):
        cosines = np.delete(cosines, excluded)
    if len(cosines) > NEAREST:
        cosines = np.partition(cosines, len(cosines) - NEAREST)[-NEAREST:]
    return float(cosines.mean()) if len(cosines) else -1.0


def leave_one_out(vectors: Vectors, nearest: Ints | None = None) -> Floats:
    """(n,) the familiarity of every recorded task to the others; NaN where they are too few to say.

    `nearest` (n, 4) are the rows nearest to each, where somebody has looked for them already.
    """
    n = len(vectors)
    if n <= FEWEST:
        return np.full(n, np.nan)
    if nearest is None:
        nearest = _near(vectors, np.arange(n), NEAREST + 1).rows
    cosines = np.vecdot(vectors[nearest], vectors[:, None]).astype(np.float64)
    near = cosines[:, :NEAREST].mean(axis=1)
    if n > _EXACT:
        usual = Familiarity(np.sort(near))
        return np.array([usual.at(value) for value in near])
    return np.array([_without(i, near, cosines, nearest).at(near[i]) for i in range(n)])


def _without(task: int, near: Floats, cosines: Floats, nearest: Ints) -> Familiarity:
    """What is usual among the others: where the task is one of a row's nearest, the row's next one takes its place."""
    rows, place = np.nonzero(nearest[:, :NEAREST] == task)
    usual = near.copy()
    usual[rows] += (cosines[rows, NEAREST] - cosines[rows, place]) / NEAREST
    return Familiarity(np.sort(np.delete(usual, task)))


def _near(vectors: Vectors, asked: Ints, k: int) -> Neighbors:
    codes = np.arange(len(vectors))
    return nearest_to_each(vectors, vectors[asked], k, codes=codes, query_codes=asked)
