"""The components of the blend, each as a departure from the family's mean, computed without held-out folds.

Every component is computed for every row without the row's own fold, and without its own and one other fold: from the
latter, weights for that other fold can be learned on departures that never saw it. Neighbors are sorted once, from
features alone; under any set of held-out folds the k nearest that remain are read off that order. The weights of a
departure sum to zero, so that a task's own absence cannot push it up or down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from skilldelta import resemblance
from skilldelta.arrays import Floats, Ints, SmallInts, Vectors
from skilldelta.estimators.blend.blend_panel import FOLDS, BlendPanel
from skilldelta.estimators.blend.slopes import Landmarks, held_out_departures
from skilldelta.estimators.blend.views import View

NEAREST: tuple[tuple[str, View, int], ...] = (
    ("nearest_6", "vectors", 6),
    ("nearest_25", "vectors", 25),
    ("words_25", "words", 25),
    ("shape_25", "shape", 25),
)
SLOPES: tuple[tuple[str, View], ...] = (("vector_ridge", "vectors"), ("word_ridge", "words"), ("shape_ridge", "shape"))
COMPONENTS: tuple[str, ...] = (*(name for name, _, _ in NEAREST), *(name for name, _ in SLOPES))

# Weights before any outcome is seen: near tasks tell something about each other.
DEFAULT = np.array([0.8 if name == "vector_ridge" else 0.0 for name in COMPONENTS])


@dataclass(frozen=True, slots=True, eq=False)
class Departures:
    """Departures of every row from its family's mean, by component."""

    plain: Floats  # (n, c) without the row's own fold
    held: Floats | None  # (folds, n, c) at [f, i] also without fold f
    nearest: SmallInts  # (n, 4) the nearest rows of the group by vector, -1 where there is none


def cross_fit(panel: BlendPanel, *, nested: bool) -> Departures:
    """All components; `nested` adds those without a second fold, which an honest evaluation needs."""
    n, c = len(panel), len(COMPONENTS)
    departures = Departures(
        np.zeros((n, c)),
        np.zeros((FOLDS, n, c)) if nested else None,
        np.full((n, resemblance.NEAREST + 1), -1, np.int32),
    )
    _fill_nearest(panel, departures)
    _fill_slopes(panel, departures)
    return departures


def slope_features(panel: BlendPanel, view: View, block: Ints) -> Floats | None:
    """What slopes of a view are fitted on in one group: vectors, words, or curves over the shape."""
    if view == "vectors":
        return np.asarray(panel.views.slopes[block], np.float64)
    if view == "words":
        return None if panel.views.words is None else np.asarray(panel.views.words[block], np.float64)
    if panel.views.shape is None:
        return None
    return landmarks_of(panel, block).features(panel.views.shape[block])


def landmarks_of(panel: BlendPanel, block: Ints) -> Landmarks:
    """The landmarks of one group's shapes."""
    assert panel.views.shape is not None
    place = np.argsort(panel.order)
    return Landmarks.choose(panel.views.shape[block], np.argsort(place[block], kind="stable"))


def _fill_nearest(panel: BlendPanel, found: Departures) -> None:
    lists = {
        view: neighbor_lists(features, panel.blocks, panel.tasks, panel.order)
        for view, features in panel.views.known.items()
    }
    found.nearest[:] = lists["vectors"][:, : found.nearest.shape[1]]
    members = [np.flatnonzero(panel.folds == f) for f in range(FOLDS)]
    for excluded, rows in _held_out(members, nested=found.held is not None):
        family = panel.sums.without(list(excluded)).mean[panel.groups[rows]]
        other = np.where(panel.folds[rows] == excluded[0], excluded[-1], excluded[0])
        for c, (_, view, k) in enumerate(NEAREST):
            if view not in lists:
                continue
            values = departures(lists[view][rows], k, panel.gains, panel.weights, panel.folds, excluded, family)
            if len(excluded) == 1:
                found.plain[rows, c] = values
            if found.held is not None:
                found.held[other, rows, c] = values


def _held_out(members: list[Ints], *, nested: bool) -> Iterator[tuple[tuple[int, ...], Ints]]:
    yield from (((f,), rows) for f, rows in enumerate(members) if len(rows))
    if nested:
        for f, g in combinations(range(FOLDS), 2):
            yield (f, g), np.concatenate([members[f], members[g]])


