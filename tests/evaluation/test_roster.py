"""Leave one family out: no outcome of a task's family reaches its score."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.errors import InputError
from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.gate import Gate
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.support import Scope, Support

SCORED = ("paper", "with_skill_only", "tfidf_knn", "blend")


def _support(rng: np.random.Generator) -> Support:
    return simulate_panel(rng, tasks=90, families=6, skills=2, dimension=16).support


@pytest.mark.parametrize("scope", ["skill", "global"])
def test_a_familys_outcomes_never_move_its_own_scores(rng: np.random.Generator, scope: Scope) -> None:
    support = _support(rng)
    own = support.families == support.families[0]
    flipped = support.with_outcomes(np.where(own, 0.0, support.y0), np.where(own, 1.0, support.y1))
    before, after = (
        evaluate_panel(one, policies=SCORED, rng=rng, resamples=0, holdout="family", gate=Gate(scope=scope))
        for one in (support, flipped)
    )
    for name in SCORED:
        old, new = before.policies[name].scores, after.policies[name].scores
        assert old is not None
        assert new is not None
        assert new[own] == pytest.approx(old[own], abs=1e-12), name
        assert (new[~own] != old[~own]).any(), name  # other families may learn from it


def test_policies_without_meaning_there_are_left_out_with_the_reason(rng: np.random.Generator) -> None:
    panel = evaluate_panel(_support(rng), rng=rng, resamples=20, holdout="family", gate=Gate(scope="global"))
    assert not {"family_mean", "ridge", "dual_ridge"} & panel.policies.keys()
    assert "Family mean: left out, no other task of a family is left when the family is held out" in panel.notes
    assert "success_vs_always_on" in panel.policies["paper"].intervals


def test_a_skill_of_one_family_has_no_support_and_says_so(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=40, families=4, dimension=16).support
    panel = evaluate_panel(
        support, policies=["paper"], rng=rng, resamples=0, holdout="family", gate=Gate(scope="skill")
    )
    assert panel.policies["paper"].use_rate == 0
    assert any("40 of 40 pairs have no support" in note and "global" in note for note in panel.notes)


def test_the_scope_family_and_a_single_family_are_refused(rng: np.random.Generator) -> None:
    support = _support(rng)
    with pytest.raises(InputError, match="leaves nothing in the scope family"):
        evaluate_panel(support, rng=rng, resamples=0, holdout="family", gate=Gate(scope="family"))
    alone = support.rows(support.families == support.families[0])
    with pytest.raises(InputError, match="has one family"):
        evaluate_panel(alone, rng=rng, resamples=0, holdout="family", gate=Gate(scope="skill"))
