"""A conditional logit with a prior."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.routing.choice_model import Cases, fit_weights, probabilities

FREE = np.array([True, True])


def simulated(weights: list[float], cases: int, *, seed: int = 0) -> Cases:
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(cases, 4, 2))
    chances = probabilities(features, np.array(weights))
    choice = [generator.choice(4, p=row) for row in chances]
    right = np.eye(4, dtype=bool)[choice]
    return Cases(features, np.ones((cases, 4), bool), right, np.ones(cases))


def test_weights_of_a_simulated_truth_are_found() -> None:
    found = fit_weights([simulated([2.0, -1.0], 4_000)], np.zeros(2), np.full(2, 1e-3), free=FREE)
    assert found == pytest.approx([2.0, -1.0], abs=0.15)


def test_without_cases_the_prior_stays() -> None:
    prior = np.array([1.5, 3.0])
    assert fit_weights([simulated([0.0, 0.0], 0)], prior, np.ones(2), free=FREE) == pytest.approx(prior)


def test_a_weight_that_may_not_be_negative_stops_at_zero() -> None:
    found = fit_weights([simulated([2.0, -1.0], 500)], np.ones(2), np.full(2, 1e-3), free=np.array([True, False]))
    assert found[1] == 0.0
    assert found[0] > 1.0


def test_an_alternative_that_is_not_on_offer_has_no_chance() -> None:
    features = np.zeros((1, 3, 2))
    assert probabilities(features, np.ones(2), np.array([[True, False, True]])).tolist() == [[0.5, 0.0, 0.5]]


def test_either_of_two_right_alternatives_will_do() -> None:
    features = np.array([[[1.0], [1.0], [0.0]]])
    right = np.array([[True, True, False]])
    cases = Cases(features, np.ones((1, 3), bool), right, np.full(1, 100.0))
    found = fit_weights([cases], np.zeros(1), np.ones(1), free=np.array([True]))
    assert probabilities(features, found)[0, :2].sum() > 0.95
