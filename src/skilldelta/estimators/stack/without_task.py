"""Departures of a recorded task from all other tasks of its family, for its score.

While weights are learned a row's whole fold is held out. Its score needs to be free of its own outcome alone, and in a
small family the rest of the fold is too much to lose: with 15 tasks it costs more than a point of success where effects
are local. In a large family it costs nothing, and there the departures without the fold serve as they are.
"""

from __future__ import annotations

import numpy as np

from skilldelta.arrays import Floats, Ints
from skilldelta.estimators.stack.components import NEAREST, SLOPES, slope_features
from skilldelta.estimators.stack.nearness import departures, neighbor_lists
from skilldelta.estimators.stack.slopes import held_out_departures
from skilldelta.estimators.stack.stack_panel import StackPanel

_SMALL = 64
"""Rows of a family up to which its tasks are scored from all others."""


def departures_without_task(panel: StackPanel, without_fold: Floats) -> Floats:
    """(n, c) departures without the row's own task in small groups, and without its fold, as given, in others."""
    found = without_fold.copy()
    small = [block for block in panel.blocks if len(block) <= _SMALL]
    if small:
        _fill_nearest(panel, small, found)
        for block in small:
            _fill_slopes(panel, block, found)
    return found


def _fill_nearest(panel: StackPanel, blocks: list[Ints], found: Floats) -> None:
    rows = np.concatenate(blocks)
    family = panel.without_task.mean[rows]
    for view in dict.fromkeys(view for _, view, _ in NEAREST):
        features = getattr(panel.views, view)
        if features is None:
            continue
        lists = neighbor_lists(features, blocks, panel.tasks, panel.order)[rows]  # none of the task's own rows
        for c, (_, other, k) in enumerate(NEAREST):
            if other == view:
                found[rows, c] = departures(lists, k, panel.gains, panel.weights, panel.folds, (), family)


def _fill_slopes(panel: StackPanel, block: Ints, found: Floats) -> None:
    tasks = np.unique(panel.tasks[block], return_inverse=True)[1]
    for c, (_, view) in enumerate(SLOPES, start=len(NEAREST)):
        features = slope_features(panel, view, block)
        if features is not None:
            gains, weights = panel.gains[block], panel.weights[block]
            found[block, c], _ = held_out_departures(features, gains, weights, tasks, len(block), nested=False)
