from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from skilldelta.estimators.validation_policy import choose_policy


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
    assert policy.is_always_on
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
