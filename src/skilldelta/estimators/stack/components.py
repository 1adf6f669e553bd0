"""The components of the stack, each as a departure from the family's mean, computed without held-out folds.

Every component is computed for every row without the row's own fold, and without its own and one other fold: from the
latter, weights for that other fold can be learned on departures that never saw it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from skilldelta import familiarity
from skilldelta.arrays import Floats, Ints, SmallInts
from skilldelta.estimators.stack.inner_folds import FOLDS
from skilldelta.estimators.stack.landmarks import Landmarks
from skilldelta.estimators.stack.nearness import departures, neighbor_lists
from skilldelta.estimators.stack.slopes import held_out_departures
from skilldelta.estimators.stack.stack_panel import StackPanel

View = Literal["vectors", "words", "shape"]

NEAREST: tuple[tuple[str, View, int], ...] = (
    ("nearest_6", "vectors", 6),
    ("nearest_25", "vectors", 25),
    ("words_25", "words", 25),
    ("shape_25", "shape", 25),
)
SLOPES: tuple[tuple[str, View], ...] = (("vector_ridge", "vectors"), ("word_ridge", "words"), ("shape_ridge", "shape"))
COMPONENTS: tuple[str, ...] = (*(name for name, _, _ in NEAREST), *(name for name, _ in SLOPES))

DEFAULT = np.array([0.8 if name == "vector_ridge" else 0.0 for name in COMPONENTS])
"""Weights before any outcome is seen: near tasks tell something about each other."""


@dataclass(frozen=True, slots=True, eq=False)
class Departures:
    """Departures of every row from its family's mean, by component."""

    plain: Floats  # (n, c) without the row's own fold
    held: Floats | None  # (folds, n, c) at [f, i] also without fold f
    nearest: SmallInts  # (n, 4) the nearest rows of the group by vector, -1 where there is none


def cross_fit(panel: StackPanel, *, nested: bool) -> Departures:
    """All components; `nested` adds those without a second fold, which an honest evaluation needs."""
    n, c = len(panel), len(COMPONENTS)
    found = Departures(
        np.zeros((n, c)),
        np.zeros((FOLDS, n, c)) if nested else None,
        np.full((n, familiarity.NEAREST + 1), -1, np.int32),
    )
    _fill_nearest(panel, found)
    _fill_slopes(panel, found)
    return found


def slope_features(panel: StackPanel, view: View, block: Ints) -> Floats | None:
    """What slopes of a view are fitted on in one group: vectors, words, or curves over the shape."""
    if view == "vectors":
        return np.asarray(panel.views.slopes[block], np.float64)
    if view == "words":
        return None if panel.views.words is None else np.asarray(panel.views.words[block], np.float64)
    if panel.views.shape is None:
        return None
    return landmarks_of(panel, block).features(panel.views.shape[block])


def landmarks_of(panel: StackPanel, block: Ints) -> Landmarks:
    """The landmarks of one group's shapes."""
    assert panel.views.shape is not None
    place = np.empty(len(panel), np.int64)
    place[panel.order] = np.arange(len(panel))
    return Landmarks.choose(panel.views.shape[block], np.argsort(place[block], kind="stable"))


def _fill_nearest(panel: StackPanel, found: Departures) -> None:
    lists = dict(_lists(panel))
    found.nearest[:] = lists["vectors"][:, : found.nearest.shape[1]]
    members = [np.flatnonzero(panel.folds == f) for f in range(FOLDS)]
    for excluded, rows in _held_out(members, nested=found.held is not None):
        family = panel.sums.without(list(excluded)).mean[panel.groups[rows]]
        for c, (_, view, k) in enumerate(NEAREST):
            if view in lists:
                values = _departures(panel, lists[view][rows], k, excluded, family)
                _put(found, excluded, rows, c, values, panel.folds)


def _departures(panel: StackPanel, lists: SmallInts, k: int, excluded: tuple[int, ...], family: Floats) -> Floats:
    return departures(lists, k, panel.gains, panel.weights, panel.folds, excluded, family)


def _lists(panel: StackPanel) -> Iterator[tuple[View, SmallInts]]:
    for view in ("vectors", "words", "shape"):
        features = getattr(panel.views, view)
        if features is not None:
            yield view, neighbor_lists(features, panel.blocks, panel.tasks, panel.order)


def _held_out(members: list[Ints], *, nested: bool) -> Iterator[tuple[tuple[int, ...], Ints]]:
    yield from (((f,), rows) for f, rows in enumerate(members) if len(rows))
    if nested:
        for f, g in combinations(range(FOLDS), 2):
            yield (f, g), np.concatenate([members[f], members[g]])


def _put(found: Departures, excluded: tuple[int, ...], rows: Ints, c: int, values: Floats, folds: Ints) -> None:
    if len(excluded) == 1:
        found.plain[rows, c] = values
        if found.held is not None:
            found.held[excluded[0], rows, c] = values
    elif found.held is not None:
        f, g = excluded
        other = np.where(folds[rows] == f, g, f)
        found.held[other, rows, c] = values


def _fill_slopes(panel: StackPanel, found: Departures) -> None:
    for block in panel.blocks:
        for c, (_, view) in enumerate(SLOPES, start=len(NEAREST)):
            features = slope_features(panel, view, block)
            if features is None:
                continue
            plain, held = held_out_departures(
                features,
                panel.gains[block],
                panel.weights[block],
                panel.folds[block],
                FOLDS,
                nested=found.held is not None,
            )
            found.plain[block, c] = plain
            if found.held is not None and held is not None:
                found.held[:, block, c] = held
