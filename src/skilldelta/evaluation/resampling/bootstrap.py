"""Percentile bootstrap with scores and actions held fixed: how much a result depends on which tasks there were.

Five designs, each vectorised over draws: tasks for ranking and policy value; the same draws paired between two policies
for differences; tasks or whole families for the advantage over random, its rate recomputed; tasks within families for the
decomposition; task groups for policies with a test split. The intervals leave out refitting, the choice of settings and
new execution noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Ints, SmallInts, Strings
from skilldelta.evaluation.metrics import AurocOfDraws, DecompositionOfDraws
from skilldelta.evaluation.panel_policy import Outcomes, PanelPolicy, Totals, columns
from skilldelta.evaluation.results import UNKNOWN, Range
from skilldelta.support import Support

# Draws are made in chunks of about this many counts: they stay in the cache, and memory stays bounded.
_CHUNK_CELLS = 2**19


@dataclass(frozen=True, slots=True, eq=False)
class Inventory:
    """The tasks of a suite, whichever agents ran them, so that several agents see the very same draws."""

    task_ids: Strings  # (units,) sorted
    families: Strings  # (units,)

    @classmethod
    def of(cls, supports: Sequence[Support]) -> Inventory:
        """The union of the panels' tasks; a task's family is the one recorded first."""
        ids, first = np.unique(np.concatenate([support.task_ids for support in supports]), return_index=True)
        return cls(ids, np.concatenate([support.scope_labels("family") for support in supports])[first])


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Units drawn with replacement, as many as there are, and the unit of each row of a panel.

    Units are tasks, whole families or task groups, never repetitions and never rows: a task under several skills is drawn
    with all its rows. Drawing within families keeps their sizes.
    """

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


# Told how many more draws are done.
Tick = Callable[[int], None]


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


def _in_parts(
    design: Design, draws: int, rng: np.random.Generator, tick: Tick | None
) -> Iterator[tuple[slice, SmallInts]]:
    """The same chunks, each with its place among all draws."""
    done = 0
    for counts in count_draws(design, draws, rng):
        yield slice(done, done + len(counts)), counts
        done += len(counts)
        if tick:
            tick(len(counts))


LEVEL = 0.95

# Metric name to its value in every draw.
Samples = Mapping[str, Floats]


def percentile_range(samples: Floats, *, level: float = LEVEL) -> Range:
    """The middle `level` of the draws; draws without a value (a class not drawn, no tokens) are left out."""
    finite = samples[np.isfinite(samples)]
    if not len(finite):
        return UNKNOWN
    low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    return Range(float(low), float(high))


def resample_policies(
    policies: Sequence[PanelPolicy],
    outcomes: Outcomes,
    design: Design,
    *,
    draws: int,
    rng: np.random.Generator,
    tick: Tick | None = None,
) -> dict[str, dict[str, Floats]]:
    """Every metric of every policy in every draw; policies share the draws, so that differences are paired.

    All policies are evaluated on the same rows, those of `outcomes`.
    """
    table = np.column_stack([columns(policy, outcomes) for policy in policies])
    areas = {
        policy.name: AurocOfDraws(policy.scores[policy.rows], outcomes.positive)
        for policy in policies
        if policy.scores is not None
    }
    sums = np.empty((draws, table.shape[1]))
    auroc = {name: np.empty(draws) for name in areas}
    for part, counts in _in_parts(design, draws, rng, tick):
        sums[part] = counts.astype(np.float64) @ table
        for name, area in areas.items():
            auroc[name][part] = area(counts)
    return {
        policy.name: Totals.from_sums(own).metrics() | ({"auroc": auroc[policy.name]} if policy.name in auroc else {})
        for policy, own in zip(policies, np.split(sums, len(policies), axis=1), strict=True)
    }


def resample_components(
    policies: Sequence[PanelPolicy],
    outcomes: Outcomes,
    design: Design,
    *,
    draws: int,
    rng: np.random.Generator,
    tick: Tick | None = None,
) -> dict[str, dict[str, Floats]]:
    """Within-group and between-group parts of every policy in every draw, and their sum."""
    identity = DecompositionOfDraws([p.actions[p.rows] for p in policies], outcomes.gains, outcomes.families)
    within, between = np.empty((len(policies), draws)), np.empty((len(policies), draws))
    for part, counts in _in_parts(design, draws, rng, tick):
        components = identity(counts)
        within[:, part], between[:, part] = components.within_group, components.between_group
    return {
        policy.name: {
            "within_group": within[i],
            "between_group": between[i],
            "advantage_vs_random": within[i] + between[i],
        }
        for i, policy in enumerate(policies)
    }
