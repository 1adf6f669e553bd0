"""The rates of the theory on simulated panels: promised and kept; and a threshold for each task."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skilldelta.bounds import knn_rate
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.paper.simulation.theory import check_theory, coverage_margin_split, margin_of
from skilldelta.predictor import Settings


def test_the_rate_is_that_of_the_papers_corollary_and_is_kept(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=600, families=2, kind="local_only", r0=3, r1=3, smoothness=0.5)
    check = check_theory(panel, settings=Settings(k=12))
    rate = check.rate
    assert rate is not None
    assert (rate.n, rate.k, rate.dimension) == (299, 12, 1.0)
    assert rate.failure == pytest.approx(0.05 + math.exp(-3))
    assert rate.rate == pytest.approx(knn_rate(299, 12, 3, dimension=1, mass=rate.mass, smoothness=0.5))
    assert rate.kept >= 1 - rate.failure


def test_the_measured_mass_holds_at_every_radius_that_reaches_twice_k(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=120, families=2)
    rate = check_theory(panel, settings=Settings(k=4)).rate
    assert rate is not None
    vectors, families = panel.support.vectors.astype(float), panel.support.families
    for i in range(0, 120, 10):
        others = np.flatnonzero((families == families[i]) & (np.arange(120) != i))
        distances = np.sort(1 - vectors[others] @ vectors[i])
        for u in np.linspace(distances[8], 1, 50):
            assert (distances <= u).mean() >= rate.mass * u - 1e-6


def test_a_panel_too_small_for_the_rate_has_none(rng: np.random.Generator) -> None:
    assert check_theory(simulate_panel(rng, tasks=24, families=3)).rate is None


def test_the_split_is_least_where_it_says_and_bounds_the_disagreement(rng: np.random.Generator) -> None:
    tau, bounds = rng.uniform(-1, 1, 200), rng.uniform(0.05, 0.4, 200)
    found = margin_of(tau, bounds, threshold=0.1, delta=0.05)
    tried = [coverage_margin_split(tau, bounds, threshold=0.1, margin=float(b)) for b in bounds]
    assert found.split == pytest.approx(0.05 + min(tried))
    assert found.split == pytest.approx(0.05 + found.badly_covered + found.hard_to_call)
    assert found.split >= 0.05 + (np.abs(tau - 0.1) <= bounds).mean()


def test_the_margin_consequence_is_delta_plus_c_b_to_the_alpha() -> None:
    tau, bounds = np.array([-0.4, -0.2, 0.1, 0.5]), np.array([0.1, 0.2, 0.2, 0.2])
    found = margin_of(tau, bounds, threshold=0.0, delta=0.05)
    # One of four within 0.1, two within 0.2: C is 2.5, at the first and at the second.
    assert found.constant == pytest.approx(2.5)
    assert found.consequence == pytest.approx(0.05 + 2.5 * 0.2)
    assert margin_of(np.array([0.0, 1.0]), np.ones(2), threshold=0.0, delta=0.05).constant is None


def test_a_threshold_for_each_task_moves_decisions_oracle_and_regret_alike(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=200, families=2, kind="always_helps", effect=0.3, r0=3, r1=3)
    low = check_theory(panel, threshold=np.full(200, -0.2))
    mixed = check_theory(panel, threshold=np.where(np.arange(200) % 2, -0.2, 1.0))
    same = check_theory(panel, threshold=-0.2)
    assert low == same
    assert mixed.disagreement <= low.disagreement
    assert mixed.margin.constant != low.margin.constant
