from __future__ import annotations

import numpy as np
import pytest

from skilldelta.estimators.base import NotApplicableError, Target
from skilldelta.estimators.relevance import Relevance

from .panels import panel, random_panel, skill_texts

TEXTS = ["convert a date", "convert a price", "write a poem", "date arithmetic"]


def test_tasks_that_resemble_the_skills_text_score_higher() -> None:
    scores = Relevance({"s": "how to convert a date"}).leave_one_out(panel([0, 0, 0, 0], texts=TEXTS))
    assert scores.values[0] == scores.values.max()
    assert scores.values[2] == 0.0
    assert not scores.is_gain


def test_the_threshold_is_the_median_of_the_scores_and_no_outcome_moves_it(rng: np.random.Generator) -> None:
    support = random_panel(rng)
    scores = Relevance(skill_texts(support)).leave_one_out(support)
    assert scores.threshold == np.median(scores.values)
    others = support.with_outcomes(1 - support.y0, rng.random(len(support)))
    again = Relevance(skill_texts(support)).leave_one_out(others)
    assert again.threshold == scores.threshold
    assert (again.values == scores.values).all()


def test_each_task_is_compared_with_its_own_skill() -> None:
    support = panel([0, 0], texts=["alpha beta", "alpha beta"], skills=["near", "far"])
    scores = Relevance({"near": "alpha beta", "far": "gamma"}).leave_one_out(support).values
    assert scores[0] == pytest.approx(1.0)
    assert scores[1] == 0.0


def test_a_missing_skill_text_is_named() -> None:
    support = panel([0, 0], texts=["alpha", "beta"], skills=["known", "unknown"])
    with pytest.raises(NotApplicableError, match=r"1 of 2 skills is unknown \('unknown'\)"):
        Relevance({"known": "alpha"}).leave_one_out(support)


def test_a_new_target_needs_a_known_skill() -> None:
    support = panel([0, 0], texts=["alpha", "beta"])
    fitted = Relevance({"s": "alpha"}).fit(support)
    with pytest.raises(NotApplicableError, match="'other'"):
        fitted.score(Target(support.vectors[0], "alpha", skill="other"))
