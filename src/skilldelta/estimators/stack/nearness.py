"""The k nearest tasks of a family as a departure from the family's mean.

Neighbours are sorted once, from features alone. Under any set of held-out folds the k nearest that remain are read off
that order. What counts is their mean gain minus the mean gain of the whole family without the same folds: the weights
of such a difference sum to zero, so that a task's own absence cannot push it up or down.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from skilldelta.arrays import Floats, Ints, SmallInts, Vectors

WIDTH = 56
"""Neighbours kept per row: enough that 25 remain when two folds of ten are held out."""

_CANDIDATES = 20_000
"""Neighbours in a larger family are sought among a fixed sample of it."""

_BLOCK_CELLS = 4 * 2**20


def neighbor_lists(features: Vectors | Floats, blocks: Sequence[Ints], codes: Ints, order: Ints) -> SmallInts:
    """(n, WIDTH) rows of the same block from the nearest to the farthest, -1 where there is none.

    Near is a small Euclidean distance, which for rows of length 1 is a large cosine. Rows with the same code (the
    same task) are left out; equal distances stand in row order. `order` says which rows a sample takes.
    """
    n = len(features)
    lists = np.full((n, WIDTH), -1, np.int32)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    for block in blocks:
        candidates = block if len(block) <= _CANDIDATES else np.sort(block[np.argsort(place[block])[:_CANDIDATES]])
        base = np.asarray(features[candidates], np.float32)
        offset = np.vecdot(base, base) / 2
        transposed = np.ascontiguousarray(base.T)
        step = max(1, _BLOCK_CELLS // max(1, len(candidates)))
        for start in range(0, len(block), step):
            part = block[start : start + step]
            closeness = np.asarray(features[part], np.float32) @ transposed - offset
            closeness[codes[part, None] == codes[None, candidates]] = -np.inf
            best = _largest(closeness)
            found = np.isfinite(np.take_along_axis(closeness, best, axis=1))
            lists[part, : best.shape[1]] = np.where(found, candidates[best], -1)
    return lists


def departures(
    lists: SmallInts, k: int, gains: Floats, weights: Floats, folds: Ints, excluded: Sequence[int], family: Floats
) -> Floats:
    """(m,) mean gain of the first k listed rows outside the excluded folds, minus `family`; 0 where none is left.

    `family` (m,) is the mean gain of each row's family without the same folds.
    """
    allowed = lists >= 0
    near = folds[lists]
    for fold in excluded:
        allowed &= near != fold
    allowed &= np.cumsum(allowed, axis=1, dtype=np.int32) <= k
    share = np.where(allowed, weights[lists], 0.0)
    total = share.sum(axis=1)
    known = total > 0
    return np.where(known, (share * gains[lists]).sum(axis=1) / np.where(known, total, 1.0) - family, 0.0)


def _largest(closeness: NDArray[np.float32]) -> Ints:
    """(m, <= WIDTH) columns in falling closeness, equals in column order."""
    n = closeness.shape[1]
    if n > WIDTH:
        chosen = np.sort(np.argpartition(closeness, n - WIDTH, axis=1)[:, n - WIDTH :], axis=1)
    else:
        chosen = np.broadcast_to(np.arange(n), closeness.shape)
    near = np.take_along_axis(closeness, chosen, axis=1)
    return np.take_along_axis(chosen, np.argsort(-near, axis=1, kind="stable"), axis=1)
