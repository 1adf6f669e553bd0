"""A blend that has seen its support and scores new targets, like and unlike the recorded ones.

gain = level of the family + weights . departures. The level is the family's shrunken mean; each departure says how far
the nearest tasks, or a line through the family, depart from that mean. A target without a known family is compared with
its whole skill; one whose skill is new as well gets what the families nearest to it lead to expect. A target that is
unlike the tasks of its family is pulled towards what a new family leads to expect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from skilldelta.arrays import Floats, Ints, Vectors
from skilldelta.estimators.base import Score, Spread, Target
from skilldelta.estimators.blend.blend_panel import BlendPanel, Key
from skilldelta.estimators.blend.components import COMPONENTS
from skilldelta.estimators.blend.group import LEAST_BELIEF, Group, TargetFeatures, prepare
from skilldelta.estimators.blend.shrinkage import Levels, family_levels, new_families
from skilldelta.estimators.blend.slopes import UNSEEN
from skilldelta.estimators.blend.views import FeatureExtractor
from skilldelta.estimators.blend.weights import Trust, Weights

# Variances learned from few rows are themselves uncertain, so that intervals of small banks are longer.
_LEAST_FREEDOM, _ROWS_PER_FREEDOM = 4.0, 16.0


@dataclass(frozen=True, eq=False)
class FittedPanel:
    """A panel with its learned weights; groups are prepared when a target first needs them."""

    panel: BlendPanel
    trust: Mapping[Key, Trust]
    suite_trust: Trust
    prepared: dict[Key, Group] = field(default_factory=dict)

    @classmethod
    def of(cls, panel: BlendPanel, weights: Weights) -> FittedPanel:
        """Weights by the name of their group, so that they outlive a new numbering."""
        return cls(panel, {key: weights.of_group(i) for i, key in enumerate(panel.keys)}, weights.of_suite)

    def group(self, key: Key) -> Group | None:
        """A group, or None where the panel has no row of it."""
        if key not in self.prepared:
            if key not in self.panel.group_of:
                return None
            # A family that came after the weights were learned has the suite's.
            self.prepared[key] = prepare(self.panel, key, self.trust.get(key, self.suite_trust))
        return self.prepared[key]

    @cached_property
    def freedom(self) -> float:
        """How sure variances are that were learned from so many rows."""
        return _LEAST_FREEDOM + len(self.panel) / _ROWS_PER_FREEDOM

    @cached_property
    def transfer(self) -> Transfer:
        """What new skills are judged by."""
        return Transfer.of(self.panel, [])

    def new_family(self, skill: str) -> Expectation:
        """What a family without any task leads to expect, under a skill of the panel or a new one."""
        levels, at = self._new_families, self._skills.get(skill, -1)
        departures = max(self.suite_trust.belief, LEAST_BELIEF) * UNSEEN
        return Expectation(float(levels.level[at]), float(levels.variance[at]) + departures)

    @cached_property
    def _new_families(self) -> Levels:
        return new_families(self.panel.sums.without([]), self.panel.nesting)

    @cached_property
    def _skills(self) -> Mapping[str, int]:
        of_groups = self.panel.nesting.skill_of.tolist()
        return {skill: of_groups[i] for i, (_, skill) in enumerate(self.panel.keys)}


class Groups(Protocol):
    """Where a model finds the group of a target."""

    @property
    def freedom(self) -> float:
        """How sure variances are that were learned from all rows."""

    @property
    def transfer(self) -> Transfer:
        """What new skills are judged by."""

    def group(self, key: Key) -> Group | None:
        """A group, or None where the panel has no row of it."""

    def new_family(self, skill: str) -> Expectation:
        """What a family without any task leads to expect."""


@dataclass(frozen=True, eq=False)
class Model:
    """Everything a target is scored with: an extractor, the panel by family and, made when it is needed, the panel by skill."""

    extractor: FeatureExtractor
    by_family: Groups
    make_by_skill: Callable[[], Groups]

    @cached_property
    def by_skill(self) -> Groups:
        """Rows grouped by skill alone, for targets whose family is not known."""
        return self.make_by_skill()

    def score(self, target: Target) -> Score:
        """The predicted gain with the part that every component has in it."""
        group = self.by_family.group((target.family, target.skill)) if target.family else None
        group = group or self.by_skill.group(("", target.skill))
        if group is None:
            return self._of_a_new_family(target)
        features = TargetFeatures(target, self.extractor)
        departures = group.departures(features)
        departure = sum(group.shares[c] * gain for c, gain in departures.items())
        own = Expectation(group.level + departure, group.variance(features, departure))
        familiarity = group.familiarity_of(features)
        share = 1.0 if familiarity is None else credit(familiarity)
        new = self.by_family.new_family(target.skill)
        gain = blend(own, new, share)
        components, shares = _parts(group, departures)
        return Score(
            reported_gain(gain.gain),
            components | {"new_family": new.gain},
            {name: share * part for name, part in shares.items()} | {"new_family": 1 - share},
            Spread(math.sqrt(gain.variance), self.by_family.freedom),
            familiarity,
            share,
        )

    def _of_a_new_family(self, target: Target) -> Score:
        transfer = self.by_family.transfer
        variance = self.by_family.new_family(target.skill).variance
        return Score(
            reported_gain(transfer.level(target.vector)),
            {"suite": transfer.suite, "nearest_families": transfer.nearby(target.vector)},
            {"suite": 1 - transfer.share, "nearest_families": transfer.share},
            Spread(math.sqrt(variance), self.by_family.freedom),
            credit=0.0,
        )


def _parts(group: Group, departures: Mapping[int, float]) -> tuple[dict[str, float], dict[str, float]]:
    """The components of a gain and their shares, before the target's familiarity has a say."""
    left = max(0.0, 1.0 - sum(group.shares.values()))
    components = dict(group.means)
    shares = {name: left * share for name, share in group.mean_shares.items()}
    for c, departure in departures.items():
        components[COMPONENTS[c]] = group.level + departure
        shares[COMPONENTS[c]] = group.shares[c]
    return components, shares


