from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from skilldelta.errors import InputError
from skilldelta.evaluation.leave_one_out import evaluate_panel, evaluate_panels
from skilldelta.evaluation.results import PanelResult, panel_to_dict
from skilldelta.gate import Gate
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.records import Agent, Judgement, Pair
from skilldelta.support import Support

from . import plain


def judged(task_id: str, skill_id: str, use: bool, tokens: float | None = 20.0) -> Judgement:
    return Judgement(Agent("m"), "default", task_id, skill_id, "", use, tokens)


FAST = ("always_off", "always_on", "random_matched", "paper", "with_skill_only", "family_mean")


def _simulated(rng: np.random.Generator, **changes: object) -> Support:
    settings: dict[str, object] = {"tasks": 120, "families": 5, "dimension": 16} | changes
    return replace(simulate_panel(rng, None, **settings).support, agent="agent", suite="suite")


def _texts(support: Support) -> dict[str, str]:
    return {skill: f"sheet of {skill}" for skill in set(support.skills.tolist())}


@pytest.mark.parametrize("repetitions", [1, 3])
def test_it_agrees_with_a_plain_implementation(repetitions: int, rng: np.random.Generator) -> None:
    support = _simulated(rng, r0=repetitions, r1=repetitions, skew=1.0)
    result = evaluate_panel(support, policies=FAST, rng=rng, resamples=0)
    rows = plain.rows_of(support)
    expected = {
        "paper": plain.paper_scores(rows),
        "family_mean": plain.family_scores(rows),
        "with_skill_only": plain.with_skill_scores(rows),
    }
    for name, scores in expected.items():
        agrees_with_plain(result, name, rows, scores, threshold=0.5 if name == "with_skill_only" else 0.0)
    assert result.oracle == pytest.approx(sum(max(row.y0, row.y1) for row in rows) / len(rows))


def agrees_with_plain(
    result: PanelResult, name: str, rows: list[plain.Row], scores: list[float], threshold: float = 0.0
) -> None:
    found = result.policies[name]
    actions = plain.decide(scores, threshold)
    assert found.scores is not None
    assert found.scores.tolist() == pytest.approx(scores, abs=1e-9)
    assert found.actions.tolist() == actions
    assert found.success == pytest.approx(plain.success(rows, actions), abs=1e-9)
    assert found.advantage_vs_random == pytest.approx(plain.advantage(rows, actions), abs=1e-9)
    assert found.within_group == pytest.approx(plain.within(rows, actions), abs=1e-9)
    between = plain.advantage(rows, actions) - plain.within(rows, actions)
    assert found.between_group == pytest.approx(between, abs=1e-9)
    assert found.auroc == pytest.approx(plain.auroc(scores, [row.gain > 0 for row in rows]), abs=1e-9)


def test_the_json_form_has_every_documented_key(rng: np.random.Generator) -> None:
    support = _simulated(rng)
    asked = [judged(t, s, i % 3 > 0) for i, (t, s) in enumerate(zip(support.task_ids, support.skills, strict=True))]
    result = evaluate_panel(support, rng=rng, resamples=40, skill_texts=_texts(support), judgements=asked)
    document = json.loads(json.dumps(panel_to_dict(result), allow_nan=False))
    assert {"agent", "suite", "tasks", "families", "off", "on", "oracle", "policies"} <= document.keys()
    names = "always_off always_on random_matched paper with_skill_only relevance tfidf_knn family_mean ridge dual_ridge"
    assert set(names.split()) | {"blend", "self_judge"} <= document["policies"].keys()
    keys = (
        "success use_rate tokens token_saving auroc balanced_accuracy advantage_vs_random within_group between_group "
        "gain_mae intervals"
    )
    for policy in document["policies"].values():
        assert set(keys.split()) <= policy.keys()
        assert {"success", "success_gain", "advantage_vs_random"} <= policy["intervals"].keys()
        assert {"success", "within_group"} <= policy["conditional_intervals"].keys()
        assert all(set(ends) == {"low", "high"} for ends in policy["intervals"].values())
    assert "auroc" in document["policies"]["paper"]["intervals"]
    assert "auroc_by_family" in document["policies"]["paper"]["intervals"]
    assert "balanced_accuracy_vs_self_judge" in document["policies"]["paper"]["conditional_intervals"]
    assert {"counts", "by_family", "structure", "pairs"} <= document.keys()
    null = document["policies"]["paper"]["null"]
    assert null.keys() == {"within", "across"}
    assert null["within"]["auroc"].keys() == {"mean", "low", "high", "p"}
    assert document["policies"]["blend"]["null"] is None


