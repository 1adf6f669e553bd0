"""Weights of components: non-negative, near the default when little is known, zero when nothing is there."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.estimators.blend.weights import Weights, learn_weights


def learn(x: np.ndarray, residuals: np.ndarray, groups: int = 1, default: float = 0.0) -> Weights:
    blocks = np.array_split(np.arange(len(x)), groups)
    return learn_weights(
        x,
        residuals,
        np.ones(len(x)),
        blocks=blocks,
        keep=np.ones(len(x), bool),
        default=np.full(x.shape[1], default),
    )


def test_a_component_that_tells_the_residual_gets_its_weight(rng: np.random.Generator) -> None:
    x = 0.3 * rng.normal(size=(5000, 3))
    found = learn(x, 0.7 * x[:, 1] + 0.5 * rng.normal(size=5000))
    assert found.belief > 0.99
    assert found.suite[1] == pytest.approx(0.7, abs=0.1)
    assert found.suite[[0, 2]].max() < 0.1


def test_weights_are_never_negative_and_never_sum_to_more_than_one(rng: np.random.Generator) -> None:
    x = 0.3 * rng.normal(size=(2000, 4))
    against = learn(x, -x[:, 0] + 0.1 * rng.normal(size=2000))
    assert (against.groups >= 0).all()
    double = learn(x, 2 * x[:, 0] + 2 * x[:, 1] + 0.1 * rng.normal(size=2000), groups=4)
    assert double.groups.sum(axis=1) == pytest.approx(np.ones(4))


def test_useless_components_of_a_large_panel_are_left_out_entirely(rng: np.random.Generator) -> None:
    x = 0.3 * rng.normal(size=(6000, 5))
    found = learn(x, 0.6 * rng.normal(size=6000), groups=20, default=0.5)
    assert found.belief < 0.05
    assert (found.groups == 0).all(axis=1).mean() > 0.9


def test_a_family_that_speaks_clearly_keeps_its_own_weights(rng: np.random.Generator) -> None:
    x = 0.3 * rng.normal(size=(6000, 2))
    residuals = 0.5 * rng.normal(size=6000)
    residuals[:300] += 2 * x[:300, 0]
    found = learn(x, residuals, groups=20)
    assert found.groups[0, 0] > 0.5
    assert found.spread[0] > 10 * np.median(found.spread)


def test_without_rows_weights_are_the_default_times_the_prior_belief() -> None:
    found = learn(np.zeros((0, 2)), np.zeros(0), default=0.4)
    assert found.belief == pytest.approx(0.5 / 1.5)
    assert found.suite == pytest.approx(np.full(2, found.belief * 0.4))
    assert found.groups == pytest.approx(np.tile(found.suite, (len(found.groups), 1)))


def test_departures_of_a_family_with_few_rows_count_as_those_of_a_large_one(rng: np.random.Generator) -> None:
    x = 0.3 * rng.normal(size=(405, 1))
    found = learn_weights(
        x,
        0.8 * x[:, 0],
        np.ones(405),
        blocks=[np.arange(400), np.arange(400, 405)],
        keep=np.ones(405, bool),
        default=np.array([0.8]),
    )
    large, small = found.groups[:, 0]
    assert large == pytest.approx(0.8, abs=0.05)
    assert small == pytest.approx(large, abs=0.1)


def test_rows_that_are_held_out_have_no_say(rng: np.random.Generator) -> None:
    x, residuals = rng.normal(size=(200, 3)), rng.normal(size=200)
    keep = rng.random(200) < 0.8

    def learned() -> Weights:
        return learn_weights(
            x, residuals, np.ones(200), blocks=[np.arange(100), np.arange(100, 200)], keep=keep, default=np.zeros(3)
        )

    before = learned()
    x[~keep], residuals[~keep] = 1e3, -1e3
    after = learned()
    assert (before.groups == after.groups).all()
    assert (before.spread == after.spread).all()