_NEIGHBORS = 25
_CANDIDATES = 20_000
_QUERIES = 500
# The share of the average before any family is seen, and how far it may be wrong.
_DEFAULT, _SPREAD = 0.3, 0.3

# Typical squared distance of a family's level from what its neighbors say.
_VARIANCE = 0.04


@dataclass(frozen=True, slots=True, eq=False)
class Transfer:
    """What a family without any row may expect: between the suite's level and the levels of the families nearest to it.

    The tasks nearest to the target show which families are like its own; their families' levels are averaged. How much
    that average counts is learned from the families there are, each as if it were new.
    """

    vectors: Vectors  # (m, dim)
    levels: Floats  # (m,)
    rows: Ints  # (m,) of the panel
    suite: float
    share: float

    @classmethod
    def of(cls, panel: BlendPanel, without: list[int]) -> Transfer:
        """From the rows outside some folds."""
        kept = panel.order[~np.isin(panel.folds[panel.order], without)]
        rows = np.sort(kept[:_CANDIDATES])
        sums = panel.sums.without(without)
        levels = family_levels(sums, panel.nesting).level
        vectors = np.ascontiguousarray(panel.views.vectors[rows])
        suite = float(new_families(sums, panel.nesting).level[-1])
        queries = np.sort(kept[:_QUERIES])
        foreign = _foreign_levels(panel, queries, vectors, panel.groups[rows], levels, suite)
        share = _share(foreign - suite, sums.mean[panel.groups[queries]] - suite, panel.groups[queries])
        return cls(vectors, levels[panel.groups[rows]], rows, suite, share)

    def nearby(self, vector: Vectors) -> float:
        """The mean level of the families of the nearest recorded tasks; the suite's level where there is none."""
        if not len(self.levels):
            return self.suite
        return float(self.levels[_nearest(self.vectors @ vector)].mean())

    def level(self, vector: Vectors) -> float:
        """The level of a new family with a task there."""
        return self.suite + self.share * (self.nearby(vector) - self.suite)


