"""The interval of a mean over tasks and the exact tests agree with SciPy's, and promises hold where tasks are few."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from scipy import stats

from skilldelta.arrays import Floats
from skilldelta.evaluation.paired_comparison import vote
from skilldelta.evaluation.task_mean import (
    adjusted_for_false_discoveries,
    expanded_level,
    percentile_draws,
    sign_test,
    task_mean,
)

Truth = Callable[[np.random.Generator, int], tuple[Floats, Floats]]


def _even(rng: np.random.Generator, tasks: int) -> tuple[Floats, Floats]:
    return np.full(tasks, 0.5), np.full(tasks, 0.6)


def _varied(rng: np.random.Generator, tasks: int) -> tuple[Floats, Floats]:
    return rng.beta(1, 1, tasks), rng.beta(2, 1, tasks)


def _rare_harm(rng: np.random.Generator, tasks: int) -> tuple[Floats, Floats]:
    return np.ones(tasks), (rng.random(tasks) >= 0.05).astype(float)


def _same_easy_or_hard(rng: np.random.Generator, tasks: int) -> tuple[Floats, Floats]:
    rates = np.where(rng.random(tasks) < 0.5, 0.05, 0.95)
    return rates, rates


def _some_help(rng: np.random.Generator, tasks: int) -> tuple[Floats, Floats]:
    return np.zeros(tasks), (rng.random(tasks) < 0.2).astype(float)


TRUTHS: Mapping[str, tuple[Truth, float]] = {
    "even": (_even, 0.1),
    "varied": (_varied, 2 / 3 - 1 / 2),
    "rare harm": (_rare_harm, -0.05),
    "same, easy or hard": (_same_easy_or_hard, 0.0),
    "some help": (_some_help, 0.2),
}


def coverage(name: str, *, tasks: int, runs: int, studies: int, rng: np.random.Generator) -> float:
    truth, expected = TRUTHS[name]
    held = 0
    for _ in range(studies):
        off, on = truth(rng, tasks)
        differences = (rng.binomial(runs, on) - rng.binomial(runs, off)) / runs
        found = task_mean(differences, rng, draws=500).interval
        assert found.low is not None
        assert found.high is not None
        held += found.low - 1e-9 <= expected <= found.high + 1e-9
    return held / studies


@pytest.mark.parametrize("name", list(TRUTHS))
def test_the_interval_holds_the_truth_with_few_tasks_and_repeats(name: str, rng: np.random.Generator) -> None:
    assert coverage(name, tasks=20, runs=3, studies=200, rng=rng) >= 0.91


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [10, 20, 40, 100])
@pytest.mark.parametrize("runs", [1, 3, 5])
@pytest.mark.parametrize("name", list(TRUTHS))
def test_the_interval_holds_the_truth_in_many_studies(name: str, runs: int, tasks: int) -> None:
    rng = np.random.default_rng([tasks, runs, len(name)])
    assert coverage(name, tasks=tasks, runs=runs, studies=2000, rng=rng) >= 0.93


def test_the_interval_is_scipys_bootstrap_at_the_expanded_level(rng: np.random.Generator) -> None:
    for differences in (rng.choice([-1.0, 0.0, 1.0], 60, p=[0.2, 0.5, 0.3]), rng.normal(0.05, 0.2, 90)):
        found = task_mean(differences, rng).interval
        theirs = stats.bootstrap(
            (differences,),
            np.mean,
            confidence_level=expanded_level(len(differences), 0.95),
            method="percentile",
            n_resamples=20_000,
            random_state=rng,
        ).confidence_interval
        assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_p_is_scipys_t_test(rng: np.random.Generator) -> None:
    differences = rng.normal(0.05, 0.2, 40)
    assert task_mean(differences, rng, draws=0).p == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)


def test_many_distinct_values_are_drawn_like_few(rng: np.random.Generator) -> None:
    coarse = rng.choice([-1.0, 0.0, 1.0], 400)
    fine = coarse + rng.normal(0, 1e-7, 400)
    one, other = task_mean(coarse, rng).interval, task_mean(fine, rng).interval
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=0.01)


def test_many_tasks_of_many_values_are_drawn_in_parts_with_the_same_spread(rng: np.random.Generator) -> None:
    differences = np.clip(rng.standard_t(3, 4_000) / 8, -1, 1)
    drawn = percentile_draws(differences, rng, draws=4_000)
    assert drawn.mean() == pytest.approx(differences.mean(), abs=0.001)
    assert drawn.std() == pytest.approx(differences.std() / np.sqrt(4_000), rel=0.06)


def test_tasks_that_never_differ_leave_room_for_rare_differences(rng: np.random.Generator) -> None:
    found = task_mean(np.zeros(30), rng)
    assert found.interval.low == pytest.approx(-0.1, abs=0.001)
    assert found.interval.high == pytest.approx(0.1, abs=0.001)
    assert found.p == 1.0
    assert found.detectable is not None
    assert 0.05 < found.detectable < 0.4


def test_one_task_has_no_interval(rng: np.random.Generator) -> None:
    assert task_mean(np.ones(1), rng).interval.low is None
    assert task_mean(np.empty(0), rng).tasks == 0


def test_the_detectable_difference_is_found_in_80_of_100_studies(rng: np.random.Generator) -> None:
    tasks, sd = 50, 0.4
    detectable = task_mean(rng.normal(0, sd, 20_000)[:tasks] * 1.0, rng, draws=0).detectable
    assert detectable is not None
    found = [task_mean(rng.normal(detectable, sd, tasks), rng, draws=0).p or 0.0 for _ in range(600)]
    assert 0.7 < np.mean(np.array(found) < 0.05) < 0.9


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (4, 0), (0, 4), (7, 3), (5, 5), (120, 160), (4000, 3800)])
def test_the_sign_test_is_scipys_binomial_test(wins: int, losses: int) -> None:
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert sign_test(wins, losses) == pytest.approx(expected, rel=1e-9)


def test_four_tasks_of_three_runs_are_four_votes() -> None:
    wins = sum(vote([0, 0, 0], [1, 1, 1]) > 0 for _ in range(4))
    assert sign_test(wins, 0) == pytest.approx(1 / 8)  # and not the 2 / 4096 of twelve runs


def test_the_correction_is_scipys(rng: np.random.Generator) -> None:
    p = rng.random(40) ** 2
    assert adjusted_for_false_discoveries(p.tolist()) == pytest.approx(stats.false_discovery_control(p))
    assert adjusted_for_false_discoveries([]).tolist() == []


def test_a_vote_takes_as_many_runs_of_both_arms() -> None:
    assert vote([0, 1, 1], [0]) == 0
    assert vote([1], [0, 1, 1]) == -1


def test_votes_on_unequal_runs_do_not_lean(rng: np.random.Generator) -> None:
    """Means would: one run of a task solved in 9 of 10 beats the mean of three more often than it loses to it."""
    a, b = (rng.random((4000, runs)) < 0.9 for runs in (3, 1))
    votes = np.array([vote(one.tolist(), other.tolist()) for one, other in zip(a, b, strict=True)])
    means = np.sign(b.mean(axis=1) - a.mean(axis=1))
    assert sign_test(int((means > 0).sum()), int((means < 0).sum())) < 1e-9
    assert sign_test(int((votes > 0).sum()), int((votes < 0).sum())) > 0.01
