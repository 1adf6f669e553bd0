"""The Ridge controls: their heads, their policy search, their protocol."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.model_selection import GroupKFold

from skilldelta.estimators.base import NotApplicableError, Target
from skilldelta.estimators.ridge import PENALTIES, Ridge, choose_head, choose_policy, split_groups, task_groups
from skilldelta.support import Support

from .panels import random_panel


def _linear_panel(rng: np.random.Generator, n: int = 400) -> Support:
    """The skill helps on one side of the first axis and is wasted on the other; it costs more along the second."""
    vectors = rng.normal(size=(n, 5))
    helps = vectors[:, 0] > 0
    return Support.from_arrays(
        task_ids=[f"t{i}" for i in range(n)],
        vectors=vectors,
        y0=np.zeros(n),
        y1=np.where(helps, 1.0, 0.0),
        tokens0=np.full(n, 500.0),
        tokens1=500.0 + 1000 * (vectors[:, 1] > 0),
    )


def test_the_three_parts_cover_all_rows_and_no_group_lies_in_two(rng: np.random.Generator) -> None:
    groups = np.array([f"g{i}" for i in rng.integers(50, size=200)])
    split = split_groups(groups, 0.2, 0.2, seed=0)
    parts = [split.train, split.validation, split.test]
    assert sorted(np.concatenate(parts).tolist()) == list(range(200))
    names = [set(groups[part].tolist()) for part in parts]
    assert [len(name) for name in names] == [len(set(groups)) - 20, 10, 10]
    assert not names[0] & names[1] | names[0] & names[2] | names[1] & names[2]


def test_the_split_depends_on_the_inventory_and_not_on_its_order(rng: np.random.Generator) -> None:
    groups = np.array([f"g{i}" for i in range(60)])
    order = rng.permutation(60)
    test = set(groups[split_groups(groups, 0.2, 0.2, seed=0).test].tolist())
    assert set(groups[order][split_groups(groups[order], 0.2, 0.2, seed=0).test].tolist()) == test
    assert set(groups[split_groups(groups, 0.2, 0.2, seed=1).test].tolist()) != test


def test_tasks_with_the_same_question_stay_together(rng: np.random.Generator) -> None:
    support = random_panel(rng)
    groups = task_groups(replace(support, texts=("same",) * len(support)))
    assert len(set(groups.tolist())) == 1


@pytest.mark.parametrize("dual", [False, True])
def test_test_rows_alone_are_scored_and_the_policy_learns_a_linear_gain(dual: bool, rng: np.random.Generator) -> None:
    support = _linear_panel(rng)
    scores = Ridge(dual=dual).leave_one_out(support)
    tested = np.isfinite(scores.values)
    assert tested.sum() == 80
    used = scores.values[tested] > scores.threshold
    assert ((support.gains[tested] > 0) == used).mean() > 0.85
    assert scores.notes[0] == "evaluated on its test split of 80 of 400 pairs"


def test_the_token_head_is_in_thousands_and_a_known_task_is_fitted_without_itself(rng: np.random.Generator) -> None:
    support = _linear_panel(rng)
    fitted = Ridge(dual=True).fit(support)
    dear, cheap = (Target(v, task_id="new") for v in np.array([[0, 1, 0, 0, 0], [0, -1, 0, 0, 0]], np.float32))
    difference = fitted.score(dear).components["thousand_tokens"] - fitted.score(cheap).components["thousand_tokens"]
    assert 0.8 < difference < 2.5
    own = Target(support.vectors[7], task_id="t7")
    flipped = support.with_outcomes(
        np.where(support.task_ids == "t7", 1 - support.y0, support.y0),
        np.where(support.task_ids == "t7", 1 - support.y1, support.y1),
    )
    assert Ridge().fit(flipped).score(own).gain == Ridge().fit(support).score(own).gain


def test_without_tokens_there_is_no_least_token_policy(rng: np.random.Generator) -> None:
    support = _linear_panel(rng)
    unpriced = replace(support, tokens1=np.where(np.arange(400) < 3, np.nan, support.tokens1))
    with pytest.raises(NotApplicableError, match="no tokens for 3 of 400 pairs"):
        Ridge().leave_one_out(unpriced)


def test_fewer_tasks_than_folds_are_refused_in_words(rng: np.random.Generator) -> None:
    with pytest.raises(NotApplicableError, match="4 task groups for 5 folds"):
        Ridge().leave_one_out(_linear_panel(rng, n=6))


def _data(rng: np.random.Generator, n: int = 120, dim: int = 9) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = rng.normal(size=(n, dim))
    y = x @ rng.normal(size=dim) * 0.2 + 3.0 + rng.normal(size=n)
    return x, y, np.array([f"g{i // 3}" for i in range(n)])


def test_the_chosen_head_is_scikit_learns_ridge_with_the_penalty_of_least_grouped_error(
    rng: np.random.Generator,
) -> None:
    x, y, groups = _data(rng)
    errors = []
    for penalty in PENALTIES:
        error = 0.0
        for fitted, held_out in GroupKFold(5).split(x, y, groups):
            model = SklearnRidge(alpha=penalty).fit(x[fitted], y[fitted])
            error += float(((model.predict(x[held_out]) - y[held_out]) ** 2).sum())
        errors.append(error)
    head = choose_head(x, y, groups, PENALTIES, folds=5)
    expected = SklearnRidge(alpha=PENALTIES[int(np.argmin(errors))]).fit(x, y)
    assert head.penalty == pytest.approx(PENALTIES[int(np.argmin(errors))])
    assert head.coefficients == pytest.approx(expected.coef_, abs=1e-9)
    assert head.intercept == pytest.approx(float(expected.intercept_), abs=1e-9)


def test_the_intercept_is_not_penalised(rng: np.random.Generator) -> None:
    x, y, groups = _data(rng)
    head = choose_head(x, y + 1000.0, groups, (1e9,), folds=5)
    assert head.predict(x).mean() == pytest.approx(float(y.mean()) + 1000.0)


def test_more_dimensions_than_tasks_are_no_trouble(rng: np.random.Generator) -> None:
    x, y, groups = _data(rng, n=20, dim=60)
    head = choose_head(x, y, groups, PENALTIES, folds=5)
    assert np.isfinite(head.predict(x)).all()


def test_the_least_tokens_at_the_success_of_always_on_win() -> None:
    # Task 2 gains nothing from the skill and costs 3: the policy leaves it out.
    policy = choose_policy(
        np.array([0.9, 0.5, 0.1]),
        np.zeros(3),
        gains=np.array([1.0, 1.0, 0.0]),
        tokens=np.array([1.0, 1.0, 3.0]),
        cost_weights=(0.0,),
    )
    assert policy.threshold == pytest.approx(0.3)
    assert policy.token_change == pytest.approx(2 / 3)


def test_it_falls_back_to_always_on_where_nothing_cheaper_keeps_up() -> None:
    policy = choose_policy(
        np.array([0.9, 0.1]),
        np.zeros(2),
        gains=np.array([0.0, 1.0]),
        tokens=np.array([1.0, 1.0]),
        cost_weights=(0.0, 1.0),
    )
    assert policy.threshold == -math.inf
    assert "always-on" in policy.in_words()


def test_a_skill_that_only_harms_is_never_used() -> None:
    policy = choose_policy(
        np.array([0.9, 0.1]), np.zeros(2), gains=np.array([-1.0, 0.0]), tokens=np.array([5.0, 5.0]), cost_weights=(0.0,)
    )
    assert policy.threshold == math.inf


def test_the_cost_head_separates_equal_gains() -> None:
    policy = choose_policy(
        np.array([0.5, 0.5]),
        np.array([0.1, 4.0]),
        gains=np.array([1.0, 0.0]),
        tokens=np.array([0.1, 4.0]),
        cost_weights=(0.0, 0.1),
    )
    assert policy.cost_weight == 0.1
    assert policy.token_change == pytest.approx(0.05)


def test_it_agrees_with_trying_every_subset_that_a_threshold_can_make(rng: np.random.Generator) -> None:
    weights = (0.0, 0.05, 0.3)
    for _ in range(25):
        gain, cost = np.round(rng.normal(size=7), 1), rng.normal(size=7)
        gains, tokens = rng.choice([-1.0, 0.0, 1.0], 7), rng.normal(0.3, 1, 7)
        tried = []
        for weight, cut in itertools.product(weights, range(8)):
            values = gain - weight * cost
            edges = [math.inf, *sorted(values, reverse=True)]
            use = values >= edges[cut]
            tried.append((float((use * tokens).mean()), float((use * gains).mean())))
        feasible = [spent for spent, success in tried if success >= gains.mean() - 1e-12]
        found = choose_policy(gain, cost, gains=gains, tokens=tokens, cost_weights=weights)
        assert found.token_change == pytest.approx(min(feasible))
        assert found.success_change >= gains.mean() - 1e-12
