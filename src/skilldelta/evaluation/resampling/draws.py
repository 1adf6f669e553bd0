"""The resampling designs: what is drawn with replacement, and how often each row of a panel was drawn.

Units are tasks, whole families or task groups, never repetitions and never rows: a task under several skills is drawn
with all its rows. Drawing within families keeps their sizes. An inventory lets several agents of a suite see the very
same draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Ints, SmallInts, Strings
from skilldelta.support import Support

_CHUNK_CELLS = 2**19
"""Draws are made in chunks of about this many counts: they stay in the cache, and memory stays bounded."""


@dataclass(frozen=True, slots=True, eq=False)
class Inventory:
    """The tasks of a suite, whichever agents ran them."""

    task_ids: Strings  # (units,) sorted
    families: Strings  # (units,)

    @classmethod
    def of(cls, supports: Sequence[Support]) -> Inventory:
        """The union of the panels' tasks; a task's family is the one recorded first."""
        ids, first = np.unique(np.concatenate([support.task_ids for support in supports]), return_index=True)
        return cls(ids, np.concatenate([support.scope_labels("family") for support in supports])[first])


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Units drawn with replacement, as many as there are, and the unit of each row of a panel."""

    units: int
    codes: Ints  # (n,) unit of each row
    strata: Ints | None = None  # (units,) draws stay within a stratum where given

    @classmethod
    def tasks(cls, task_ids: Strings, inventory: Inventory) -> Design:
        """Whole tasks."""
        return cls(len(inventory.task_ids), np.searchsorted(inventory.task_ids, task_ids))

    @classmethod
    def tasks_within_families(cls, task_ids: Strings, inventory: Inventory) -> Design:
        """Whole tasks, each replaced by one of its own family."""
        strata = np.unique(inventory.families, return_inverse=True)[1]
        return cls(len(inventory.task_ids), np.searchsorted(inventory.task_ids, task_ids), strata)

    @classmethod
    def families(cls, families: Strings, inventory: Inventory) -> Design:
        """Whole families."""
        labels = np.unique(np.concatenate([inventory.families, families]))
        return cls(len(labels), np.searchsorted(labels, families))

    @classmethod
    def groups(cls, groups: Strings) -> Design:
        """Whole groups of any kind."""
        labels, codes = np.unique(groups, return_inverse=True)
        return cls(len(labels), codes)


def count_draws(design: Design, draws: int, rng: np.random.Generator) -> Iterator[SmallInts]:
    """Chunks (some draws, n) of how often each row was drawn, `draws` in all; the same rng gives the same draws."""
    step = max(1, _CHUNK_CELLS // max(design.units, len(design.codes)))
    is_row = len(design.codes) == design.units and bool((design.codes == np.arange(design.units)).all())
    strata = None if design.strata is None else _Strata(design.strata)
    for start in range(0, draws, step):
        size = min(step, draws - start)
        drawn = rng.integers(0, design.units, (size, design.units)) if strata is None else strata.draw(rng, size)
        counts = _counted(drawn, design.units)
        yield counts if is_row else np.take(counts, design.codes, axis=1)


class _Strata:
    """Units sorted by stratum, so that a draw within it is an offset and a width."""

    def __init__(self, strata: Ints) -> None:
        self._order = np.argsort(strata, kind="stable")
        sizes = np.bincount(strata)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self._width = sizes[strata[self._order]].astype(np.float64)
        self._start = starts[strata[self._order]]

    def draw(self, rng: np.random.Generator, size: int) -> Ints:
        """(size, units) drawn units."""
        place = (rng.random((size, len(self._order))) * self._width).astype(np.int64)
        drawn: Ints = self._order[place + self._start]
        return drawn


def _counted(drawn: Ints, units: int) -> SmallInts:
    counts = np.empty((len(drawn), units), np.int32)
    for row, units_drawn in enumerate(drawn):
        counts[row] = np.bincount(units_drawn, minlength=units)
    return counts
