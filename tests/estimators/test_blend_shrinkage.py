"""Levels of families: exact sums, the pull towards skill, suite and zero, and a task's own absence."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.estimators.blend.shrinkage import Nesting, Sums, family_levels, leave_task_out_levels, precisions


def sums_of(*groups: list[float]) -> Sums:
    codes = np.concatenate([np.full(len(group), i) for i, group in enumerate(groups)]).astype(np.int64)
    gains = np.concatenate([np.asarray(group, float) for group in groups])
    return Sums.by(codes, len(groups), gains, np.ones(len(gains)))


def flat(groups: int) -> Nesting:
    return Nesting(np.arange(groups), groups)


def test_taking_a_row_out_of_a_sum_leaves_no_trace() -> None:
    rng = np.random.default_rng(0)
    gains, weights = rng.integers(-3, 4, 500) / 3, precisions(rng.integers(1, 6, 500), rng.integers(1, 6, 500))
    codes = np.zeros(500, np.int64)
    whole, first = Sums.by(codes, 1, gains, weights), Sums.by(codes[:1], 1, gains[:1], weights[:1])
    rest = Sums.by(codes[1:], 1, gains[1:], weights[1:])
    left = whole - first
    assert (left.gain, left.weight, left.square, left.rows) == (rest.gain, rest.weight, rest.square, rest.rows)


def test_sums_without_a_fold_are_those_of_the_other_rows() -> None:
    gains, folds = np.array([1.0, -1.0, 0.5, 0.25]), np.array([0, 1, 2, 2])
    sums = Sums.by_fold(np.zeros(4, np.int64), 1, folds, 3, gains, np.ones(4))
    assert sums.without([2]).mean[0] == 0
    assert sums.without([0, 1]).mean[0] == pytest.approx(0.375)
    assert sums.without([0, 1, 2]).mean[0] == 0


def test_more_repetitions_weigh_more_and_never_without_bound() -> None:
    once, thrice, unequal, many = precisions(np.array([1, 3, 1, 10**6]), np.array([1, 3, 3, 10**6]))
    assert once == 1
    assert once < unequal < thrice < many <= 5


def test_a_large_family_keeps_its_own_mean() -> None:
    level = family_levels(sums_of([1.0, 0.0] * 500, [0.0] * 1000), flat(2)).level
    assert level[0] == pytest.approx(0.5, abs=0.01)
    assert level[1] == pytest.approx(0.0, abs=0.01)


def test_a_tiny_bank_stays_near_zero() -> None:
    assert 0 < family_levels(sums_of([1.0]), flat(1)).level[0] < 0.3


def test_a_family_without_rows_gets_the_level_of_its_skill_and_else_of_the_suite() -> None:
    helped, harmed = [[1.0, 1.0, 0.0] * 20] * 4, [[-1.0, -1.0, 0.0] * 20] * 4
    nesting = Nesting(np.array([0, 0, 0, 0, 1, 1, 1, 1, 0, 2]), 3)
    level = family_levels(sums_of(*helped, *harmed, [], []), nesting).level
    assert level[8] > 0.4
    assert abs(level[9]) < 0.2


def test_one_odd_family_is_pulled_towards_the_many_that_agree() -> None:
    agreeing = [[1.0, 0.0, 0.0] * 8] * 12
    odd = family_levels(sums_of(*agreeing, [-1.0, 0.0, 0.0]), flat(13)).level[-1]
    assert odd > -1 / 3
    assert odd > family_levels(sums_of([-1.0, 0.0, 0.0]), flat(1)).level[0]


def test_shares_and_means_make_the_level() -> None:
    groups = sums_of([1.0, 0.0, 0.0], [1.0, 1.0], [0.0, -1.0, 0.0, 0.0], [0.5])
    found = family_levels(groups, Nesting(np.array([0, 0, 1, 1]), 2))
    made = found.family * groups.mean + found.skill * found.skill_mean + found.suite * found.suite_mean
    assert found.level == pytest.approx(made)
    assert (found.family + found.skill + found.suite <= 1).all()
    assert (np.stack([found.family, found.skill, found.suite]) >= 0).all()


def test_leaving_a_task_out_equals_computing_without_it() -> None:
    rng = np.random.default_rng(1)
    groups, tasks = rng.integers(0, 6, 60), rng.integers(0, 25, 60)
    gains, weights = rng.integers(-2, 3, 60) / 2, precisions(rng.integers(1, 4, 60), rng.integers(1, 4, 60))
    nesting = Nesting(np.array([0, 0, 1, 1, 2, 2]), 3)
    distinct, place = np.unique(tasks * 6 + groups, return_inverse=True)
    own = Sums.by(place, len(distinct), gains, weights)
    whole = Sums.by(groups, 6, gains, weights)
    found = leave_task_out_levels(whole, nesting, own, distinct // 6, distinct % 6).level
    for at, (task, group) in enumerate(zip(distinct // 6, distinct % 6, strict=True)):
        kept = tasks != task
        alone = family_levels(Sums.by(groups[kept], 6, gains[kept], weights[kept]), nesting).level[group]
        assert found[at] == pytest.approx(alone, abs=1e-12)
