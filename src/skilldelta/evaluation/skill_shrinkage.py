"""The gains of many skills judged together: what each shows, pulled towards what skills of this bank show.

A skill with five tasks says little by itself, and the best of 87 such skills looks better than it is. The model here is the
usual one for many effects at once: a skill either does nothing (a spike at zero) or has a gain from a normal distribution,
and how many do nothing, and how far the others lie apart, is averaged over a grid of possibilities weighted by how well each
explains all skills together. The interval that comes out is already corrected for having looked at many skills.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from skilldelta.arrays import Floats, Ints
from skilldelta.support import Support

# Gains within this many success points of zero count as no effect of a skill: 0.05 is 5 points.
NO_EFFECT = 0.05

# Share of skills without effect (and how likely each share is beforehand: people write skills that do something), mean and
# standard deviation of the others: the grid that is averaged over. The smallest standard deviation keeps a few tasks from being pulled to a common mean as if skills could not differ.
_SHARES = {0.02: 0.35, 0.1: 0.3, 0.3: 0.2, 0.6: 0.1, 0.9: 0.05}
_MEANS = tuple(np.linspace(-0.2, 0.4, 13).tolist())
_DEVIATIONS = (0.1, 0.15, 0.2, 0.3, 0.45)
# "Nothing" is not exactly nothing.
_SPIKE = 0.02
# Before anything is seen: means of effective skills are near zero, and standard deviations above this are unlikely.
_MEAN_SPREAD, _USUAL_DEVIATION = 0.15, 0.2
# A skill's own variance between tasks counts against the typical one as if that had been seen on this many tasks.
_PRIOR_TASKS, _TYPICAL_VARIANCE = 3.0, 0.4
# The variance of a gain from one run of each arm, and the part of it that no repetition removes.
_BETWEEN_TASKS, _WITHIN_ARM = 0.1, 0.2


@dataclass(frozen=True, slots=True)
class SkillEffect:
    """A skill's mean gain after the others had their say."""

    gain: float
    low: float
    """95%."""
    high: float
    helps: float
    """Probability of a gain above zero."""
    nothing: float
    """Probability of a gain within 5 points of zero."""


def skill_effects(support: Support) -> dict[str, SkillEffect]:
    """The effect of every skill of a panel, in order of first appearance.

    >>> tasks = [f"t{i}" for i in range(24)]
    >>> panel = dict(task_ids=tasks, families=["f"] * 24, skills=["a", "b"] * 12, vectors=np.eye(24))
    >>> helps = Support.from_arrays(**panel, y0=[0, 1] * 12, y1=[1, 1] * 12)
    >>> {name: round(effect.helps, 2) for name, effect in skill_effects(helps).items()}
    {'a': 1.0, 'b': 0.52}
    """
    names = list(dict.fromkeys(support.skills.tolist()))
    if not names:
        return {}
    place = {name: i for i, name in enumerate(names)}
    codes = np.array([place[name] for name in support.skills.tolist()], np.int64)
    mean, variance = _means(support, codes, len(names))
    posterior = _Posterior.of(mean, variance)
    ends = [posterior.quantile(level) for level in (0.025, 0.975)]
    columns = (
        posterior.mean,
        *ends,
        1 - posterior.below(0.0),
        posterior.below(NO_EFFECT) - posterior.below(-NO_EFFECT),
    )
    return {name: SkillEffect(*(float(column[i]) for column in columns)) for i, name in enumerate(names)}


def _means(support: Support, codes: Ints, size: int) -> tuple[Floats, Floats]:
    """(skills,) the weighted mean gain of each skill and its variance; repeated runs make a task weigh more."""
    unit = _BETWEEN_TASKS + 2 * _WITHIN_ARM
    weights = unit / (_BETWEEN_TASKS + _WITHIN_ARM * (1.0 / support.r0 + 1.0 / support.r1))
    total = np.bincount(codes, weights, size)
    mean = np.bincount(codes, weights * support.gains, size) / total
    squares = np.bincount(codes, weights * (support.gains - mean[codes]) ** 2, size)
    freedom = _PRIOR_TASKS + np.bincount(codes, minlength=size) - 1
    # A variance learned from few tasks is itself uncertain: the variance of Student's distribution allows for that.
    return mean, (_PRIOR_TASKS * _TYPICAL_VARIANCE + squares) / np.maximum(freedom - 2, 1.0) / total


@dataclass(frozen=True, slots=True, eq=False)
class _Posterior:
    """A mixture of normals per skill: weights, centers and deviations, all (parts, skills)."""

    weights: Floats
    centers: Floats
    deviations: Floats

    @classmethod
    def of(cls, mean: Floats, variance: Floats) -> _Posterior:
        grid = np.array([(s, m, d) for s in _SHARES for m in _MEANS for d in _DEVIATIONS])
        share, center, deviation = (column[:, None] for column in grid.T)
        nothing = share * _density(mean, 0.0, variance + _SPIKE**2)
        something = (1 - share) * _density(mean, center, variance + deviation**2)
        log_prior = -(center[:, 0] ** 2) / (2 * _MEAN_SPREAD**2) - np.log1p((deviation[:, 0] / _USUAL_DEVIATION) ** 2)
        log_prior += np.log([_SHARES[value] for value in share[:, 0].tolist()])
        fit = np.log(nothing + something).sum(axis=1) + log_prior
        world = np.exp(fit - fit.max())
        world /= world.sum()
        is_nothing = nothing / (nothing + something)
        weights, centers, deviations = [], [], []
        for part, where, spread in ((is_nothing, 0.0, _SPIKE), (1 - is_nothing, center, deviation)):
            pull = spread**2 / (spread**2 + variance)
            weights.append(world[:, None] * part)
            centers.append(np.broadcast_to(where + pull * (mean - where), part.shape))
            deviations.append(np.broadcast_to(np.sqrt(pull * variance), part.shape))
        return cls(*(np.concatenate(parts) for parts in (weights, centers, deviations)))

    @property
    def mean(self) -> Floats:
        """(skills,)"""
        expected: Floats = (self.weights * self.centers).sum(axis=0)
        return expected

    def below(self, value: float | Floats) -> Floats:
        """(skills,) the probability of a gain below a value."""
        chance: Floats = (self.weights * ndtr((value - self.centers) / self.deviations)).sum(axis=0)
        return chance

    def quantile(self, level: float) -> Floats:
        """(skills,) by bisection between -1 and 1."""
        low, high = np.full(self.weights.shape[1], -1.0), np.ones(self.weights.shape[1])
        for _ in range(30):
            middle = (low + high) / 2
            is_below = self.below(middle) < level
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return (low + high) / 2


def _density(value: Floats, center: float | Floats, variance: Floats) -> Floats:
    """Up to a constant, and never quite zero, so that no possibility has no logarithm."""
    density: Floats = np.exp(-((value - center) ** 2) / (2 * variance)) / np.sqrt(variance) + 1e-300
    return density
