"""The controls that average rows of the paper's scope."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.estimators.base import NotApplicableError, Target
from skilldelta.estimators.paper_rule import FamilyMean, SelfJudge, WithSkillOnly
from skilldelta.predictor import Settings, predict_each
from skilldelta.records import Agent, Judgement

from .panels import panel, random_panel


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


def test_it_averages_success_with_the_skill_over_exactly_the_papers_neighbors_and_weights(
    rng: np.random.Generator,
) -> None:
    support = random_panel(rng)
    paper = predict_each(support, "family")
    expected = [
        sum(weight * support.y1[row] for row, weight in zip(rows, weights, strict=True) if row >= 0)
        for rows, weights in zip(paper.rows, paper.weights, strict=True)
    ]
    scores = WithSkillOnly().leave_one_out(support)
    assert scores.values == pytest.approx(expected, abs=1e-12)
    assert not scores.is_gain


def test_it_never_averages_signs_even_when_the_paper_rule_does(rng: np.random.Generator) -> None:
    support = random_panel(rng)
    signs = WithSkillOnly(Settings(label="positive")).leave_one_out(support).values
    assert signs == pytest.approx(WithSkillOnly().leave_one_out(support).values)


def judged(task_id: str, skill_id: str, use: bool, tokens: float | None = None) -> Judgement:
    return Judgement(Agent("m"), "default", task_id, skill_id, "", use, tokens)


def test_answers_are_ones_and_zeros_with_the_routers_tokens() -> None:
    scores = SelfJudge([judged("t0", "s", True, 40.0), judged("t1", "s", False, 30.0)]).leave_one_out(panel([1, 0]))
    assert scores.values.tolist() == [1.0, 0.0]
    assert scores.router_tokens is not None
    assert scores.router_tokens.tolist() == [40.0, 30.0]


def test_a_task_never_asked_has_no_score_and_is_counted() -> None:
    scores = SelfJudge([judged("t0", "s", True)]).leave_one_out(panel([1, 0, 0]))
    assert np.isnan(scores.values[1:]).all()
    assert scores.notes == ("2 of 3 tasks were never asked",)


def test_an_answer_about_another_skill_does_not_count() -> None:
    with pytest.raises(NotApplicableError, match="no self-judgement"):
        SelfJudge([judged("t0", "other", True)]).leave_one_out(panel([1]))


def test_the_last_recorded_answer_counts() -> None:
    judge = SelfJudge([judged("t0", "s", True), judged("t0", "s", False)])
    support = panel([1])
    assert judge.score(Target(support.vectors[0], task_id="t0", skill="s")).gain == 0.0
    with pytest.raises(NotApplicableError, match="'t9'"):
        judge.score(Target(support.vectors[0], task_id="t9", skill="s"))
