"""A check holds its confidence: where the truth is at the bound, it seldom passes or fails."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from skilldelta.errors import InputError
from skilldelta.evaluation.gain_checks import CheckSettings, check_change, check_gain, sign_flip_limits


def settings(**changed: float) -> CheckSettings:
    return CheckSettings(**{"resamples": 400, **changed})  # type: ignore[arg-type]


def test_the_outcomes_by_hand(rng: np.random.Generator) -> None:
    helps, harms, open_ = np.ones(20), -np.ones(20), np.array([1.0, -1.0, 0.0, 0.0] * 5)
    assert check_gain(helps, settings(), rng).outcome == "pass"
    assert check_gain(harms, settings(), rng).outcome == "fail"
    found = check_gain(open_, settings(), rng)
    assert found.outcome == "not enough evidence"
    assert check_gain(helps, settings(min_gain=1.0), rng).outcome == "not enough evidence"


def test_five_tasks_of_one_sign_decide_and_four_never_do(rng: np.random.Generator) -> None:
    gains = np.array([0.2, 0.25, 0.5, 0.1, 1.0])
    assert check_gain(gains, settings(), rng).outcome == "pass"
    assert check_gain(-gains, settings(), rng).outcome == "fail"
    assert check_gain(gains, settings(), rng).mean.interval.low == 0.1
    for few in (gains[:4], gains[:1], np.empty(0)):
        found = check_gain(few, settings(), rng)
        assert found.outcome == "not enough evidence"
        assert found.cannot_decide
        assert found.more_tasks is not None


def test_the_limits_are_those_of_all_sign_flips(rng: np.random.Generator) -> None:
    gains = rng.normal(0.1, 0.3, 9)
    signs = np.array(list(itertools.product([1, -1], repeat=9)))
    low = sign_flip_limits(gains, 0.95, rng).low
    assert low is not None

    def p_above(center: float) -> float:
        flipped = signs @ (gains - center)
        return float((flipped >= (gains - center).sum() - 1e-12).mean())

    assert p_above(low - 1e-9) <= 0.05 < p_above(low + 1e-9)


def test_a_bound_other_than_zero_takes_ten_tasks(rng: np.random.Generator) -> None:
    assert check_gain(np.ones(9), settings(min_gain=0.1), rng).outcome == "not enough evidence"
    assert check_gain(np.ones(20), settings(min_gain=0.1), rng).outcome == "pass"


def test_a_change_passes_within_the_tolerance_and_fails_below_zero(rng: np.random.Generator) -> None:
    assert check_change(np.zeros(80), settings(), rng).outcome == "pass"
    assert check_change(np.zeros(20), settings(), rng).outcome == "not enough evidence"
    assert check_change(np.array([-1.0] * 20 + [0.0] * 40), settings(), rng).outcome == "fail"
    small = np.array([-1.0] * 20 + [0.0] * 980)  # two points worse for sure, and tolerated
    assert check_change(small, settings(), rng).outcome == "pass"
    assert check_change(small, settings(tolerance=0.0), rng).outcome == "fail"


def wrong(tasks: int, runs: int, studies: int, rng: np.random.Generator) -> tuple[float, float]:
    """How often a true gain of 10 points passes a bound of 10 points, and how often it fails it."""
    outcomes = []
    for _ in range(studies):
        off = rng.beta(1, 1, tasks) * 0.9
        gains = (rng.binomial(runs, off + 0.1) - rng.binomial(runs, off)) / runs
        outcomes.append(check_gain(gains, settings(min_gain=0.1), rng).outcome)
    return outcomes.count("pass") / studies, outcomes.count("fail") / studies


def test_a_gain_at_the_bound_seldom_passes_or_fails(rng: np.random.Generator) -> None:
    assert max(wrong(30, 3, 250, rng)) <= 0.09


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [4, 5, 6, 8, 12, 20, 40])
@pytest.mark.parametrize("truth", ["nothing", "helps and harms", "seldom harms"])
def test_a_skill_without_a_gain_on_average_seldom_passes_or_fails(truth: str, tasks: int) -> None:
    """Shares of assertions, as workspaces have them: three runs an arm, no gain on average."""
    rng, outcomes, studies = np.random.default_rng([tasks, len(truth)]), [], 800 if tasks <= 12 else 250
    for _ in range(studies):
        shifts = {
            "nothing": np.zeros(tasks),
            "helps and harms": rng.choice([-0.3, 0.3], tasks),
            "seldom harms": np.where(rng.random(tasks) < 0.8, 0.1, -0.4),
        }[truth]
        off = rng.uniform(0.4, 0.7, tasks)
        gains = (rng.binomial(6, off + shifts) - rng.binomial(6, off)) / 6
        outcomes.append(check_gain(gains, settings(), rng).outcome)
    noise = 3 * np.sqrt(0.05 * 0.95 / studies)
    assert max(outcomes.count("pass"), outcomes.count("fail")) / studies <= 0.05 + noise


@pytest.mark.slow
@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("tasks", [5, 8, 12, 30, 100])
def test_a_gain_at_the_bound_seldom_passes_or_fails_in_many_studies(tasks: int, runs: int) -> None:
    assert max(wrong(tasks, runs, 900, np.random.default_rng([tasks, runs]))) <= 0.075


@pytest.mark.parametrize(
    "value",
    [
        {"min_gain": 2},
        {"confidence": 0.5},
        {"confidence": 1},
        {"tolerance": -1},
        {"resamples": 5},
        {"min_gain": float("nan")},
    ],
)
def test_settings_of_no_meaning_are_refused(value: dict[str, float]) -> None:
    with pytest.raises(InputError, match="got"):
        settings(**value)
