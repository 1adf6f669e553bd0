"""What a family without any row may expect: between the suite's level and the levels of the families nearest to it.

The tasks nearest to the target say which families are like its own; their families' levels are averaged. How far that
average counts is learned from the families there are, each as if it were new.
"""

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
    """Recorded tasks with the levels of their families."""

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