def test_the_same_seed_gives_the_same_intervals(rng: np.random.Generator) -> None:
    support = _simulated(rng)
    first, second, third = (
        evaluate_panel(support, policies=FAST, rng=np.random.default_rng(seed), resamples=60) for seed in (5, 5, 6)
    )
    assert panel_to_dict(first) == panel_to_dict(second)
    assert panel_to_dict(first) != panel_to_dict(third)


def test_no_resamples_mean_no_intervals(rng: np.random.Generator) -> None:
    result = evaluate_panel(_simulated(rng), policies=FAST, rng=rng, resamples=0)
    assert all(policy.intervals == {} for policy in result.policies.values())


def test_intervals_hold_their_estimates(rng: np.random.Generator) -> None:
    result = evaluate_panel(_simulated(rng), rng=rng, resamples=400, policies=FAST)
    for policy in result.policies.values():
        for metric in ("success", "success_gain", "tokens", "token_saving", "use_rate"):
            found = policy.conditional_intervals[metric]
            assert found.low is not None
            assert found.high is not None
            assert found.low - 1e-12 <= getattr(policy, metric) <= found.high + 1e-12


def test_random_activation_matches_the_use_rate_of_skilldelta(rng: np.random.Generator) -> None:
    result = evaluate_panel(_simulated(rng), policies=["random_matched"], rng=rng, resamples=0)
    full = evaluate_panel(result.support, policies=FAST, rng=rng, resamples=0)
    assert result.policies.keys() == {"random_matched"}
    assert full.policies["random_matched"].use_rate == pytest.approx(full.policies["paper"].use_rate)
    gap = full.policies["paper"].success - full.policies["random_matched"].success
    assert gap == pytest.approx(full.policies["paper"].advantage_vs_random, abs=1e-12)


def test_settings_scope_and_threshold_reach_the_papers_rule(rng: np.random.Generator) -> None:
    support = _simulated(rng)
    result = evaluate_panel(
        support, policies=["paper"], rng=rng, resamples=0, gate=Gate(k=3, scope="global", threshold=0.25)
    )
    found = result.policies["paper"]
    assert found.threshold == 0.25
    assert found.scores is not None
    assert ((found.scores > 0.25) == found.actions).all()
    rows = [replace(row, family="") for row in plain.rows_of(support)]
    assert found.scores.tolist() == pytest.approx(plain.paper_scores(rows, k=3), abs=1e-9)


def test_a_panel_with_one_class_only_says_so_and_has_no_auroc(rng: np.random.Generator) -> None:
    support = _simulated(rng)
    flat = support.with_outcomes(support.y0, support.y0)
    result = evaluate_panel(flat, policies=FAST, rng=rng, resamples=20)
    assert result.policies["paper"].auroc is None
    assert result.policies["paper"].balanced_accuracy is None
    assert "auroc" not in result.policies["paper"].intervals
    assert "no task has a positive observed gain: AUROC and balanced accuracy are undefined" in result.notes


def test_a_panel_without_tokens_says_so_and_leaves_the_least_token_policies_out(rng: np.random.Generator) -> None:
    result = evaluate_panel(_simulated(rng, tokens=None), rng=rng, resamples=20)
    assert all(p.tokens is None and p.token_saving is None for p in result.policies.values())
    assert "no pair has the tokens of both arms: tokens and savings are unknown" in result.notes
    assert "ridge" not in result.policies
    assert any(note.startswith("Ridge: left out, no tokens for 120 of 120 pairs") for note in result.notes)
    assert panel_to_dict(result)["policies"]["always_on"]["tokens"] is None