def _fill_slopes(panel: BlendPanel, departures: Departures) -> None:
    nested = departures.held is not None
    for block in panel.blocks:
        gains, weights, folds = panel.gains[block], panel.weights[block], panel.folds[block]
        for c, features in _sloped(panel, block):
            departures.plain[block, c], held = held_out_departures(
                features, gains, weights, folds, FOLDS, nested=nested
            )
            if departures.held is not None and held is not None:
                departures.held[:, block, c] = held


def _sloped(panel: BlendPanel, block: Ints) -> Iterator[tuple[int, Floats]]:
    """The components that are lines or curves, with the features of a group's rows."""
    for c, (_, view) in enumerate(SLOPES, start=len(NEAREST)):
        features = slope_features(panel, view, block)
        if features is not None:
            yield c, features


# Neighbors kept per row: enough that 25 remain when two folds of ten are held out.
WIDTH = 56

# Neighbors in a larger family are sought among a fixed sample of it.
_CANDIDATES = 20_000

_BLOCK_CELLS = 4 * 2**20


def neighbor_lists(features: Vectors | Floats, blocks: Sequence[Ints], codes: Ints, order: Ints) -> SmallInts:
    """(n, WIDTH) rows of the same block from the nearest to the farthest, -1 where there is none.

    Near is a small Euclidean distance, which for rows of length 1 is a large cosine. Rows with the same code (the
    same task) are left out; equal distances stand in row order. `order` says which rows a sample takes.
    """
    n = len(features)
    lists = np.full((n, WIDTH), -1, np.int32)
    place = np.argsort(order)
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
            is_valid = np.isfinite(np.take_along_axis(closeness, best, axis=1))
            lists[part, : best.shape[1]] = np.where(is_valid, candidates[best], -1)
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
    is_known = total > 0
    return np.where(is_known, (share * gains[lists]).sum(axis=1) / np.where(is_known, total, 1.0) - family, 0.0)


def _largest(closeness: NDArray[np.float32]) -> Ints:
    """(m, <= WIDTH) columns in falling closeness, equals in column order."""
    n = closeness.shape[1]
    if n > WIDTH:
        chosen = np.sort(np.argpartition(closeness, n - WIDTH, axis=1)[:, n - WIDTH :], axis=1)
    else:
        chosen = np.broadcast_to(np.arange(n), closeness.shape)
    near = np.take_along_axis(closeness, chosen, axis=1)
    return np.take_along_axis(chosen, np.argsort(-near, axis=1, kind="stable"), axis=1)


# Rows of a family up to which its tasks are scored from all others.
_SMALL_FAMILY = 64


def departures_without_task(panel: BlendPanel, without_fold: Floats) -> Floats:
    """(n, c) departures without the row's own task in small groups, and without its fold, as given, in others.

    While weights are learned a row's whole fold is held out. Its score needs to be free of its own outcome alone, and in
    a small family the rest of the fold is too much to lose: with 15 tasks it costs more than a point of success where
    effects are local. In a large family it costs nothing.
    """
    departures = without_fold.copy()
    small = [block for block in panel.blocks if len(block) <= _SMALL_FAMILY]
    if small:
        _nearest_without_task(panel, small, departures)
    for block in small:
        tasks = np.unique(panel.tasks[block], return_inverse=True)[1]
        gains, weights = panel.gains[block], panel.weights[block]
        for c, features in _sloped(panel, block):
            departures[block, c], _ = held_out_departures(features, gains, weights, tasks, len(block), nested=False)
    return departures


def _nearest_without_task(panel: BlendPanel, blocks: list[Ints], found: Floats) -> None:
    rows = np.concatenate(blocks)
    family = panel.without_task.mean[rows]
    for view, features in panel.views.known.items():
        lists = neighbor_lists(features, blocks, panel.tasks, panel.order)[rows]  # none of the task's own rows
        for c, (_, other, k) in enumerate(NEAREST):
            if other == view:
                found[rows, c] = departures(lists, k, panel.gains, panel.weights, panel.folds, (), family)
