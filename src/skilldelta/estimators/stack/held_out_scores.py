"""Every task of a panel scored from the other tasks alone, weights included.

The score of a task in fold f is the level of its family without the task, plus its departures weighted by weights that
were learned without any outcome of fold f, from departures that did not see fold f either. The departures of the task
itself leave out its fold, or in a small family the task alone.

A level without the task differs between two tasks of a family only by their own outcomes, with a minus sign. Where
departures are strong this is dust. Where they are weak it would order the tasks of a family against their own outcomes,
so there the level is taken to the middle of a step of the width of its own uncertainty, and the tasks tie. A task that
is alone in its family is scored like one of a new family, and one that is unlike the others is pulled towards that.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from skilldelta import familiarity
from skilldelta.arrays import Floats, Ints, SmallInts
from skilldelta.estimators.stack.components import COMPONENTS, DEFAULT, cross_fit, departures_without_task
from skilldelta.estimators.stack.shrinkage import new_families
from skilldelta.estimators.stack.stack_panel import StackPanel
from skilldelta.estimators.stack.sums import FOLDS
from skilldelta.estimators.stack.unfamiliar_tasks import Transfer, credits_of, reported_gains
from skilldelta.estimators.stack.weights import learn_weights

_STEP = 2.5
"""Width of a level's step times the root of its rows: about the 95% interval of a mean gain."""

_FEWEST_FOR_STEPS = 100


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """Scores of every row with what they are made of."""

    values: Floats  # (n,)
    shares: Floats  # (c,) mean weight of each component; what is left of 1 is the level's


def leave_one_out(panel: StackPanel) -> LeftOut:
    """Nested cross-fitting over the folds of a panel."""
    found = cross_fit(panel, nested=True)
    assert found.held is not None
    residuals = _held_out_residuals(panel)
    departures = departures_without_task(panel, found.plain)
    left = panel.without_task
    own_share = credits_of(_familiarity(panel, found.nearest))
    values = np.zeros(len(panel))
    shares = np.zeros(len(COMPONENTS))
    for f in range(FOLDS):
        weights = learn_weights(
            found.held[f],
            residuals[f],
            panel.weights,
            blocks=panel.blocks,
            keep=panel.folds != f,
            default=DEFAULT,
        )
        rows = np.flatnonzero(panel.folds == f)
        group = panel.groups[rows]
        level = stepped(left.level[rows], left.rows[rows], weights.spread[group])
        alone = left.rows[rows] == 0
        if alone.any() and panel.nesting.is_flat:
            transfer = Transfer.of(panel, [f])
            level[alone] = [transfer.level(vector) for vector in panel.views.vectors[rows[alone]]]
        own = level + np.vecdot(departures[rows], weights.groups[group])
        new = new_families(panel.sums.without([f]), panel.nesting).level[panel.nesting.skill_of[group]]
        values[rows] = new + own_share[rows] * (own - new)
        shares += weights.groups[group].sum(axis=0) / len(panel)
    return LeftOut(reported_gains(values), shares)


def _familiarity(panel: StackPanel, nearest: SmallInts) -> Floats:
    """(n,) how much every row resembles the others of its group."""
    found = np.full(len(panel), np.nan)
    for block in panel.blocks:
        found[block] = familiarity.leave_one_out(panel.views.vectors[block], np.searchsorted(block, nearest[block]))
    return found


def _held_out_residuals(panel: StackPanel) -> Floats:
    """(folds, n) gains minus their group's level, at [f, i] without the fold of i and without f."""
    residuals = np.zeros((FOLDS, len(panel)))
    members = [np.flatnonzero(panel.folds == f) for f in range(FOLDS)]
    for f, g in combinations(range(FOLDS), 2):
        levels = panel.levels_without([f, g]).level
        for fold, rows in ((f, members[g]), (g, members[f])):
            residuals[fold, rows] = panel.gains[rows] - levels[panel.groups[rows]]
    return residuals


def stepped(levels: Floats, rows: Ints, spread: Floats) -> Floats:
    """(m,) levels on steps, where the family is large and its departures are weak; the sign never changes."""
    step = _STEP / np.sqrt(np.maximum(rows, 1))
    coarse = (rows >= _FEWEST_FOR_STEPS) & (spread < step / 2)
    return np.where(coarse, (np.floor(levels / step) + 0.5) * step, levels)
