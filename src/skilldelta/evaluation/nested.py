"""Scores for choosing something without a fold's outcomes: the panel is scored anew without that fold.

A row's leave-one-out score leaves its own outcome out but was made from the others', and so the others' scores hold a
trace of it. A threshold or a probability learned from them would have seen, faintly, what it is judged by.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.folds import FOLDS, held_out_folds
from skilldelta.support import Support

Scorer = Callable[[Support], Floats]
"""Leave-one-task-out scores (n,) of a support's rows."""


def scores_without_folds(
    score: Scorer, support: Support, *, folds: int = FOLDS, progress: Callable[[int, int], None] | None = None
) -> Floats:
    """(folds, n) row f: scores of the rows outside fold f, made without fold f; NaN inside it."""
    fold_of = held_out_folds(support.task_ids, folds)
    found = np.full((folds, len(support)), np.nan)
    for fold in range(folds):
        others = np.flatnonzero(fold_of != fold)
        if len(others):
            found[fold, others] = score(support.rows(others))
        if progress:
            progress(fold + 1, folds)
    return found
