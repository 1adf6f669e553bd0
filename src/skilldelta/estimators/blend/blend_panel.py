"""A support as the blend sees it: groups, folds, weights and views of every row, and how groups nest in skills.

A group is a family under one skill. Rows without a family are grouped by their skill.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skilldelta.arrays import Floats, Ints, Strings
from skilldelta.estimators.blend.shrinkage import (
    Levels,
    Nesting,
    Sums,
    family_levels,
    leave_task_out_levels,
    precisions,
)
from skilldelta.estimators.blend.views import Views, hash_order
from skilldelta.support import Support

# Family and skill.
Key = tuple[str, str]

# Parts of a panel that are held out in turn while weights are learned.
FOLDS = 10


def fold_of(task_id: str) -> int:
    """The fold of one task, a hash of its id: every row of a task falls into it, and a new task moves no other task."""
    return zlib.crc32(task_id.encode("utf-8", "surrogatepass")) % FOLDS


def folds_of(task_ids: Strings) -> Ints:
    """(n,) the fold of every row."""
    return np.fromiter((fold_of(str(task_id)) for task_id in task_ids), np.int64, len(task_ids))


@dataclass(frozen=True, slots=True, eq=False)
class WithoutTask:
    """For each row its group without any row of its task."""

    level: Floats  # (n,)
    mean: Floats  # (n,)
    rows: Ints  # (n,)


@dataclass(frozen=True, eq=False)
class BlendPanel:
    """Everything that components are computed from."""

    gains: Floats  # (n,)
    weights: Floats  # (n,) more repetitions, more weight
    tasks: Ints  # (n,) one code per task
    folds: Ints  # (n,)
    groups: Ints  # (n,)
    keys: tuple[Key, ...]  # (groups,)
    nesting: Nesting
    order: Ints  # (n,) rows in hash order
    views: Views

    @classmethod
    def of(cls, support: Support, views: Views, *, by_skill: bool = False) -> BlendPanel:
        """Group by family and skill, or by skill alone."""
        families = np.zeros(len(support), "<U1") if by_skill else support.families
        keys, groups = _groups(families, support.skills)
        skills, skill_of = np.unique([skill for _, skill in keys], return_inverse=True)
        return cls(
            gains=support.gains,
            weights=precisions(support.r0, support.r1),
            tasks=support.task_codes,
            folds=folds_of(support.task_ids),
            groups=groups,
            keys=keys,
            nesting=Nesting(skill_of.astype(np.int64), len(skills)),
            order=hash_order(support.task_ids),
            views=views,
        )

    def __len__(self) -> int:
        return len(self.gains)

    @cached_property
    def blocks(self) -> list[Ints]:
        """The rows of each group in record order."""
        order = np.argsort(self.groups, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.groups, minlength=len(self.keys)))[:-1])

    @cached_property
    def group_of(self) -> Mapping[Key, int]:
        """The group of a family and skill."""
        return {key: i for i, key in enumerate(self.keys)}

    @cached_property
    def sums(self) -> Sums:
        """(groups, folds) sums of gains."""
        return Sums.by_fold(self.groups, len(self.keys), self.folds, FOLDS, self.gains, self.weights)

    @cached_property
    def levels(self) -> Levels:
        """(groups,) levels from all rows."""
        return self.levels_without([])

    def levels_without(self, folds: list[int]) -> Levels:
        """(groups,) levels from the rows of the other folds."""
        return family_levels(self.sums.without(folds), self.nesting)

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """Distinct (task, group) pairs as one code, and for each row which pair it belongs to."""
        distinct, place = np.unique(self.tasks * len(self.keys) + self.groups, return_inverse=True)
        return distinct, place.astype(np.int64)

    @cached_property
    def own(self) -> Sums:
        """Sums over the rows of each (task, group) pair."""
        distinct, place = self.pairs
        return Sums.by(place, len(distinct), self.gains, self.weights)

    @cached_property
    def without_task(self) -> WithoutTask:
        """What a row's group is without the row's task."""
        distinct, place = self.pairs
        size = len(self.keys)
        whole = self.sums.without([])
        left = whole[distinct % size] - self.own
        levels = leave_task_out_levels(whole, self.nesting, self.own, distinct // size, distinct % size)
        return WithoutTask(levels.level[place], left.mean[place], left.rows[place])


def _groups(families: Strings, skills: Strings) -> tuple[tuple[Key, ...], Ints]:
    family_names, family = np.unique(families, return_inverse=True)
    skill_names, skill = np.unique(skills, return_inverse=True)
    codes, groups = np.unique(family * max(len(skill_names), 1) + skill, return_inverse=True)
    keys = tuple((str(family_names[c // len(skill_names)]), str(skill_names[c % len(skill_names)])) for c in codes)
    return keys, groups.astype(np.int64)
