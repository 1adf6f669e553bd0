"""A stack that has seen its support and scores new targets.

gain = level of the family + weights . departures. The level is the family's shrunken mean; each departure says how far
the nearest tasks, or a line through the family, depart from that mean. A target without a known family is compared with
its whole skill; one whose skill is new as well gets the suite's level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skilldelta.estimators.base import Score, Target
from skilldelta.estimators.stack.components import COMPONENTS, NEAREST, SLOPES, View, landmarks_of, slope_features
from skilldelta.estimators.stack.landmarks import Landmarks
from skilldelta.estimators.stack.panel import Key, Panel
from skilldelta.estimators.stack.shrinkage import Nesting, family_levels
from skilldelta.estimators.stack.slopes import Slopes, fit_slopes
from skilldelta.estimators.stack.sums import Sums
from skilldelta.estimators.stack.views import Lens
from skilldelta.estimators.stack.weights import Weights
from skilldelta.support import Floats, Ints, Vectors

LEVEL = "level"
_DECIMALS = 9


@dataclass(frozen=True, eq=False)
class Seen:
    """One target through the lens: its features in every view, None where the view does not exist."""

    vectors: Floats  # (dim,)
    slopes: Floats
    words: Floats | None
    shape: Floats | None


@dataclass(frozen=True, eq=False)
class Group:
    """The rows of one family under one skill, ready for comparison with a target."""

    gains: Floats  # (m,)
    weights: Floats  # (m,)
    mean: float
    level: float
    shares: Floats  # (c,) weight of each component
    near: Mapping[View, tuple[Vectors, Vectors]]  # features (m, p), half their squared lengths (m,)
    lines: Mapping[View, Slopes]
    landmarks: Landmarks | None

    def departures(self, seen: Seen) -> Floats:
        """(c,) how far each component departs from the mean; 0 where a component has nothing to say."""
        found = np.zeros(len(COMPONENTS))
        nearest = {view: self._nearest_first(view, getattr(seen, view)) for view in self.near}
        for c, (_, view, k) in enumerate(NEAREST):
            if view in nearest and self.shares[c] > 0:
                rows = nearest[view][:k]
                share = self.weights[rows]
                found[c] = share @ self.gains[rows] / share.sum() - self.mean
        for c, (_, view) in enumerate(SLOPES, start=len(NEAREST)):
            if view in self.lines and self.shares[c] > 0:
                found[c] = self.lines[view].departure(self._line_features(view, seen))
        return found

    def _nearest_first(self, view: View, features: Floats) -> Ints:
        """Rows of the group by falling nearness, no more than any component asks for; equals in record order."""
        matrix, offset = self.near[view]
        closeness = matrix @ np.asarray(features, np.float32) - offset
        wanted = max(k for _, other, k in NEAREST if other == view)
        if len(closeness) <= wanted:
            return np.argsort(-closeness, kind="stable")
        cut = np.partition(closeness, len(closeness) - wanted)[len(closeness) - wanted]
        some = np.flatnonzero(closeness >= cut)
        return some[np.argsort(-closeness[some], kind="stable")]

    def _line_features(self, view: View, seen: Seen) -> Floats:
        if view == "shape":
            assert self.landmarks is not None
            assert seen.shape is not None
            curve: Floats = self.landmarks.features(seen.shape[None])[0]
            return curve
        return np.asarray(seen.slopes if view == "vectors" else seen.words, np.float64)


@dataclass(frozen=True, eq=False)
class FittedPanel:
    """A panel with its learned weights; groups are prepared when a target first needs them."""

    panel: Panel
    weights: Mapping[Key, Floats]
    suite_weights: Floats
    prepared: dict[Key, Group]

    @classmethod
    def of(cls, panel: Panel, weights: Weights) -> FittedPanel:
        """Weights by the name of their group, so that they outlive a new numbering."""
        return cls(panel, {key: weights.groups[i] for i, key in enumerate(panel.keys)}, weights.suite, {})

    def with_rows_of(self, panel: Panel) -> FittedPanel:
        """The same weights over a panel that has grown."""
        return FittedPanel(panel, self.weights, self.suite_weights, {})

    def group(self, key: Key) -> Group | None:
        """A group, or None where the panel has no row of it."""
        if key not in self.panel.group_of:
            return None
        if key not in self.prepared:
            self.prepared[key] = self._prepare(key)
        return self.prepared[key]

    def level_of_a_new_group(self, skill: str) -> float:
        """What a family without any row may expect: its skill's level, or the suite's where the skill is new too."""
        nesting, sums = self.panel.nesting, self.panel.sums.without([])
        skills = sorted({name for _, name in self.panel.keys})
        code = skills.index(skill) if skill in skills else nesting.skills
        empty = Sums(
            np.append(sums.weight, 0.0), np.append(sums.gain, 0.0), np.append(sums.square, 0.0), np.append(sums.rows, 0)
        )
        grown = Nesting(np.append(nesting.skill_of, code), max(nesting.skills, code + 1))
        return float(family_levels(empty, grown).level[-1])

    def _prepare(self, key: Key) -> Group:
        at = self.panel.group_of[key]
        block = self.panel.blocks[at]
        gains, weights = self.panel.gains[block], self.panel.weights[block]
        return Group(
            gains=gains,
            weights=weights,
            mean=float(self.panel.sums.without([]).mean[at]),
            level=float(self.panel.levels.level[at]),
            shares=self.weights.get(key, self.suite_weights),
            near=self._near(block),
            lines=self._lines(block, gains, weights),
            landmarks=None if self.panel.views.shape is None else landmarks_of(self.panel, block),
        )

    def _near(self, block: Ints) -> dict[View, tuple[Vectors, Vectors]]:
        found: dict[View, tuple[Vectors, Vectors]] = {}
        for view in dict.fromkeys(view for _, view, _ in NEAREST):
            features = getattr(self.panel.views, view)
            if features is not None:
                matrix: Vectors = np.ascontiguousarray(features[block], np.float32)
                half: Vectors = np.vecdot(matrix, matrix) / np.float32(2)
                found[view] = (matrix, half)
        return found

    def _lines(self, block: Ints, gains: Floats, weights: Floats) -> dict[View, Slopes]:
        found: dict[View, Slopes] = {}
        for _, view in SLOPES:
            features = slope_features(self.panel, view, block)
            if features is not None:
                found[view] = fit_slopes(features, gains, weights)
        return found


@dataclass(frozen=True, eq=False)
class Model:
    """Everything a target is scored with: a lens, the panel by family and, made when it is needed, the panel by skill."""

    lens: Lens
    by_family: FittedPanel
    make_by_skill: Callable[[], FittedPanel]

    @cached_property
    def by_skill(self) -> FittedPanel:
        """Rows grouped by skill alone, for targets whose family is not known."""
        return self.make_by_skill()

    def score(self, target: Target) -> Score:
        """The predicted gain with the part that every component has in it."""
        group = self.by_family.group((target.family, target.skill)) if target.family else None
        group = group or self.by_skill.group(("", target.skill))
        if group is None:
            level = self.by_family.level_of_a_new_group(target.skill)
            return Score(round(level, _DECIMALS) + 0.0, {LEVEL: level}, {LEVEL: 1.0})
        departures = group.departures(self._seen(target))
        gain = float(np.clip(group.level + group.shares @ departures, -1.0, 1.0))
        components = {LEVEL: group.level}
        shares = {LEVEL: max(0.0, float(1 - group.shares.sum()))}
        for c in np.flatnonzero(group.shares > 0):
            components[COMPONENTS[c]] = group.level + float(departures[c])
            shares[COMPONENTS[c]] = float(group.shares[c])
        return Score(round(gain, _DECIMALS) + 0.0, components, shares)

    def _seen(self, target: Target) -> Seen:
        lens = self.lens
        return Seen(
            vectors=np.asarray(target.vector),
            slopes=np.asarray(lens.project(target.vector[None])[0]),
            words=None if lens.words is None else np.asarray(lens.words.row(target.text)),
            shape=None if lens.shape is None else lens.shape.rows([target.text])[0],
        )
