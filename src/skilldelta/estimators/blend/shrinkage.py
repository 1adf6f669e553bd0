"""The level of a family: its mean gain, pulled towards its skill's, the suite's, and zero, as far as the data ask.

Three nested normal levels: a family's level varies around its skill's, a skill's around the suite's, the suite's around
zero. How much each varies is not fixed but averaged over a few possible worlds, weighted by how well they explain the group
means. So a tiny bank stays near zero, a family without tasks gets its skill's or the suite's level, and a large family
keeps its own mean. The level of a task's family is taken without the task, under every skill.

All that a level needs to know about its rows are weighted sums. Their summands are rounded to binary fractions so that
every sum is exact: taking a row out again leaves no trace of it, and a row that arrives later gives the same sum as one
that was there from the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from skilldelta.arrays import ArrayRecord, Floats, Ints

BETWEEN_TASKS = 0.1
# The variance of one execution's success at a success rate of 0.28 or 0.72.
WITHIN_ARM = 0.2

# The variance of a gain from one execution of each arm: a pair of weight 1.
UNIT_VARIANCE = BETWEEN_TASKS + 2 * WITHIN_ARM

_STEP = 2.0**-30

# Standard deviation of families around their skill, of the suite around zero, and how likely that is beforehand.
_WORLDS = (
    # One effect for all families, of some size.
    (0.03, 0.15, 0.35),
    (0.03, 0.4, 0.35),
    # Families that differ around no effect.
    (0.1, 0.01, 0.5),
    (0.2, 0.01, 1.0),
    (0.4, 0.01, 1.5),
    # Both at once.
    (0.1, 0.3, 0.3),
    (0.2, 0.3, 0.3),
    (0.4, 0.3, 0.3),
)

_BETWEEN_SKILLS = (0.0, 0.1, 0.3)
# A group's own variance counts against the typical one as if that had been seen on this many rows.
_PRIOR_ROWS = 4.0


def precisions(r0: Ints, r1: Ints) -> Floats:
    """(n,) the weight of each pair, 1 at one execution of each arm, at most 5 at any number.

    An observed gain varies for two reasons: tasks differ (no number of repetitions helps) and executions are chance
    (their share falls with r0 and r1). The two variances are fixed, typical values, not estimates, so that no outcome can
    reach a weight; only their ratio matters, and it matters little.
    """
    weights: Floats = UNIT_VARIANCE / (BETWEEN_TASKS + WITHIN_ARM * (1.0 / r0 + 1.0 / r1))
    return weights


class _Parts(ArrayRecord):
    """Arrays of the same groups, chosen, added and subtracted together."""

    __slots__ = ()

    def __getitem__(self, index: Ints) -> Self:
        return self.each(lambda part: part[index])

    def __add__(self, other: Self) -> Self:
        return self.each(np.add, other)

    def __sub__(self, other: Self) -> Self:
        return self.each(np.subtract, other)


@dataclass(frozen=True, slots=True, eq=False)
class Sums(_Parts):
    """Sums over the rows of each group; any shape, the same in every field."""

    weight: Floats
    gain: Floats
    square: Floats
    rows: Ints

    @classmethod
    def by(cls, codes: Ints, size: int, gains: Floats, weights: Floats) -> Sums:
        """(size,) sums over the rows of each code."""

        def total(values: Floats) -> Floats:
            return np.asarray(np.bincount(codes, np.rint(values / _STEP) * _STEP, size), np.float64)

        rows = np.bincount(codes, minlength=size).astype(np.int64)
        return cls(total(weights), total(weights * gains), total(weights * gains**2), rows)

    @classmethod
    def by_fold(cls, codes: Ints, size: int, folds: Ints, fold_count: int, gains: Floats, weights: Floats) -> Sums:
        """(size, fold_count) sums over the rows of each code and fold."""
        flat = cls.by(codes * fold_count + folds, size * fold_count, gains, weights)
        return flat.each(lambda part: part.reshape(size, fold_count))

    def without(self, folds: list[int]) -> Sums:
        """Sums (groups, folds) added up over all folds but some."""
        folds_left = [fold for fold in range(self.rows.shape[1]) if fold not in folds]
        return self.each(lambda part: part[:, folds_left].sum(axis=1))

    @property
    def mean(self) -> Floats:
        """The weighted mean of each group, 0 where it is empty."""
        return _ratio(self.gain, self.weight)


def row_variances(sums: Sums) -> Floats:
    """(groups,) the variance of a pair of weight 1 around its group's level: the group's own, pulled to the typical one."""
    within = np.maximum(sums.square - sums.gain * sums.mean, 0.0)
    variance: Floats = (_PRIOR_ROWS * UNIT_VARIANCE + within) / (_PRIOR_ROWS + np.maximum(sums.rows - 1, 0))
    return variance


@dataclass(frozen=True, slots=True, eq=False)
class Levels(_Parts):
    """Levels with what they are made of: level = family * family mean + skill * skill mean + suite * suite mean."""

    level: Floats  # (m,)
    family: Floats  # (m,) share of the family's own mean
    skill: Floats  # (m,) share of its skill's mean
    suite: Floats  # (m,) share of the suite's mean; what is left of 1 is the share of zero
    skill_mean: Floats  # (m,)
    suite_mean: Floats  # (m,)
    variance: Floats  # (m,) how far the level may lie from its family's true one, squared


@dataclass(frozen=True, slots=True, eq=False)
class Nesting:
    """Which skill each group belongs to."""

    skill_of: Ints  # (groups,)
    skills: int

    @property
    def is_flat(self) -> bool:
        """Every skill has one group: skill and group are the same thing."""
        return len(self.skill_of) == self.skills


def family_levels(groups: Sums, nesting: Nesting) -> Levels:
    """(groups,) the level of every group from all its rows."""
    grid = _Grid.of(nesting)
    below = _Terms.of_means(groups, grid.family)
    skill = below.added_by(nesting.skill_of, nesting.skills)
    upper, fit = skill.lifted(grid.skill)
    top = upper.added_by(np.zeros(nesting.skills, np.int64), 1)
    every = np.zeros(len(nesting.skill_of), np.int64)
    total_fit = fit.sum(axis=0, keepdims=True)
    return _levels(groups, below, skill, upper, top, total_fit, grid, nesting.skill_of, every)


def new_families(groups: Sums, nesting: Nesting) -> Levels:
    """(skills + 1,) the level of a family without any task under each skill and, last, under a new skill.

    Where every skill has one family nothing tells the two apart: another family is like another skill.
    """
    skills = nesting.skills
    under = np.array([skills]) if nesting.is_flat else np.arange(skills + 1)
    grown = groups.each(lambda part: np.append(part, np.zeros(len(under), part.dtype)))
    levels = family_levels(grown, Nesting(np.append(nesting.skill_of, under), skills + 1))
    return levels[len(groups.weight) + np.minimum(np.arange(skills + 1), len(under) - 1)]


def leave_task_out_levels(groups: Sums, nesting: Nesting, own: Sums, tasks: Ints, group_of: Ints) -> Levels:
    """(m,) the level of a group for each (task, group) in the panel, without any row of the task.

    `own` are the task's sums in the group, `tasks` and `group_of` say which task (0..) and which group; a task of
    several groups is taken out of all of them.
    """
    grid = _Grid.of(nesting)
    left = groups[group_of] - own
    before = _Terms.of_means(groups, grid.family)
    after = _Terms.of_means(left, grid.family)
    keys = tasks * nesting.skills + nesting.skill_of[group_of]
    distinct, place = np.unique(keys, return_inverse=True)
    skill_of, task_of = distinct % nesting.skills, distinct // nesting.skills
    skill_before = before.added_by(nesting.skill_of, nesting.skills)
    change = (after - before[group_of]).added_by(place, len(distinct))
    skill_after = (skill_before[skill_of] + change).cleared()
    upper_before, fit_before = skill_before.lifted(grid.skill)
    upper_after, fit_after = skill_after.lifted(grid.skill)
    count = int(tasks.max()) + 1 if len(tasks) else 0
    change_above = (upper_after - upper_before[skill_of]).added_by(task_of, count)
    top = upper_before.added_by(np.zeros(nesting.skills, np.int64), 1)
    top_after = (top[np.zeros(count, np.int64)] + change_above).cleared()
    fit = fit_before.sum(axis=0) + _added(fit_after - fit_before[skill_of], task_of, count)
    return _levels(left, after, skill_after, upper_after, top_after, fit, grid, place, tasks)


@dataclass(frozen=True, slots=True, eq=False)
class _Grid:
    """Every combination of standard deviations, flattened to h points."""

    family: Floats  # (h,)
    skill: Floats
    suite: Floats
    log_prior: Floats

    @classmethod
    def of(cls, nesting: Nesting) -> _Grid:
        between_skills = (0.0,) if nesting.is_flat else _BETWEEN_SKILLS
        points = [
            (family, skill, suite, np.log(weight)) for family, suite, weight in _WORLDS for skill in between_skills
        ]
        return cls(*np.array(points).T)


@dataclass(frozen=True, slots=True, eq=False)
class _Terms(_Parts):
    """What members of a level tell their parent: precision, precision-weighted mean and square, log precision."""

    a: Floats  # (m, h)
    b: Floats
    c: Floats
    log: Floats
    rows: Floats  # (m, 1)

    @classmethod
    def of_means(cls, sums: Sums, spread: Floats) -> _Terms:
        variance = row_variances(sums)
        a = sums.weight[:, None] / (spread**2 * sums.weight[:, None] + variance[:, None])
        return cls._with(a, sums.mean[:, None], sums.rows[:, None].astype(np.float64))

    @classmethod
    def _with(cls, a: Floats, mean: Floats, rows: Floats) -> _Terms:
        return cls(a, a * mean, a * mean**2, np.log(np.where(a > 0, a, 1.0)), rows)

    def lifted(self, spread: Floats) -> tuple[_Terms, Floats]:
        """The same members as one observation each of their parent, and how well they agree among themselves."""
        safe = np.where(self.a > 0, self.a, 1.0)
        fit = np.where(self.a > 0, self.log - self.c + self.b**2 / safe - np.log(safe), 0.0) / 2
        return _Terms._with(self.a / (spread**2 * self.a + 1), self.b / safe, self.rows), fit

    def added_by(self, codes: Ints, size: int) -> _Terms:
        return self.each(lambda part: _added(part, codes, size))

    def cleared(self) -> _Terms:
        """Zero where no row is left, in place of the rounding error that subtraction leaves there."""
        return self.each(lambda part: np.where(self.rows > 0, part, 0.0))


def _levels(
    sums: Sums,
    family: _Terms,
    skill: _Terms,
    upper: _Terms,
    top: _Terms,
    fit: Floats,
    grid: _Grid,
    skill_of: Ints,
    suite_of: Ints,
) -> Levels:
    """Posterior means under every grid point, averaged by how well each explains the group means."""
    prior = 1 / grid.suite**2
    evidence = grid.log_prior + fit + (top.log - top.c + top.b**2 / (top.a + prior) - np.log1p(top.a / prior)) / 2
    evidence -= evidence.max(axis=1, keepdims=True)
    weight = np.exp(evidence)
    weight = (weight / weight.sum(axis=1, keepdims=True))[suite_of]
    suite_mean = _ratio(top.b, top.a)[suite_of]
    known_suite = (top.a / (top.a + prior))[suite_of]
    skill_mean = _ratio(skill.b, skill.a)[skill_of]
    own_skill = (grid.skill**2 * upper.a)[skill_of]
    own = grid.family**2 * family.a
    shares = (weight * own, weight * (1 - own) * own_skill, weight * (1 - own) * (1 - own_skill) * known_suite)
    level = own * sums.mean[:, None] + (1 - own) * (own_skill * skill_mean + (1 - own_skill) * known_suite * suite_mean)
    parts = (sums.mean, (shares[1] * skill_mean).sum(axis=1), (shares[2] * suite_mean).sum(axis=1))
    of_family, of_skill, of_suite = (share.sum(axis=1) for share in shares)
    mean = of_family * parts[0] + parts[1] + parts[2]
    above = grid.skill**2 * (1 - own_skill) + (1 - own_skill) ** 2 / (top.a + prior)[suite_of]
    within = grid.family**2 * (1 - own) + (1 - own) ** 2 * above
    return Levels(
        level=mean,
        family=of_family,
        skill=of_skill,
        suite=of_suite,
        skill_mean=_ratio(parts[1], of_skill),
        suite_mean=_ratio(parts[2], of_suite),
        variance=(weight * (within + (level - mean[:, None]) ** 2)).sum(axis=1),
    )


def _added(values: Floats, codes: Ints, size: int) -> Floats:
    """(size, h) sums of rows by code."""
    if size == 1:
        whole: Floats = values.sum(axis=0, keepdims=True)
        return whole
    from scipy.sparse import csr_array  # takes longer to import than a prediction; only learning needs it

    indicator = csr_array((np.ones(len(codes)), codes, np.arange(len(codes) + 1)), shape=(len(codes), size))
    return np.asarray(indicator.T @ values, np.float64)


def _ratio(over: Floats, under: Floats) -> Floats:
    present = under > 0
    ratio: Floats = np.where(present, over / np.where(present, under, 1.0), 0.0)
    return ratio
