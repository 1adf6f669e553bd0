from __future__ import annotations

import pytest

from skilldelta.estimators.base import Target
from skilldelta.estimators.family_mean import FamilyMean

from .panels import panel


def test_a_task_gets_the_mean_gain_of_the_other_tasks_of_its_family() -> None:
    support = panel([1, 0, -1, 1], families=["a", "a", "a", "b"])
    assert FamilyMean().leave_one_out(support).values.tolist() == [-0.5, 0.0, 0.5, 0.0]


def test_a_task_is_left_out_under_all_its_skills() -> None:
    support = panel([1, 1, -1], task_ids=["t", "t", "u"], skills=["p", "q", "p"])
    assert FamilyMean().leave_one_out(support).values.tolist() == [-1.0, -1.0, 1.0]


def test_gains_that_cancel_score_exactly_zero() -> None:
    third = 1 / 3
    support = panel([1.0, -third, -third, -third, 0.7])
    assert FamilyMean().leave_one_out(support).values[-1] == 0.0


def test_rows_without_a_family_stand_with_their_skill() -> None:
    support = panel([1, 1, -1, -1], families=[""] * 4, skills=["p", "p", "q", "q"])
    assert FamilyMean().leave_one_out(support).values.tolist() == [1.0, 1.0, -1.0, -1.0]


def test_an_unknown_family_scores_zero() -> None:
    support = panel([1, 1])
    score = FamilyMean().fit(support).score(Target(support.vectors[0], family="unheard of"))
    assert score.gain == pytest.approx(0.0)
