"""The bound's check values, and the bound on simulated truth (Theorem 1)."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.bounds import balancing_k, effective_support, error_bound, hoeffding, knn_rate, noise
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.paper.simulation.theory import local_terms
from skilldelta.predictor import Settings, predict_each


@pytest.mark.parametrize(("r", "stated"), [(1, 1.109), (3, 0.640)])
def test_minimum_noise_terms_at_six_neighbors_are_the_stated_ones(r: int, stated: float) -> None:
    assert error_bound(radius=0.0, noise=1 / (6 * r), delta=0.05) == pytest.approx(stated, abs=5e-4)


def test_one_repetition_at_six_neighbors_certifies_nothing() -> None:
    """The half-width exceeds 1, the largest possible gain."""
    assert hoeffding(1 / 6, 0.05) > 1


def test_no_weights_on_k_neighbors_beat_uniform_ones(rng: np.random.Generator) -> None:
    """Cauchy-Schwarz: v >= 1/(kr)."""
    r = np.full(6, 3)
    for weights in rng.dirichlet(np.ones(6), size=200):
        assert noise(weights, r, r) >= 1 / 18 - 1e-12
        assert noise(weights, r, r) == pytest.approx(1 / (3 * effective_support(weights)))


@pytest.mark.parametrize("delta", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("kind", ["local_only", "mixed"])
def test_the_bound_holds_for_every_fixed_target(delta: float, kind: str, rng: np.random.Generator) -> None:
    """Tasks, vectors and weights are fixed; probability is over executions alone."""
    draws = 300
    panel = simulate_panel(rng, tasks=60, families=2, kind=kind, smoothness=3.0, residual=0.1, r0=4, r1=4)
    found = predict_each(panel.support, "family")
    bounds = local_terms(found, panel.support).bounds(delta=delta, smoothness=3.0, residual=0.1)
    failures = np.zeros(60)
    for _ in range(draws):
        gains = predict_each(panel.redraw(rng).support, "family").gains
        failures += np.abs(gains - panel.tau) > bounds
    allowance = 4 * np.sqrt(delta * (1 - delta) / draws)
    assert (failures / draws <= delta + allowance).all()


@pytest.mark.parametrize("delta", [0.05, 0.3])
def test_the_noise_term_holds_at_the_largest_variance_there_is(delta: float, rng: np.random.Generator) -> None:
    """Both arms of a pair opposed: D is +1 or -1, each half the time, the worst case of the bound."""
    k, draws = 25, 20_000
    mean = rng.choice([-1.0, 1.0], size=(draws, k)).mean(axis=1)
    failure = (np.abs(mean) > hoeffding(1 / k, delta)).mean()
    assert failure <= delta
    assert (np.abs(mean) > 0.5 * hoeffding(1 / k, delta)).mean() > delta  # half as wide would be false


def test_without_the_coverage_term_the_bound_fails(rng: np.random.Generator) -> None:
    """The test above is not vacuous: with little noise and far neighbors, L rho is what holds the bound."""
    panel = simulate_panel(rng, tasks=200, families=4, kind="local_only", smoothness=4.0, r0=200, r1=200)
    found = predict_each(panel.support, "family", settings=Settings(k=40))
    terms = local_terms(found, panel.support)
    error = np.abs(found.gains - panel.tau)
    assert (error <= terms.bounds(delta=0.05, smoothness=4.0, residual=0.0)).all()
    assert (error <= terms.bounds(delta=0.05, smoothness=0.0, residual=0.0)).mean() < 0.5


def test_more_support_brings_neighbors_nearer_and_repetitions_do_not(rng: np.random.Generator) -> None:
    def terms(tasks: int, r: int) -> tuple[float, float]:
        panel = simulate_panel(rng, tasks=tasks, families=1, r0=r, r1=r, nuisance_share=0.0)
        found = local_terms(predict_each(panel.support, "family"), panel.support)
        return float(found.radius.mean()), float(found.noise.mean())

    few, many, repeated = terms(40, 1), terms(640, 1), terms(40, 4)
    assert many[0] < few[0] / 4
    assert many[1] == pytest.approx(few[1], rel=0.05)
    assert repeated[1] == pytest.approx(few[1] / 4, rel=0.05)
    assert repeated[0] == pytest.approx(few[0], rel=0.5)


@pytest.mark.parametrize("nu", [1, 2, 4])
def test_balancing_gives_the_stated_order(nu: int) -> None:
    """At the balancing k, coverage plus noise shrink like (nr)^(-1/(nu+2))."""

    def best(n: int, r: int) -> float:
        k = balancing_k(n, r, dimension=nu, mass=1.0, smoothness=2.0)
        return knn_rate(n, k, r, dimension=nu, mass=1.0, smoothness=2.0)  # type: ignore[arg-type]

    slope = np.log(best(10**9, 2) / best(10**6, 2)) / np.log(10**3)
    assert slope == pytest.approx(-1 / (nu + 2), abs=1e-6)
    assert best(10**6, 64) / best(10**6, 1) == pytest.approx(64 ** (-1 / (nu + 2)))
