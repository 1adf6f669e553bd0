"""Thresholds for goals: chosen right, judged honestly, and blind to the outcome they decide."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

import numpy as np
import pytest

from skilldelta.arrays import Floats
from skilldelta.errors import InputError
from skilldelta.evaluation.calibration import Calibration, calibrate
from skilldelta.evaluation.goals import BestValue, Goal, Margin, TokenBudget, UseRate
from skilldelta.evaluation.scored_policies import scores_without_folds
from skilldelta.evaluation.sweeps import ThresholdSweep, threshold_sweep
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.predictor import Settings, predict_each
from skilldelta.probability import held_out_folds
from skilldelta.support import Support

GOALS: list[Goal] = [UseRate(0.5), TokenBudget(1200), Margin(0.01), BestValue(), BestValue(1e-4)]


def scored(support: Support) -> Floats:
    return predict_each(support, "family", settings=Settings(k=12)).gains


def nested(support: Support, goal: Goal, *, resamples: int = 0) -> Calibration:
    return calibrate(
        scored(support),
        support,
        goal,
        rng=np.random.default_rng(1),
        training_scores=scores_without_folds(scored, support),
        resamples=resamples,
    )


def four_tasks(**columns: object) -> Support:
    """Scores .1 to .4 below: the two highest help, the lowest harms."""
    return Support.from_arrays(
        task_ids=["a", "b", "c", "d"],
        families=["f"] * 4,
        vectors=[[1, 0]] * 4,
        y0=[1, 0, 0, 0],
        y1=[0, 0, 1, 1],
        tokens0=[100.0] * 4,
        tokens1=[200.0] * 4,
        **columns,  # type: ignore[arg-type]
    )


SCORES = np.array([0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize(
    ("goal", "use_rate"),
    [
        (UseRate(0.75), 0.75),
        (UseRate(0.3), 0.25),
        (TokenBudget(150), 0.5),
        (TokenBudget(130), 0.25),
        (Margin(0.0), 0.25),  # always-on has .5; off on a already has as much, so d alone suffices
        (BestValue(), 0.5),
        (BestValue(0.02), 0.0),  # a hundred tokens cost two successes
    ],
)
def test_the_deployed_threshold_serves_the_goal_on_all_tasks(goal: Goal, use_rate: float) -> None:
    found = calibrate(SCORES, four_tasks(), goal, rng=np.random.default_rng(0), resamples=0)
    assert found.hindsight.use_rate == use_rate
    assert (found.threshold < SCORES).mean() == use_rate
    assert (found.always_on, found.always_off) == (0.5, 0.25)


def test_the_held_out_value_is_that_of_the_held_out_actions(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=200, families=4).support
    held = nested(support, BestValue(1e-5)).held_out
    chosen = np.where(held.actions, support.y1, support.y0)
    tokens = np.where(held.actions, support.tokens1, support.tokens0)
    assert held.success == pytest.approx(chosen.mean())
    assert held.tokens == pytest.approx(tokens.mean())
    assert held.value == pytest.approx(chosen.mean() - 1e-5 * tokens.mean())
    assert held.success_vs_always_on == pytest.approx(chosen.mean() - support.y1.mean())
    assert held.use_rate == held.actions.mean()
    assert (held.actions == (scored(support) > held.thresholds)).all()
    assert len({*held.thresholds.tolist()}) <= 5


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: type(goal).__name__)
def test_flipping_a_targets_outcome_never_moves_its_own_threshold_or_action(
    goal: Goal, rng: np.random.Generator
) -> None:
    support = simulate_panel(rng, tasks=60, families=3).support
    before = nested(support, goal).held_out
    moved = False
    for row in range(0, 60, 6):
        y0, y1 = support.y0.copy(), support.y1.copy()
        y0[row], y1[row] = (0.0, 1.0) if support.gains[row] < 0 else (1.0, 0.0)
        after = nested(support.with_outcomes(y0, y1), goal).held_out
        assert after.thresholds[row] == before.thresholds[row]
        assert after.actions[row] == before.actions[row]
        moved |= not np.array_equal(after.thresholds, before.thresholds)
    assert moved or isinstance(goal, UseRate)


def test_every_task_has_one_fold_whatever_else_is_in_the_panel() -> None:
    ids = np.array([f"t{i}" for i in range(50)])
    folds = held_out_folds(ids)
    assert (held_out_folds(ids[::-1]) == folds[::-1]).all()
    assert (np.bincount(folds, minlength=5) > 0).all()


def test_in_a_panel_of_noise_hindsight_promises_more_than_is_held_out(rng: np.random.Generator) -> None:
    promised, held, always_off = [], [], []
    for _ in range(12):
        support = simulate_panel(rng, tasks=60, families=3, kind="no_effect").support
        found = nested(support, BestValue())
        promised.append(found.hindsight.success)
        held.append(found.held_out.success)
        always_off.append(found.always_off)
    assert np.mean(promised) > np.mean(held) + 0.02
    assert np.mean(held) == pytest.approx(np.mean(always_off), abs=0.04)


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: type(goal).__name__)
def test_intervals_hold_their_estimates_and_coverage_is_a_share(goal: Goal, rng: np.random.Generator) -> None:
    held = nested(simulate_panel(rng, tasks=120, families=4).support, goal, resamples=200).held_out
    for name, found in held.intervals.items():
        assert found.low is not None
        assert found.high is not None
        assert found.low <= getattr(held, name) <= found.high
    assert held.coverage is not None
    assert 0 <= held.coverage <= 1
    assert held.met == (held.coverage >= 0.5) or 0.3 < held.coverage < 0.7


def test_a_generous_goal_is_met_on_every_draw(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=60, families=3).support
    assert nested(support, UseRate(1.0), resamples=50).held_out.coverage == 1
    assert nested(support, TokenBudget(1e6), resamples=50).held_out.coverage == 1
    assert nested(support, Margin(1.0), resamples=50).held_out.coverage == 1


def test_wrong_cases_are_listed_by_loss_then_confidence() -> None:
    held = calibrate(SCORES, four_tasks(), UseRate(1.0), rng=np.random.default_rng(0), resamples=0).held_out
    assert [(case.task_id, case.action, case.loss) for case in held.wrong] == [("a", "use", 1.0)]
    skipped = calibrate(SCORES, four_tasks(), UseRate(0.0), rng=np.random.default_rng(0), resamples=0).held_out
    assert [(case.task_id, case.action) for case in skipped.wrong] == [("c", "skip"), ("d", "skip")]
    assert skipped.wrong[0].threshold == 1  # never to use: c, with the lower score, was skipped more confidently


def test_never_to_use_stays_never_for_scores_higher_than_all_seen() -> None:
    found = calibrate(SCORES, four_tasks(), BestValue(0.02), rng=np.random.default_rng(0), resamples=0)
    assert found.threshold == 1
    assert not found.held_out.actions.any()
    low = calibrate(SCORES - 0.5, four_tasks(), UseRate(0.0), rng=np.random.default_rng(0), resamples=0)
    assert low.threshold == 0  # no positive score was seen, so the default already skips all of them


def test_a_budget_that_nothing_keeps_is_refused_for_deployment() -> None:
    with pytest.raises(InputError, match="cheapest policy needs 100 tokens"):
        calibrate(SCORES, four_tasks(), TokenBudget(50), rng=np.random.default_rng(0))


def sweep_by_hand() -> ThresholdSweep:
    """Gains +1, 0, -1, +1 with the skill costing ten more tokens each."""
    support = Support.from_arrays(
        task_ids=["a", "b", "c", "d"],
        vectors=[[1, 0]] * 4,
        y0=[0, 0, 1, 0],
        y1=[1, 0, 0, 1],
        tokens0=[10] * 4,
        tokens1=[20] * 4,
    )
    return threshold_sweep(np.array([0.5, 0.0, -0.5, 0.25]), support)


def test_choices_on_the_curve() -> None:
    sweep = sweep_by_hand()
    assert sweep.success.tolist() == [0.5, 0.75, 0.75, 0.5, 0.25]
    assert sweep.thresholds[UseRate(0.6).choose(sweep)] == 0.0
    assert sweep.thresholds[UseRate(0.0).choose(sweep)] == 0.5
    assert sweep.thresholds[TokenBudget(100).choose(sweep)] == 0.0
    assert sweep.thresholds[TokenBudget(12.5).choose(sweep)] == 0.25
    assert sweep.thresholds[Margin(0.0).choose(sweep)] == 0.25
    assert sweep.thresholds[Margin(0.25).choose(sweep)] == 0.5


def test_choices_that_cannot_be_met_say_why() -> None:
    sweep = sweep_by_hand()
    with pytest.raises(InputError, match="no threshold keeps within 5 tokens per task: the cheapest policy needs 10"):
        TokenBudget(5).choose(sweep)
    one = Support.from_arrays(task_ids=["a"], vectors=[[1, 0]], y0=[0], y1=[1])
    with pytest.raises(InputError, match="no tokens are recorded"):
        TokenBudget(5).choose(threshold_sweep(np.array([0.5]), one))


@pytest.mark.parametrize(
    ("goal", "value", "allowed"),
    [
        *((TokenBudget, value, "a finite number above 0") for value in (nan, inf, 0.0, -5.0)),
        *((kind, value, r"in \[0, 1\]") for kind in (UseRate, Margin) for value in (nan, 2.0, -0.1)),
    ],
)
def test_a_goal_outside_its_range_is_refused(goal: Callable[[float], Goal], value: float, allowed: str) -> None:
    with pytest.raises(InputError, match=f"must .*{allowed}, got {value}"):
        goal(value)


def test_a_price_without_recorded_tokens_is_refused() -> None:
    support = Support.from_arrays(task_ids=["a", "b"], vectors=[[1, 0]] * 2, y0=[0, 0], y1=[1, 0])
    with pytest.raises(InputError, match="no tokens are recorded"):
        calibrate(np.array([0.2, 0.1]), support, BestValue(1e-5), rng=np.random.default_rng(0))
    found = calibrate(np.array([0.2, 0.1]), support, BestValue(), rng=np.random.default_rng(0), resamples=0)
    assert found.held_out.tokens is None
    assert found.held_out.value == found.held_out.success


def test_a_single_task_is_decided_by_the_neutral_threshold() -> None:
    support = Support.from_arrays(task_ids=["a"], vectors=[[1, 0]], y0=[0], y1=[1])
    held = calibrate(np.array([0.2]), support, BestValue(), rng=np.random.default_rng(0), resamples=10).held_out
    assert held.thresholds.tolist() == [0.0]
    assert held.actions.tolist() == [True]


def test_training_scores_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError, match=r"shape \(5, 4\)"):
        calibrate(SCORES, four_tasks(), BestValue(), rng=np.random.default_rng(0), training_scores=np.zeros((2, 4)))