def test_policies_that_need_texts_are_left_out_in_words(rng: np.random.Generator) -> None:
    result = evaluate_panel(replace(_simulated(rng), texts=()), rng=rng, resamples=0)
    assert {"tfidf_knn", "relevance"}.isdisjoint(result.policies)
    assert (
        "TF-IDF neighbors: left out, the panel has no task texts; import or collect them with their text"
        in result.notes
    )
    assert any(note.startswith("Relevance gate: left out") for note in result.notes)
    assert not any(note.startswith("self_judge") for note in result.notes)


def test_singleton_families_are_evaluated_and_counted(rng: np.random.Generator) -> None:
    support = _simulated(rng)
    families = support.families.astype("<U20")
    families[:3] = ["one", "two", "three"]
    result = evaluate_panel(replace(support, families=families), policies=FAST, rng=rng, resamples=20)
    assert result.policies["paper"].scores is not None
    assert result.policies["paper"].scores[:3].tolist() == [0.0, 0.0, 0.0]
    assert result.structure.singletons == 3
    assert "3 families have one task only: no support in scope, and nothing to choose within" in result.notes


@pytest.mark.parametrize(
    ("tasks", "note"),
    [
        (1, "only 1 task: intervals say nothing"),
        (2, "only 2 tasks: intervals say nothing"),
        (9, "only 9 tasks: intervals are too narrow to be trusted"),
    ],
)
def test_intervals_over_few_tasks_carry_a_warning(tasks: int, note: str, rng: np.random.Generator) -> None:
    few = _simulated(rng).rows(np.arange(tasks))
    assert note in evaluate_panel(few, policies=FAST, rng=rng, resamples=20).notes
    assert note not in evaluate_panel(few, policies=FAST, rng=rng, resamples=0).notes


def test_ten_tasks_carry_no_warning_but_a_test_split_of_two_does(rng: np.random.Generator) -> None:
    result = evaluate_panel(_simulated(rng).rows(np.arange(10)), policies=[*FAST, "ridge"], rng=rng, resamples=20)
    assert not any(note.startswith("only") for note in result.notes)
    assert result.policies["ridge"].notes[-1] == "only 2 tasks: intervals say nothing"
    assert not any(note.startswith("only") for note in result.policies["paper"].notes)


def test_fewer_tasks_than_folds_leave_ridge_out_in_words(rng: np.random.Generator) -> None:
    result = evaluate_panel(_simulated(rng).rows(np.arange(6)), rng=rng, resamples=20)
    assert any("for 5 folds" in note for note in result.notes)
    assert result.policies["paper"].success >= 0


def test_a_single_pair_is_a_panel(rng: np.random.Generator) -> None:
    result = evaluate_panel(_simulated(rng).rows([0]), policies=FAST, rng=rng, resamples=20)
    assert result.tasks == result.families == 1
    assert result.policies["paper"].use_rate == 0.0


def test_an_empty_panel_a_repeated_one_and_bad_numbers_are_refused(rng: np.random.Generator) -> None:
    support = _simulated(rng)
    with pytest.raises(InputError, match="has no pairs"):
        evaluate_panel(support.rows(np.arange(0)), rng=rng)
    with pytest.raises(InputError, match="given 2 times"):
        evaluate_panels([support, support], rng=rng)
    with pytest.raises(InputError, match="no panel"):
        evaluate_panels([], rng=rng)
    with pytest.raises(InputError, match="resamples must be 0"):
        evaluate_panel(support, rng=rng, resamples=-1)
    with pytest.raises(InputError, match="threshold must be"):
        evaluate_panel(support, rng=rng, gate=Gate(threshold=math.nan))
    with pytest.raises(InputError, match="unknown policy 'famly_mean'; did you mean family_mean"):
        evaluate_panel(support, rng=rng, policies=["famly_mean"])
    with pytest.raises(InputError, match="no policy is named"):
        evaluate_panel(support, rng=rng, policies=[])


def test_a_mix_of_agents_is_refused() -> None:
    pairs = [Pair(Agent(name), "s", "t", "f", "k", "", 0.0, 1.0, 1, 1) for name in ("one", "two")]
    with pytest.raises(InputError, match=r"pairs of 2 agents \(one, two\) cannot be pooled"):
        Support.from_pairs(pairs, np.eye(2))