def _foreign_levels(
    panel: BlendPanel, queries: Ints, vectors: Vectors, groups: Ints, levels: Floats, suite: float
) -> Floats:
    """(q,) for each query what the tasks of other families say; the suite's level where there is no other."""
    found = np.full(len(queries), suite)
    for i, (row, group) in enumerate(zip(queries, panel.groups[queries], strict=True)):
        others = np.flatnonzero(groups != group)
        if len(others):
            near = others[_nearest(vectors[others] @ panel.views.vectors[row])]
            found[i] = levels[groups[near]].mean()
    return found


def _share(predicted: Floats, observed: Floats, groups: Ints) -> float:
    """The regression of families on what their neighbors say, one vote per family, pulled towards the default."""
    present, place, rows = np.unique(groups, return_inverse=True, return_counts=True)
    x = np.bincount(place, weights=predicted, minlength=len(present)) / rows
    y = np.bincount(place, weights=observed, minlength=len(present)) / rows
    precision = 1 / _SPREAD**2
    slope = (x @ y / _VARIANCE + precision * _DEFAULT) / (x @ x / _VARIANCE + precision)
    return float(np.clip(slope, 0.0, 1.0))


def _nearest(similarity: Floats | Vectors) -> Ints:
    if len(similarity) <= _NEIGHBORS:
        return np.arange(len(similarity))
    return np.argpartition(similarity, len(similarity) - _NEIGHBORS)[-_NEIGHBORS:]


# The familiarity at which both are equally likely: one target in twenty of another family, spread evenly over log
# steps.
_EVEN = 0.001

# From this familiarity on, a target counts fully as one of the family. A credit just below 1 would give rows of equal gain
# slightly different ones, and so an order that means nothing.
_USUAL = 0.05


@dataclass(frozen=True, slots=True)
class Expectation:
    """An expected gain, and how far the truth may lie from it, squared."""

    gain: float
    variance: float


def credit(familiarity: float) -> float:
    """How likely a target of some familiarity is one of the family; NaN, not known, has full credit.

    A target unlike the recorded tasks either is an odd one of the family or belongs to a family that nobody has recorded.
    Tasks of the family have any familiarity equally often; tasks of other families have one near zero (real tasks asked
    under skills of other families lay below 0.01 in 98 of 100 cases where the family is large).
    """
    if not familiarity < _USUAL:
        return 1.0
    return familiarity / (familiarity + _EVEN)


def blend(own: Expectation, new: Expectation, share: float) -> Expectation:
    """One of two expectations, the first with the probability `share`."""
    gain = share * own.gain + (1 - share) * new.gain
    variance = share * own.variance + (1 - share) * new.variance
    return Expectation(gain, variance + share * (1 - share) * (own.gain - new.gain) ** 2)


def credits_of(familiarity: Floats) -> Floats:
    """(n,) the credit of each."""
    return np.array([credit(value) for value in familiarity.tolist()])


NOTHING = 0.005
_DECIMALS = 9


def reported_gains(gains: Floats) -> Floats:
    """(n,) the last step of every score: no gain outside [-1, 1], and a gain that would print as 0.00 is none.

    Less than half a point of success is not worth a skill's tokens, and the last digits of a pull towards the mean must
    not decide a task. Rounding removes the error of sums from which a task was taken out.
    """
    rounded = np.round(np.clip(gains, -1.0, 1.0), _DECIMALS)
    return np.where(np.abs(rounded) < NOTHING, 0.0, rounded)


def reported_gain(gain: float) -> float:
    """One gain as it is reported."""
    rounded = round(min(1.0, max(-1.0, gain)), _DECIMALS)
    return 0.0 if abs(rounded) < NOTHING else rounded


def pulled_to(score: Score, prior_gain: float) -> Score:
    """A score whose share of zero, the level of a skill about which nothing is known, is a share of another gain."""
    share = score.shares.get("zero", 0.0)
    if not prior_gain or not share:
        return score
    return replace(
        score,
        gain=reported_gain(score.gain + share * prior_gain),
        components={**score.components, "zero": prior_gain},
    )
