"""The rows of one family under one skill, made ready to be compared with a target.

Only what a learned weight calls for is prepared and computed: a component without weight costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skilldelta.arrays import Floats, Ints, Vectors
from skilldelta.estimators.base import Target
from skilldelta.estimators.blend.blend_panel import BlendPanel, Key
from skilldelta.estimators.blend.components import NEAREST, SLOPES, landmarks_of, slope_features
from skilldelta.estimators.blend.slopes import Landmarks, Slopes, Trend, fit_slopes
from skilldelta.estimators.blend.views import FeatureExtractor, View
from skilldelta.estimators.blend.weights import Trust
from skilldelta.resemblance import Familiarity, nearness

# However clearly the data say that departures tell nothing, intervals allow for this much of them.
LEAST_BELIEF = 0.05


class TargetFeatures:
    """The features of one target; a view is computed when a component first asks for it."""

    def __init__(self, target: Target, extractor: FeatureExtractor) -> None:
        self._text = target.text
        self._extractor = extractor
        self.vectors = target.vector  # (dim,)

    @cached_property
    def words(self) -> Vectors:
        """(dim,) its words."""
        assert self._extractor.words is not None
        return self._extractor.words.row(self._text)

    @cached_property
    def shape(self) -> Floats:
        """(6,) its shape."""
        assert self._extractor.shape is not None
        shape: Floats = self._extractor.shape.rows([self._text])[0]
        return shape

    @cached_property
    def projected(self) -> Vectors:
        """(<= 256,) its vector on the main directions."""
        return self._extractor.project(self.vectors)


@dataclass(frozen=True, slots=True, eq=False)
class NeighborIndex:
    """The rows of a group in one view, and which components average how many of the nearest."""

    features: Vectors  # (m, p)
    offset: Vectors  # (m,) half their squared lengths
    sizes: tuple[tuple[int, int], ...]  # component, k
    largest: int

    @classmethod
    def of(cls, features: Floats | Vectors, sizes: tuple[tuple[int, int], ...]) -> NeighborIndex:
        """Rows (m, p) made ready."""
        matrix: Vectors = np.ascontiguousarray(features, np.float32)
        half: Vectors = np.vecdot(matrix, matrix) / np.float32(2)
        return cls(matrix, half, sizes, max(k for _, k in sizes))

    def nearest_first(self, features: Floats | Vectors) -> Ints:
        """The nearest rows from the nearest to the farthest, equals in record order."""
        distance = self.offset - self.features @ features.astype(np.float32)
        if len(distance) <= self.largest:
            return np.argsort(distance, kind="stable")
        cut = np.partition(distance, self.largest - 1)[self.largest - 1]
        some = np.flatnonzero(distance <= cut)
        return some[np.argsort(distance[some], kind="stable")]


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A family's level, and everything its weighted components need."""

    gains: Floats  # (m,) weighted
    weights: Floats  # (m,)
    mean: float
    level: float
    level_variance: float
    belief: float
    """That departures tell anything in this family."""
    means: Mapping[str, float]
    """What the level is made of: the means of family, skill and suite, and zero."""
    mean_shares: Mapping[str, float]
    shares: Mapping[int, float]
    """Weights of the components that have any."""
    near: Mapping[View, NeighborIndex]
    lines: Mapping[int, tuple[View, Slopes]]
    landmarks: Landmarks | None
    trend: Trend
    vectors: Vectors  # (m, dim)
    familiarity: Familiarity | None

    def departures(self, target: TargetFeatures) -> dict[int, float]:
        """How far each weighted component departs from the mean."""
        departures = {}
        for view, near in self.near.items():
            rows = near.nearest_first(getattr(target, view))
            for c, k in near.sizes:
                chosen = rows[:k]
                departures[c] = float(self.gains[chosen].sum() / self.weights[chosen].sum()) - self.mean
        for c, (view, line) in self.lines.items():
            departures[c] = line.departure(self._line_features(view, target))
        return departures

    def variance(self, target: TargetFeatures, departure: float) -> float:
        """How far the expected gain of tasks like the target may lie from level plus departure, squared.

        Either departures tell something in this family, then the trend's own variance counts, or they tell nothing.
        """
        belief = max(self.belief, LEAST_BELIEF)
        either = (1 - belief) / belief * departure**2
        return self.level_variance + belief * self.trend.variance(target.projected) + either

    def familiarity_of(self, target: TargetFeatures) -> float | None:
        """How much the target resembles the tasks of this family; None where they are too few to say."""
        return None if self.familiarity is None else self.familiarity.at(nearness(self.vectors, target.vectors))

    def _line_features(self, view: View, target: TargetFeatures) -> Floats | Vectors:
        if view != "shape":
            return target.projected if view == "vectors" else target.words
        assert self.landmarks is not None
        curve: Floats = self.landmarks.features(target.shape[None])[0]
        return curve


