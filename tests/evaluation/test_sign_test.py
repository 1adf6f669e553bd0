"""The exact tests agree with SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from skilldelta.evaluation.paired_runs import vote
from skilldelta.evaluation.sign_test import adjusted_for_false_discoveries, sign_test


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