def test_self_judgements_cost_their_calls_and_unasked_tasks_are_counted(rng: np.random.Generator) -> None:
    support = _simulated(rng)
    asked = [judged(t, s, True) for t, s in zip(support.task_ids[:90], support.skills[:90], strict=True)]
    result = evaluate_panel(support, rng=rng, resamples=40, judgements=asked, policies=[*FAST, "self_judge"])
    judge = result.policies["self_judge"]
    assert len(judge.rows) == 90
    assert judge.success == pytest.approx(float(support.y1[:90].mean()))
    assert judge.tokens == pytest.approx(float(support.tokens1[:90].mean()) + 20.0)
    assert judge.router_tokens == pytest.approx(20.0)
    assert judge.token_saving is not None
    assert judge.token_saving < 0
    assert judge.notes == ("30 of 120 tasks were never asked",)
    assert "balanced_accuracy_vs_self_judge" in result.policies["paper"].conditional_intervals


def test_a_task_under_two_skills_counts_as_one_task(rng: np.random.Generator) -> None:
    support = _simulated(rng)
    twice = support.rows(np.concatenate([np.arange(120), np.arange(10)]))
    twice = replace(twice, skills=np.array([*support.skills, *["other"] * 10]))
    result = evaluate_panel(twice, policies=FAST, rng=rng, resamples=40)
    assert (result.tasks, result.pairs) == (120, 130)
    assert result.structure.tasks_with_several_skills == 10


def test_agents_of_a_suite_share_draws_so_that_twins_agree(rng: np.random.Generator) -> None:
    support = _simulated(rng)
    order = rng.permutation(len(support))
    twin = replace(support.rows(order), agent="twin")
    found = evaluate_panels([support, twin], rng=rng, policies=["always_on", "family_mean"], resamples=80)
    first, second = found.panels
    for name in ("always_on", "family_mean"):
        for metric, expected in first.policies[name].intervals.items():
            other = second.policies[name].intervals[metric]
            assert (other.low, other.high) == pytest.approx((expected.low, expected.high), abs=1e-12), metric
            mean = found.means.policies[name].metrics.get(metric)
            if mean is not None and metric in ("between_group", "success"):
                assert (mean.interval.low, mean.interval.high) == pytest.approx(
                    (expected.low, expected.high), abs=1e-12
                )


def test_means_weight_panels_equally_and_their_parts_add_up(rng: np.random.Generator) -> None:
    panels = [
        replace(_simulated(rng, tasks=tasks), agent=agent, suite=suite)
        for tasks, agent, suite in ((60, "a", "x"), (120, "b", "x"), (90, "a", "y"))
    ]
    found = evaluate_panels(panels, rng=rng, policies=FAST, resamples=60)
    mean = found.means.policies["paper"].metrics
    assert mean["success"].value == pytest.approx(np.mean([p.policies["paper"].success for p in found.panels]))
    assert mean["within_group"].value + mean["between_group"].value == pytest.approx(mean["advantage_vs_random"].value)
    assert mean["within_group"].interval.low is not None


def test_progress_runs_to_its_end(rng: np.random.Generator) -> None:
    seen: list[tuple[int, int]] = []
    evaluate_panel(_simulated(rng), rng=rng, resamples=50, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1]
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_a_targets_own_outcome_never_moves_its_score_or_action(rng: np.random.Generator) -> None:
    support = _simulated(rng)
    before = evaluate_panel(support, rng=rng, resamples=0, skill_texts=_texts(support))
    for row in range(0, 120, 40):  # each estimator has more rows in its own tests
        y0, y1 = support.y0.copy(), support.y1.copy()
        y0[row], y1[row] = 1 - y0[row], 1 - y1[row]
        after = evaluate_panel(support.with_outcomes(y0, y1), rng=rng, resamples=0, skill_texts=_texts(support))
        for name, policy in before.policies.items():
            if policy.scores is not None and row in policy.rows:
                scores = after.policies[name].scores
                assert scores is not None
                assert scores[row] == policy.scores[row], name
                assert after.policies[name].actions[row] == policy.actions[row], name
