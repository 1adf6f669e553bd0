"""The terms of the bound on weights that a reader can check by hand."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.bounds import (
    balancing_k,
    check_delta,
    effective_support,
    error_bound,
    evidence,
    hoeffding,
    independent_noise,
    knn_rate,
    noise,
    radius,
)
from skilldelta.errors import InputError


def ones(n: int, value: int = 1) -> np.ndarray:
    return np.full(n, value)


def test_the_radius_is_the_weighted_mean_distance() -> None:
    assert radius(np.array([0.75, 0.25]), np.array([0.8, 0.4])) == pytest.approx(0.75 * 0.2 + 0.25 * 0.6)


def test_effective_support_counts_equal_weights_and_discounts_unequal_ones() -> None:
    assert effective_support(np.full(4, 0.25)) == 4
    assert effective_support(np.array([1.0, 0.0, 0.0])) == 1
    assert effective_support(np.array([0.5, 0.3, 0.2])) == pytest.approx(1 / 0.38)
    assert effective_support(np.empty(0)) == 0


def test_noise_is_the_papers_at_equal_repetitions() -> None:
    weights = np.array([0.5, 0.3, 0.2])
    for r in (1, 2, 3, 7):
        assert noise(weights, ones(3, r), ones(3, r)) == pytest.approx(0.38 / r)
        assert noise(weights, ones(3, r), ones(3, r)) == pytest.approx(1 / (r * effective_support(weights)))
        assert independent_noise(weights, ones(3, r), ones(3, r)) == pytest.approx(0.38 / (2 * r))


def test_noise_at_unequal_repetitions_lies_between_the_two_equal_ones() -> None:
    weights = np.array([1.0])
    mixed = noise(weights, ones(1, 1), ones(1, 4))
    # One pair of range 1 + 1/4, three single runs of range 1/4: (1.5625 + 3/16) / 4.
    assert mixed == pytest.approx(0.4375)
    assert noise(weights, ones(1, 4), ones(1, 4)) < mixed < noise(weights, ones(1, 1), ones(1, 1))
    assert noise(weights, ones(1, 4), ones(1, 1)) == mixed
    assert independent_noise(weights, ones(1, 1), ones(1, 4)) == pytest.approx((1 + 0.25) / 4)


def test_uniform_weights_have_the_least_noise() -> None:
    uneven = np.array([0.4, 0.3, 0.2, 0.1])
    assert noise(np.full(4, 0.25), ones(4), ones(4)) < noise(uneven, ones(4), ones(4))


def test_the_bound_adds_coverage_residual_and_noise() -> None:
    total = error_bound(radius=0.2, noise=1 / 6, delta=0.05, smoothness=2.0, residual=0.1)
    assert total == pytest.approx(0.4 + 0.1 + hoeffding(1 / 6, 0.05))
    assert error_bound(radius=0.2, noise=0.0) == 0.0


def test_evidence_collects_the_three_terms() -> None:
    found = evidence(np.array([0.5, 0.5]), np.array([1.0, 0.0]), ones(2, 2), ones(2, 2))
    assert (found.radius, found.effective, found.noise) == (0.5, 2.0, 0.25)


def test_the_rate_is_coverage_plus_residual_plus_noise() -> None:
    rate = knn_rate(1000, 10, 2, dimension=2, mass=0.5, smoothness=3.0, residual=0.1, delta=0.05)
    assert rate == pytest.approx(3 * (20 / 500) ** 0.5 + 0.1 + hoeffding(1 / 20, 0.05))


def test_the_rate_refuses_a_neighborhood_that_the_support_cannot_fill() -> None:
    with pytest.raises(InputError, match=r"needs 2k <= c n, got k=6, c=0\.5, n=10"):
        knn_rate(10, 6, 1, dimension=2, mass=0.5, smoothness=1.0)


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, 2.0, float("nan")])
def test_a_failure_probability_outside_zero_and_one_is_refused(delta: float) -> None:
    with pytest.raises(InputError, match="delta must lie between 0 and 1"):
        check_delta(delta)


@pytest.mark.parametrize("dimension", [1, 2, 5])
def test_the_balancing_k_minimises_the_rate(dimension: int) -> None:
    space = {"dimension": dimension, "mass": 0.8, "smoothness": 2.0}
    best = balancing_k(100_000, 3, **space)
    assert 2 < best < 0.4 * 100_000

    def rate(k: float) -> float:
        return knn_rate(100_000, k, 3, **space)  # type: ignore[arg-type]

    assert rate(best) < min(rate(best * 1.01), rate(best / 1.01), rate(best * 3), rate(best / 3))
