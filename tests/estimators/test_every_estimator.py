"""One battery for every estimator: no leak, and the same answer one by one as all at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from skilldelta.estimators.base import Estimator, Target
from skilldelta.estimators.blend import Blend
from skilldelta.estimators.lexical_controls import Relevance, TfidfKnn
from skilldelta.estimators.paper_rule import FamilyMean, PaperRule, SelfJudge, WithSkillOnly
from skilldelta.estimators.ridge import Ridge
from skilldelta.predictor import Settings
from skilldelta.records import Agent, Judgement
from skilldelta.support import Support

from .panels import random_panel, skill_texts


def judged(task_id: str, skill_id: str, use: bool, tokens: float | None) -> Judgement:
    return Judgement(Agent("m"), "default", task_id, skill_id, "", use, tokens)


def _answers(support: Support) -> list[Judgement]:
    keys = zip(support.task_ids.tolist(), support.skills.tolist(), strict=True)
    return [judged(task, skill, len(task) % 2 == 0, 50.0) for task, skill in keys]


MAKERS: dict[str, Callable[[Support], Estimator]] = {
    "paper": lambda _: PaperRule(),
    "paper uniform k=3 by skill": lambda _: PaperRule(Settings(k=3, weighting="uniform"), "skill"),
    "paper global": lambda _: PaperRule(scope="global"),
    "with_skill_only": lambda _: WithSkillOnly(),
    "tfidf_knn": lambda _: TfidfKnn(),
    "tfidf_knn global": lambda _: TfidfKnn(scope="global"),
    "family_mean": lambda _: FamilyMean(),
    "relevance": lambda support: Relevance(skill_texts(support)),
    "ridge": lambda _: Ridge(),
    "dual_ridge": lambda _: Ridge(dual=True),
    "self_judge": lambda support: SelfJudge(_answers(support)),
    "blend": lambda _: Blend(),
}
# A ridge scores its test split only; the blend's weights for a recorded task come from other folds than for a new one.
ONE_BY_ONE = [name for name in MAKERS if "ridge" not in name and name != "blend"]


@pytest.mark.parametrize("name", MAKERS)
def test_a_tasks_own_outcome_never_moves_its_score(name: str, rng: np.random.Generator) -> None:
    support = random_panel(rng)
    before = MAKERS[name](support).leave_one_out(support)
    scored = np.flatnonzero(np.isfinite(before.values))
    for row in rng.permutation(scored)[: 4 if name == "blend" else 12].tolist():
        own = support.task_ids == support.task_ids[row]
        flipped = support.with_outcomes(np.where(own, 1 - support.y0, support.y0), np.where(own, 0.5, support.y1))
        after = MAKERS[name](flipped).leave_one_out(flipped)
        assert after.values[row] == before.values[row]
        if "ridge" in name:  # test rows have no part in the choice of the policy either
            assert after.threshold == before.threshold


@pytest.mark.parametrize("name", ["paper", "with_skill_only", "tfidf_knn", "family_mean", "blend"])
def test_another_tasks_outcome_does_move_scores(name: str, rng: np.random.Generator) -> None:
    support = random_panel(rng)
    before = MAKERS[name](support).leave_one_out(support).values
    y1 = support.y1.copy()
    y1[10] = 1 - y1[10] if y1[10] != 0.5 else 1.0
    after = MAKERS[name](support).leave_one_out(support.with_outcomes(support.y0, y1)).values
    assert (before != after).any()


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_scoring_one_target_agrees_with_leave_one_out(name: str, rng: np.random.Generator) -> None:
    support = random_panel(rng)
    estimator = MAKERS[name](support)
    together = estimator.leave_one_out(support).values
    fitted = estimator.fit(support)
    for row in range(len(support)):
        target = Target(
            support.vectors[row],
            text=support.texts[row],
            family=str(support.families[row]),
            skill=str(support.skills[row]),
            task_id=str(support.task_ids[row]),
        )
        assert fitted.score(target).gain == pytest.approx(together[row], abs=1e-12)


@pytest.mark.parametrize("name", [name for name in MAKERS if name not in ("self_judge",)])
def test_an_estimator_is_known_by_a_policy_name(name: str, rng: np.random.Generator) -> None:
    from skilldelta.estimators.registry import policies

    assert MAKERS[name](random_panel(rng)).name in policies()
    assert MAKERS[name](random_panel(rng)).name == name.split()[0]
