"""From gain error to decisions, to fresh tasks, to the value of a frozen policy, on simulated truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skilldelta.arrays import ROUNDING, Floats, Ints, exceeds
from skilldelta.bounds import knn_rate
from skilldelta.errors import InputError
from skilldelta.evaluation.metrics import regret
from skilldelta.evaluation.panel_policy import Outcomes, PanelPolicy, Totals
from skilldelta.gate import decide
from skilldelta.intervals import Interval
from skilldelta.paper.simulation.simulated_panel import SimulatedPanel, simulate_panel
from skilldelta.paper.simulation.theory import (
    check_theory,
    coverage_margin_split,
    disagreement_bound,
    local_terms,
    mean_regret,
)
from skilldelta.predictor import Settings, average, predict_each
from skilldelta.resemblance import nearest_to_each

GAIN = st.floats(-1, 1)


# Corollary (threshold decision) and Proposition (routing regret)


@given(GAIN, GAIN, GAIN)
def test_regret_never_exceeds_the_gain_error(predicted: float, tau: float, eta: float) -> None:
    lost = regret(exceeds(np.array([predicted]), eta), np.array([tau]), threshold=eta)[0]
    assert lost <= abs(predicted - tau) + 2 * ROUNDING  # equality is equality up to rounding


def test_regret_is_the_margin_of_a_wrong_action_and_zero_otherwise() -> None:
    """Skipping a skill that lifts 50% to 51% costs less than skipping one that lifts 50% to 70%."""
    tau = np.array([0.01, 0.20, -0.30, 0.10])
    lost = regret(np.array([False, False, True, True]), tau)
    np.testing.assert_allclose(lost, [0.01, 0.20, 0.30, 0.0])


@given(GAIN, GAIN, st.floats(0, 1), GAIN)
def test_a_margin_above_the_error_radius_decides_like_the_oracle(tau: float, eta: float, b: float, u: float) -> None:
    predicted = tau + u * b  # any error within the radius
    if abs(tau - eta) > b + 1e-12:
        assert (predicted > eta) == (tau > eta)


# Three-way gate and conservative rule


@given(GAIN, GAIN, st.floats(0, 1), GAIN)
def test_a_valid_band_makes_every_definite_action_right(tau: float, eta: float, b: float, u: float) -> None:
    predicted = tau + u * b
    band = Interval(predicted - b - 1e-12, predicted + b + 1e-12, 0.95, "true")
    three_way = decide(predicted, threshold=eta, eligible=1, rule="three-way", interval=band).action
    safe = decide(predicted, threshold=eta, eligible=1, rule="conservative", interval=band).action
    if three_way == "use":
        assert tau > eta
    if three_way == "skip":
        assert tau <= eta
    if three_way == "abstain":
        assert abs(tau - eta) <= 2 * b + 1e-9
    if tau <= eta:
        assert safe == "skip"
    lost = regret(np.array([safe == "use"]), np.array([tau]), threshold=eta)[0]
    assert lost <= 2 * b + 1e-9


def informative(rng: np.random.Generator, **changes: object) -> SimulatedPanel:
    """Enough repetitions and neighbors for the bound to certify something."""
    world: dict[str, object] = {"tasks": 600, "families": 4, "kind": "mixed", "smoothness": 0.8, "r0": 12, "r1": 12}
    return simulate_panel(rng, **(world | changes))  # type: ignore[arg-type]


def test_on_simulated_tasks_the_three_way_gate_acts_and_acts_rightly(rng: np.random.Generator) -> None:
    for delta in (0.05, 0.3):
        check = check_theory(informative(rng), settings=Settings(k=40), delta=delta)
        assert check.acted > 0.2
        assert check.acted_wrongly <= delta
        assert check.covered >= 1 - delta


# Fresh tasks: support and targets are drawn apart, targets' outcomes unused


def fresh(
    rng: np.random.Generator, *, tasks: int, settings: Settings, **world: object
) -> tuple[SimulatedPanel, Floats, Ints]:
    """One half of a panel predicts the other: (panel, predicted gains of the targets, rows of the targets)."""
    panel = informative(rng, tasks=tasks, families=1, **world)
    half = tasks // 2
    found = nearest_to_each(panel.support.vectors[:half], panel.support.vectors[half:], settings.k)
    predicted, _ = average(found, panel.support.gains[:half], settings)
    return panel, predicted, np.arange(half, tasks)


@pytest.mark.parametrize("eta", [0.0, 0.15])
@pytest.mark.parametrize("r", [1, 6])
def test_mean_regret_mean_error_and_their_bound_stand_in_order(eta: float, r: int, rng: np.random.Generator) -> None:
    """The second inequality is about the expectation, so it is taken over many executions."""
    panel = informative(rng, tasks=200, r0=r, r1=r, smoothness=2.0, residual=0.1)
    found = predict_each(panel.support, "family")
    terms = local_terms(found, panel.support)
    results = []
    for _ in range(60):
        gains = predict_each(panel.redraw(rng).support, "family").gains
        results.append(mean_regret(gains, panel.tau, terms, threshold=eta, smoothness=2.0, residual=0.1))
    assert all(result.regret <= result.error for result in results)
    assert np.mean([result.error for result in results]) <= results[0].bound


@pytest.mark.parametrize("delta", [0.05, 0.3])
def test_actions_differ_from_the_oracle_no_more_than_promised(delta: float, rng: np.random.Generator) -> None:
    panel = informative(rng)
    found = predict_each(panel.support, "family", settings=Settings(k=40))
    bounds = local_terms(found, panel.support).bounds(delta=delta, smoothness=0.8, residual=0.0)
    differing = ((found.gains > 0) != (panel.tau > 0)).mean()
    promised = disagreement_bound(panel.tau, bounds, delta=delta)
    assert differing <= promised
    for margin in (0.05, 0.2, 0.5, 1.0):
        assert promised - delta <= coverage_margin_split(panel.tau, bounds, margin=margin) + 1e-12


def test_the_bound_fails_no_more_often_than_delta_on_fresh_tasks(rng: np.random.Generator) -> None:
    check = check_theory(informative(rng, tasks=2000), settings=Settings(k=40), delta=0.1)
    assert check.covered >= 0.9
    assert check.mean_bound < 0.6


def test_targets_without_support_are_outside_the_guarantees(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=9, families=8)  # one family of two, seven singletons
    check = check_theory(panel)
    assert check.targets == 2
    terms = local_terms(predict_each(panel.support, "family"), panel.support)
    assert np.isinf(terms.bounds(delta=0.05, smoothness=1.0, residual=0.0)).sum() == 7


def test_a_panel_of_singletons_has_nothing_to_check(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match="no simulated task has another in its family"):
        check_theory(simulate_panel(rng, tasks=5, families=5))


# Corollary (k-neighbor rate). With half the length for the position and no nuisance, 1 - cosine is the mean distance of
# positions over the axes, so that a corner of the cube has source mass at least u^nu: c = 1 up to the grid of levels.


@pytest.mark.parametrize("nu", [1, 2])
@pytest.mark.parametrize("k", [4, 16])
def test_the_k_neighbor_rate_holds_over_support_target_and_executions(
    nu: int, k: int, rng: np.random.Generator
) -> None:
    n, r, delta, draws = 400, 2, 0.2, 10
    uniform = Settings(k=k, weighting="uniform")
    failures, far, targets = 0, 0, 0
    for _ in range(draws):
        world = {"kind": "local_only", "smoothness": 2.0, "axes": nu, "dimension": 128, "nuisance_share": 0.0}
        panel, predicted, rows = fresh(rng, tasks=2 * n, settings=uniform, r0=r, r1=r, **world)
        mass = (panel.settings.levels / (panel.settings.levels + 1)) ** nu
        rate = knn_rate(n, k, r, dimension=nu, mass=mass, smoothness=2.0, delta=delta)
        failures += int((np.abs(predicted - panel.tau[rows]) > rate).sum())
        found = nearest_to_each(panel.support.vectors[:n], panel.support.vectors[n:], k)
        radius = (2 * k / (mass * n)) ** (1 / nu)
        far += int((1 - found.similarities[:, -1] > radius + 1e-6).sum())
        targets += n
    assert failures / targets <= delta + np.exp(-k / 4)
    assert far / targets <= np.exp(-k / 4)


# Proposition (frozen finite-panel value)


def test_the_value_of_a_frozen_policy_is_unbiased_in_success_and_tokens(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=80, families=4, r0=2, r1=1)
    use = rng.random(80) < 0.5
    policy = PanelPolicy("frozen", use, np.arange(80))
    true_success = np.where(use, panel.mu1, panel.mu0).mean()
    true_tokens = np.where(use, panel.mean_tokens1, panel.mean_tokens0).mean()
    values = []
    for _ in range(1500):
        support = panel.redraw(rng).support
        totals = Totals.of(policy, Outcomes.of(support, policy.rows))
        values.append((totals.success[0], totals.mean_tokens[0]))
    mean, error = np.mean(values, axis=0), np.std(values, axis=0) / np.sqrt(len(values))
    assert abs(mean[0] - true_success) < 4 * error[0]
    assert abs(mean[1] - true_tokens) < 4 * error[1]


def test_a_policy_chosen_with_the_panels_own_outcomes_is_not_unbiased(rng: np.random.Generator) -> None:
    """Why targets are left out of their own support: with no effect at all, hindsight appears to gain."""
    panel = simulate_panel(rng, tasks=400, kind="no_effect")
    hindsight = panel.support.gains > 0
    assert panel.support.gains[hindsight].sum() / 400 > 0.15
    left_out = predict_each(panel.support, "family").gains > 0
    advantage = ((left_out - left_out.mean()) * panel.support.gains).mean()
    assert abs(advantage) < 0.1


def test_leave_one_out_value_matches_the_marginal_identity(rng: np.random.Generator) -> None:
    """E[a Y1 + (1-a) Y0] = E[a] mu1 + (1 - E[a]) mu0 for actions fitted on the other tasks."""
    panel = simulate_panel(rng, tasks=40, families=2, kind="mixed")
    draws, use, value = 500, np.zeros(40), np.zeros(40)
    for _ in range(draws):
        support = panel.redraw(rng).support
        actions = predict_each(support, "family").gains > 0
        use += actions / draws
        value += np.where(actions, support.y1, support.y0) / draws
    expected = use * panel.mu1 + (1 - use) * panel.mu0
    assert (np.abs(value - expected) < 4.5 * 0.5 / np.sqrt(draws)).all()


# Proposition (no free lunch)


def test_identical_support_outcomes_are_compatible_with_both_signs(rng: np.random.Generator) -> None:
    """Two worlds that agree on every support execution and differ in the target alone: one prediction, two truths."""
    panel = simulate_panel(rng, tasks=50, families=1)
    target = 7
    helped, harmed = panel.mu1.copy(), panel.mu1.copy()
    helped[target], harmed[target] = 0.75, 0.25
    predictions = []
    for mu1 in (helped, harmed):
        world = np.random.default_rng(5)
        y0 = (world.random(50) < np.full(50, 0.5)).astype(float)
        y1 = (world.random(50) < mu1).astype(float)
        predictions.append(predict_each(panel.support.with_outcomes(y0, y1), "family").gains[target])
    assert predictions[0] == predictions[1]
    assert (helped[target] - 0.5 > 0) != (harmed[target] - 0.5 > 0)


def test_an_observed_sign_is_not_the_sign_of_the_expected_gain(rng: np.random.Generator) -> None:
    """Two fair coins: no gain at all, yet help and harm are each observed a quarter of the time."""
    panel = simulate_panel(rng, tasks=20_000, dimension=8, kind="no_effect", base_rate=0.5, difficulty=0.0)
    assert (panel.support.gains > 0).mean() == pytest.approx(0.25, abs=0.02)
    assert (panel.support.gains < 0).mean() == pytest.approx(0.25, abs=0.02)
