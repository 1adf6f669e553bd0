"""Rows 15 to 19, 21, 22, 24 and 27: the evaluation protocol on a simulated panel."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.estimators.ridge import LAMBDAS, Ridge, split_groups, task_groups
from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.evaluation.panel_policy import Outcomes, PanelPolicy
from skilldelta.evaluation.resampling.bootstrap import Design, Inventory, resample_policies
from skilldelta.evaluation.resampling.panel_intervals import ResamplingPlan
from skilldelta.evaluation.results import PanelResult
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.records import Agent, Judgement
from skilldelta.support import Support


def judged(task_id: str, skill_id: str, use: bool, tokens: float | None) -> Judgement:
    return Judgement(Agent("m"), "default", task_id, skill_id, "", use, tokens)


@pytest.fixture(scope="module")
def support() -> Support:
    return simulate_panel(np.random.default_rng(3), tasks=240, families=6, dimension=32, r0=3, r1=3).support


@pytest.fixture(scope="module")
def panel(support: Support) -> PanelResult:
    keys = list(zip(support.task_ids.tolist(), support.skills.tolist(), strict=True))
    return evaluate_panel(
        support,
        rng=np.random.default_rng(0),
        resamples=200,
        skill_texts={skill: f"how to {skill}" for _, skill in keys},
        judgements=[judged(task, skill, i % 12 > 0, 150.0) for i, (task, skill) in enumerate(keys)],
    )


def test_row_15_both_outcomes_of_a_target_are_outside_its_support(support: Support, panel: PanelResult) -> None:
    flipped = support.with_outcomes(
        np.where(np.arange(240) == 9, 1 - support.y0, support.y0), np.where(np.arange(240) == 9, 0.0, support.y1)
    )
    after = evaluate_panel(flipped, policies=["paper"], rng=np.random.default_rng(0), resamples=0)
    before, now = panel.policies["paper"].scores, after.policies["paper"].scores
    assert before is not None
    assert now is not None
    assert before[9] == now[9]
    assert (before != now).any()


def test_row_17_every_policy_of_the_paper_is_there(panel: PanelResult) -> None:
    names = "always_off always_on paper random_matched self_judge relevance with_skill_only tfidf_knn family_mean"
    assert set(names.split()) <= panel.policies.keys()


def test_row_18_savings_are_relative_to_always_on_and_router_calls_are_paid(panel: PanelResult) -> None:
    on, off, judge = (panel.policies[name] for name in ("always_on", "always_off", "self_judge"))
    assert on.token_saving == 0.0
    assert on.tokens is not None
    assert off.tokens is not None
    assert off.token_saving == pytest.approx(1 - off.tokens / on.tokens)
    assert judge.router_tokens == pytest.approx(150.0)
    assert judge.tokens is not None
    assert judge.token_saving == pytest.approx(1 - judge.tokens / on.tokens)


def test_row_19_the_relevance_threshold_is_the_inventory_median(panel: PanelResult) -> None:
    gate = panel.policies["relevance"]
    assert gate.scores is not None
    assert gate.threshold is not None
    assert gate.threshold == np.median(gate.scores)
    assert (gate.actions == (gate.scores > gate.threshold)).all()


def test_row_21_ten_thousand_draws_for_ranking_and_value_and_five_for_advantage() -> None:
    plan = ResamplingPlan.of(10_000, np.random.default_rng(0))
    assert (plan.resamples, plan.half) == (10_000, 5_000)


def test_row_21_the_matching_rate_is_taken_anew_in_every_draw(support: Support, rng: np.random.Generator) -> None:
    policy = PanelPolicy("p", support.gains > 0.3, np.arange(240))
    outcomes = Outcomes.of(support, policy.rows)
    design = Design.tasks(outcomes.task_ids, Inventory.of([support]))
    found = resample_policies([policy], outcomes, design, draws=100, rng=rng)["p"]
    assert found["use_rate"].std() > 0
    on = support.gains.mean()
    fixed_rate = found["success_gain"] - policy.actions.mean() * on
    assert not np.allclose(found["advantage_vs_random"], fixed_rate)


def test_row_21_every_design_leaves_its_intervals(panel: PanelResult) -> None:
    found = panel.policies["paper"].conditional_intervals
    for metric in ("auroc", "success_gain", "advantage_vs_random", "advantage_vs_random_by_family", "within_group"):
        assert metric in found
    assert "balanced_accuracy_vs_self_judge" in found
    assert "success_vs_always_on" in panel.policies["dual_ridge"].intervals


def test_row_22_the_parts_add_up(panel: PanelResult) -> None:
    for policy in panel.policies.values():
        assert policy.within_group + policy.between_group == pytest.approx(policy.advantage_vs_random, abs=1e-12)


def test_row_24_ridge_is_tested_on_groups_it_never_saw_and_single_is_dual_without_a_cost(
    support: Support, panel: PanelResult
) -> None:
    split = split_groups(task_groups(support), 0.2, 0.2, seed=0)
    for name in ("ridge", "dual_ridge"):
        assert panel.policies[name].rows.tolist() == split.test.tolist()
    assert LAMBDAS[0] == 0.0
    assert Ridge().fit(support).policy.cost_weight == 0.0
    assert Ridge(dual=True).fit(support).policy.token_change <= Ridge().fit(support).policy.token_change + 1e-12


def test_row_27_help_harm_and_ties_add_up_to_the_pairs(panel: PanelResult) -> None:
    assert sum(c.help + c.harm + c.tie for c in panel.counts) == panel.pairs == 240
    assert panel.structure.groups == 6
