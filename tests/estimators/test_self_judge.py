from __future__ import annotations

import numpy as np
import pytest

from skilldelta.estimators.base import NotApplicableError, Target
from skilldelta.estimators.self_judge import SelfJudge
from skilldelta.records import Agent, Judgement

from .panels import panel


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
