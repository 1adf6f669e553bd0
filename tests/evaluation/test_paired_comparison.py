"""A comparison by hand, its agreement with SciPy, and its promises on simulated truth with repetitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from skilldelta.arrays import Floats
from skilldelta.evaluation.paired_comparison import PairedComparison, PairedRuns, compare_runs
from skilldelta.report.numbers import outcome_words


def paired(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]], **spent: tuple[Floats, Floats]) -> PairedRuns:
    ids = [f"t{i}" for i in range(len(a))]
    units = {name: pair for name, pair in spent.items() if name in ("tokens", "seconds", "usd")}
    return PairedRuns(
        ids,
        [""] * len(ids),
        a,
        b,
        {name: pair[0] for name, pair in units.items()},  # type: ignore[misc]
        {name: pair[1] for name, pair in units.items()},  # type: ignore[misc]
    )


def compared(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]], **options: float) -> PairedComparison:
    return compare_runs(paired(a, b), np.random.default_rng(0), draws=int(options.pop("draws", 2000)), **options)


def test_repetitions_are_nested_in_tasks() -> None:
    found = compared([[0, 0, 0]] * 4, [[1, 1, 1]] * 4)
    assert (found.better, found.worse, found.same) == (4, 0, 0)
    assert found.sign_test_p == found.solved.p == pytest.approx(2 / 2**4)
    assert found.verdict == "not enough evidence"
    assert found.more_tasks == 6


def test_the_counts_are_those_of_the_tasks() -> None:
    found = compared([[1], [0], [1], [0], [1, 0]], [[1], [0], [0], [1], [1, 1]])
    assert (found.better, found.worse, found.same) == (2, 1, 2)
    assert (found.solved.both, found.solved.only_a, found.solved.only_b, found.solved.neither) == (1, 1, 2, 1)
    assert [one.task_id for one in found.flipped("better")] == ["t3", "t4"]
    assert [one.task_id for one in found.flipped("worse")] == ["t2"]
    assert found.mean.mean == pytest.approx((1 - 1 + 0.5) / 5)


def test_spending_is_of_tasks_that_both_solve() -> None:
    tokens = (np.array([100.0, 100.0, 9.0, np.nan]), np.array([200.0, 400.0, 9.0, 500.0]))
    runs = paired([[1], [1], [0], [1]], [[1], [1], [1], [1]], tokens=tokens)
    (spent,) = compare_runs(runs, np.random.default_rng(0)).spending
    assert (spent.unit, spent.tasks, spent.a, spent.b, spent.ratio) == ("tokens", 2, 100.0, 300.0, 3.0)
    assert spent.ratio_interval.low is not None
    assert spent.ratio_interval.low < 3.0


def test_the_noise_floor_is_of_repetitions() -> None:
    assert compared([[0, 1], [1, 1]], [[1], [1]]).noise.expected_abs_gain == pytest.approx(0.5)
    assert compared([[1]] * 3, [[1]] * 3).noise.expected_abs_gain is None


def test_no_task_that_moves_is_no_difference_once_there_are_many() -> None:
    assert compared([[1]] * 20, [[1]] * 20).verdict == "not enough evidence"
    assert compared([[1]] * 200, [[1]] * 200).verdict == "equivalent"


def test_mcnemar_is_scipys_binomial_test_on_discordant_tasks(rng: np.random.Generator) -> None:
    a, b = (rng.integers(0, 2, (80, 3)).tolist() for _ in range(2))
    found = compared(a, b)
    solved_a, solved_b = (np.array([sum(runs) >= 2 for runs in side]) for side in (a, b))
    only_b, only_a = int((solved_b & ~solved_a).sum()), int((solved_a & ~solved_b).sum())
    assert (found.solved.only_b, found.solved.only_a) == (only_b, only_a)
    assert found.solved.p == pytest.approx(stats.binomtest(only_b, only_b + only_a).pvalue)


def rejections(runs_a: int, runs_b: int, tasks: int, studies: int, rng: np.random.Generator) -> tuple[float, float]:
    """How often the sign test and McNemar reject at 5% where both sides solve every task equally often."""
    sign = mcnemar = 0
    for _ in range(studies):
        rates = rng.beta(0.7, 0.5, (tasks, 1))
        a, b = ((rng.random((tasks, runs)) < rates).astype(float).tolist() for runs in (runs_a, runs_b))
        found = compared(a, b, draws=0)
        sign += found.sign_test_p <= 0.05
        mcnemar += found.solved_alike.p <= 0.05
    return sign / studies, mcnemar / studies


@pytest.mark.parametrize(("runs_a", "runs_b"), [(3, 3), (5, 1)])
def test_the_tests_keep_their_level_with_repeats(runs_a: int, runs_b: int, rng: np.random.Generator) -> None:
    assert max(rejections(runs_a, runs_b, tasks=40, studies=200, rng=rng)) <= 0.075


@pytest.mark.slow
@pytest.mark.parametrize(("runs_a", "runs_b"), [(1, 1), (3, 3), (5, 1), (2, 7)])
@pytest.mark.parametrize("tasks", [12, 40, 120])
def test_the_tests_keep_their_level_in_many_studies(runs_a: int, runs_b: int, tasks: int) -> None:
    rng = np.random.default_rng([runs_a, runs_b, tasks])
    assert max(rejections(runs_a, runs_b, tasks=tasks, studies=3000, rng=rng)) <= 0.055


def test_a_verdict_is_seldom_wrong_where_nothing_differs(rng: np.random.Generator) -> None:
    wrong = 0
    for _ in range(200):
        rates = rng.beta(0.7, 0.5, (30, 1))
        a, b = ((rng.random((30, 3)) < rates).astype(float).tolist() for _ in range(2))
        wrong += compared(a, b, draws=400).verdict in ("better", "worse")
    assert wrong / 200 <= 0.09


def test_a_count_is_given_only_of_runs_that_passed_or_failed() -> None:
    found = compared([[0.75, 0.75, 0.5], [1.0, 0.0, 1.0]], [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]])
    assert [(one.passed_a, one.passed_b) for one in found.differences] == [(None, 3), (2, 0)]
    assert [outcome_words(one.a, one.runs_a, one.passed_a) for one in found.differences] == ["0.67", "2 of 3"]


def test_counts_of_tasks_are_those_of_the_lists_and_only_the_tests_count_equal_runs() -> None:
    # The second task is worse over all runs of A, and level with the first run of each.
    found = compared([[0.0], [0.0, 1.0, 1.0]], [[1.0], [0.0]])
    assert (found.better, found.worse) == (len(found.flipped("better")), len(found.flipped("worse"))) == (1, 1)
    assert found.votes == (1, 0)
    assert found.solved.only_a == 1
    assert found.solved_alike.only_a == 0
