"""Simulated panels keep the promises that the theory tests rest on."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skilldelta.errors import InputError
from skilldelta.paper.simulation.simulated_panel import KINDS, Kind, Simulation, simulate_panel


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("axes", [1, 2])
def test_gains_within_a_family_are_as_smooth_as_promised(kind: str, axes: int, rng: np.random.Generator) -> None:
    for smoothness, residual in [(0.5, 0.0), (2.0, 0.1), (6.0, 0.3)]:
        panel = simulate_panel(
            rng, tasks=240, families=4, kind=kind, axes=axes, smoothness=smoothness, residual=residual
        )
        vectors = panel.support.vectors.astype(np.float64)
        distance = 1 - vectors @ vectors.T
        same = panel.support.families[:, None] == panel.support.families[None, :]
        difference = np.abs(panel.tau[:, None] - panel.tau[None, :])
        rounding = 1e-6 * smoothness  # vectors are float32
        assert (difference <= smoothness * distance + residual + rounding)[same].all()


def test_the_smoothness_is_attained_and_not_merely_bounded(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=300, families=1, kind="local_only", smoothness=2.0, nuisance_share=0.0)
    vectors = panel.support.vectors.astype(np.float64)
    distance = 1 - vectors @ vectors.T
    difference = np.abs(panel.tau[:, None] - panel.tau[None, :])
    apart = distance > 1e-3
    assert (difference[apart] / distance[apart]).max() == pytest.approx(2.0, rel=1e-3)


def test_cosine_distance_is_linear_in_the_latent_position(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=100, families=1, nuisance_share=0.0, local_share=0.5)
    vectors = panel.support.vectors.astype(np.float64)
    latent = np.abs(panel.positions - panel.positions.T)
    np.testing.assert_allclose(1 - vectors @ vectors.T, latent, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_probabilities_and_gains_are_consistent(kind: str, rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=500, kind=kind, smoothness=8.0, base_rate=0.9, residual=0.2)
    assert ((panel.mu0 >= 0) & (panel.mu0 <= 1) & (panel.mu1 >= 0) & (panel.mu1 <= 1)).all()
    np.testing.assert_allclose(panel.mu1 - panel.mu0, panel.tau, atol=1e-12)


def test_each_kind_has_the_structure_of_its_name(rng: np.random.Generator) -> None:
    panels = {kind: simulate_panel(rng, tasks=800, families=8, kind=kind) for kind in KINDS}

    def spread_within(kind: Kind) -> float:
        panel = panels[kind]
        return max(float(np.ptp(panel.tau[panel.support.families == f])) for f in set(panel.support.families))

    def spread_between(kind: Kind) -> float:
        panel = panels[kind]
        return float(np.ptp([panel.tau[panel.support.families == f].mean() for f in set(panel.support.families)]))

    assert (panels["no_effect"].tau == 0).all()
    assert (panels["always_helps"].tau == 0.3).all()
    assert spread_within("family_only") == 0
    assert spread_between("family_only") == pytest.approx(0.6)
    assert spread_within("local_only") > 0.5
    assert spread_between("local_only") < 0.25
    assert spread_within("mixed") > 0.5
    assert spread_between("mixed") > 0.4


def test_the_support_holds_the_means_of_the_single_executions(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=50, r0=2, r1=5)
    assert panel.successes0.shape == (50, 2)
    assert panel.successes1.shape == (50, 5)
    assert set(np.unique(panel.successes1)) == {0.0, 1.0}
    np.testing.assert_array_equal(panel.support.y0, panel.successes0.mean(axis=1))
    np.testing.assert_array_equal(panel.support.y1, panel.successes1.mean(axis=1))
    np.testing.assert_array_equal(panel.support.tokens1, panel.tokens1.mean(axis=1))
    assert set(panel.support.r0) == {2}
    assert set(panel.support.r1) == {5}


def test_outcomes_and_tokens_are_unbiased_for_their_means(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=8_000, dimension=8, kind="mixed")
    for observed, truth in [
        (panel.support.y0, panel.mu0),
        (panel.support.y1, panel.mu1),
        (panel.support.tokens0, panel.mean_tokens0),
        (panel.support.tokens1, panel.mean_tokens1),
    ]:
        error = observed - truth
        assert abs(error.mean()) < 4 * error.std() / np.sqrt(len(error))


def test_a_redraw_keeps_tasks_and_truth_and_changes_outcomes(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=200)
    again = panel.redraw(rng)
    assert again.tau is panel.tau
    assert again.support.vectors is panel.support.vectors
    assert (again.support.y0 != panel.support.y0).any()


def test_one_seed_gives_one_panel() -> None:
    one = simulate_panel(np.random.default_rng(3), tasks=60)
    two = simulate_panel(np.random.default_rng(3), tasks=60)
    assert one.support.texts == two.support.texts
    np.testing.assert_array_equal(one.support.vectors, two.support.vectors)
    np.testing.assert_array_equal(one.support.gains, two.support.gains)


def test_texts_tell_families_and_places_apart(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=200, families=2)
    words = [set(text.split()) for text in panel.support.texts]
    family = panel.support.families
    far = np.abs(panel.positions[:, 0] - panel.positions[:, 0, None]) > 0.5
    near = np.abs(panel.positions[:, 0] - panel.positions[:, 0, None]) < 0.02
    shared = np.array([[len(a & b) for b in words] for a in words])
    same = (family[:, None] == family[None, :]) & ~np.eye(200, dtype=bool)
    assert shared[same & near].mean() > shared[same & far].mean() + 0.5
    assert shared[same].mean() > shared[family[:, None] != family[None, :]].mean() + 1.5


def test_without_a_token_model_tokens_are_unknown_and_not_zero(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=10, tokens=None)
    assert np.isnan(panel.support.tokens0).all()
    assert np.isnan(panel.support.tokens1).all()


def test_families_can_be_skewed_and_skills_shared(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=300, families=20, skew=1.5, skills=3)
    sizes = np.unique(panel.support.families, return_counts=True)[1]
    assert sizes.max() > 5 * np.median(sizes)
    assert len(set(panel.support.skills)) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "sometimes"}, "kind must be one of"),
        ({"tasks": 0}, "tasks must be at least 1, got 0"),
        ({"dimension": 4}, "dimension must be at least 8"),
        ({"smoothness": -1.0}, "smoothness must not be negative"),
        ({"residual": math.inf}, "residual must not be negative or infinite"),
        ({"base_rate": 1.5}, "base_rate must lie in"),
        ({"local_share": 0.8, "nuisance_share": 0.4}, "sum to at most 1"),
    ],
)
def test_impossible_settings_are_refused_by_name(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Simulation(**change)  # type: ignore[arg-type]