def prepare(panel: BlendPanel, key: Key, trust: Trust) -> Group:
    """A group of a panel, for components with the given weights."""
    at, weights = panel.group_of[key], trust.weights
    block = panel.blocks[at]
    vectors = np.ascontiguousarray(panel.views.vectors[block])
    lines = _lines(panel, block, weights)
    curved = any(view == "shape" for view, _ in lines.values())
    near = _near(panel, block, weights)
    means, shares = _level_parts(panel, at)
    used = sorted({c for part in near.values() for c, _ in part.sizes} | set(lines))
    return Group(
        gains=panel.gains[block] * panel.weights[block],
        weights=panel.weights[block],
        mean=float(panel.sums.without([]).mean[at]),
        level=float(panel.levels.level[at]),
        level_variance=float(panel.levels.variance[at]),
        belief=trust.belief,
        means=means,
        mean_shares=shares,
        shares={c: float(weights[c]) for c in used},
        near=near,
        lines=lines,
        landmarks=landmarks_of(panel, block) if curved else None,
        trend=Trend.of(np.asarray(panel.views.slopes[block], np.float64), panel.gains[block], panel.weights[block]),
        vectors=vectors,
        familiarity=Familiarity.of(vectors),
    )


def _near(panel: BlendPanel, block: Ints, weights: Floats) -> dict[View, NeighborIndex]:
    near: dict[View, NeighborIndex] = {}
    for view, features in panel.views.known.items():
        sizes = tuple((c, k) for c, (_, other, k) in enumerate(NEAREST) if other == view and weights[c] > 0)
        if sizes:
            near[view] = NeighborIndex.of(features[block], sizes)
    return near


def _lines(panel: BlendPanel, block: Ints, weights: Floats) -> dict[int, tuple[View, Slopes]]:
    lines: dict[int, tuple[View, Slopes]] = {}
    for c, (_, view) in enumerate(SLOPES, start=len(NEAREST)):
        features = slope_features(panel, view, block) if weights[c] > 0 else None
        if features is not None:
            lines[c] = (view, fit_slopes(features, panel.gains[block], panel.weights[block]))
    return lines


def _level_parts(panel: BlendPanel, at: int) -> tuple[dict[str, float], dict[str, float]]:
    """What a level is made of: the means of family, skill and suite, and zero; and the share of each."""
    levels = panel.levels
    family, skill, suite = (float(part[at]) for part in (levels.family, levels.skill, levels.suite))
    shares = {"family": family, "skill": skill, "suite": suite, "zero": max(0.0, 1.0 - family - skill - suite)}
    means = {
        "family": float(panel.sums.without([]).mean[at]),
        "skill": float(levels.skill_mean[at]),
        "suite": float(levels.suite_mean[at]),
        "zero": 0.0,
    }
    if panel.nesting.is_flat:  # a skill is its one family
        del means["skill"], shares["skill"]
    return means, shares
