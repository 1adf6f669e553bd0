"""Shuffled gains: what chance gives after leaving one out, with p-values that keep their promise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kstest

from skilldelta.errors import InputError
from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.evaluation.resampling.permutation import _sources, panel_nulls
from skilldelta.evaluation.resampling.rescoring import LINEAR, averaged_outcomes, linear_rules
from skilldelta.evaluation.results import PanelResult
from skilldelta.evaluation.scored_policies import EvaluationPlan, score_policies
from skilldelta.gate import Gate
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.predictor import Settings
from skilldelta.support import Support


def _random_panel(rng: np.random.Generator, *, tasks: int, families: int) -> Support:
    """Outcomes that nothing explains."""
    return Support.from_arrays(
        task_ids=[f"t{i}" for i in range(tasks)],
        families=[f"f{i % families}" for i in range(tasks)],
        skills=["s"] * tasks,
        vectors=rng.normal(size=(tasks, 12)),
        y0=rng.random(tasks) < 0.5,
        y1=rng.random(tasks) < 0.5,
        texts=[" ".join(f"w{w}" for w in rng.integers(40, size=5)) for _ in range(tasks)],
    )


def _evaluated(support: Support, rng: np.random.Generator, **options: object) -> PanelResult:
    return evaluate_panel(support, policies=LINEAR, rng=rng, resamples=0, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", [Settings(), Settings(k=3, weighting="uniform")])
def test_linear_rules_score_as_their_estimators_do(rng: np.random.Generator, settings: Settings) -> None:
    support = simulate_panel(rng, tasks=60, families=9, dimension=16, skew=1.0).support
    rules = EvaluationPlan(Gate(estimator="paper", k=settings.k, weighting=settings.weighting, scope="family"))
    policies = score_policies(support, LINEAR, rules, None).policies
    for name, rule in linear_rules(support, LINEAR, rules).items():
        outcomes = averaged_outcomes(rule.averaged, support.y0, support.y1)
        if name != "tfidf_knn" or settings.weighting == "cosine":  # that control knows no other weighting
            assert rule.scores(outcomes[:, None])[:, 0] == pytest.approx(policies[name].scores, abs=1e-11), name


def test_linear_rules_score_a_panel_without_some_tasks_as_if_they_had_never_been_run(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=90, families=5, dimension=16).support
    left_out = rng.random(90) < 0.25
    rest = support.rows(~left_out)
    for name, rule in linear_rules(support, LINEAR, EvaluationPlan()).items():
        if name == "tfidf_knn":  # its vocabulary is that of the whole inventory
            continue
        found = rule.scores_without(left_out, averaged_outcomes(rule.averaged, support.y0, support.y1))
        expected = score_policies(rest, [name], EvaluationPlan(), None).policies[name]
        assert found.values[~left_out] == pytest.approx(expected.scores, abs=1e-11), name
        assert (found.supported[~left_out] == expected.supported).all() if expected.supported is not None else True


def test_a_shuffle_exchanges_whole_tasks_and_stays_in_the_family_where_asked(rng: np.random.Generator) -> None:
    once = _random_panel(rng, tasks=40, families=4)
    twice = once.rows(np.concatenate([np.arange(40), np.arange(10)]))
    support = replace(twice, skills=np.array(["s"] * 40 + ["other"] * 10))
    within = np.hstack(list(_sources(support, "within", 30, rng)))
    across = np.hstack(list(_sources(support, "across", 30, rng)))
    for sources in (within, across):
        assert all(sorted(column) == list(range(50)) for column in sources.T)
        assert (
            support.task_ids[sources[:10]] == support.task_ids[sources[40:]]
        ).all()  # both rows of a task move together
    assert (support.families[within] == support.families[:, None]).all()
    assert (support.families[across] != support.families[:, None]).any()


def test_leaving_one_out_of_one_family_looks_backward_and_the_null_says_so(rng: np.random.Generator) -> None:
    panel = _evaluated(_random_panel(rng, tasks=60, families=1), rng)
    mean = panel.policies["family_mean"]
    assert mean.auroc == 0.0
    assert mean.null["within"].auroc is not None
    assert mean.null["within"].auroc.p == 1.0
    assert any("artefact of leaving one out" in note and "family_mean 0.00" in note for note in panel.notes)


def test_the_note_on_backward_order_appears_for_three_families_too() -> None:
    rng = np.random.default_rng(2)
    panel = _evaluated(_random_panel(rng, tasks=300, families=3), rng)
    assert panel.policies["family_mean"].auroc is not None
    assert panel.policies["family_mean"].auroc < 0.4
    assert any("artefact of leaving one out" in note and "family_mean" in note for note in panel.notes)
    untested = evaluate_panel(panel.support, policies=["family_mean"], rng=rng, resamples=0, shuffles=0)
    assert any("may be an artefact" in note and "not tested by shuffling" in note for note in untested.notes)


def test_real_effects_are_told_from_chance(rng: np.random.Generator) -> None:
    panel = _evaluated(simulate_panel(rng, tasks=300, families=6, dimension=32, r0=3, r1=3).support, rng)
    for kind in ("within", "across"):
        null = panel.policies["paper"].null[kind]
        assert null.auroc is not None
        assert null.advantage_vs_random is not None
        assert null.auroc.p == null.advantage_vs_random.p == 1 / 200
    # What families tell alone survives shuffling within them.
    families = _evaluated(simulate_panel(rng, tasks=300, families=6, kind="family_only", r0=3, r1=3).support, rng)
    across, within = (families.policies["family_mean"].null[kind].auroc for kind in ("across", "within"))
    assert across is not None
    assert within is not None
    assert across.p == 1 / 200
    assert within.p == 1.0


def test_the_blend_is_shuffled_on_demand(rng: np.random.Generator) -> None:
    support = _random_panel(rng, tasks=24, families=2)
    panel = evaluate_panel(support, policies=["blend"], rng=rng, resamples=0, shuffles=3, null_blend=True)
    assert panel.policies["blend"].null["across"].shuffles == 3
    assert evaluate_panel(support, policies=["blend"], rng=rng, resamples=0).policies["blend"].null == {}


def test_the_same_generator_gives_the_same_null(rng: np.random.Generator) -> None:
    support = _random_panel(rng, tasks=50, families=3)
    one, again = (_evaluated(support, np.random.default_rng(5)).policies["paper"].null for _ in range(2))
    assert one == again


def test_a_negative_number_of_shuffles_is_refused(rng: np.random.Generator) -> None:
    with pytest.raises(InputError, match=r"shuffles must be 0 .* got -1"):
        _evaluated(_random_panel(rng, tasks=10, families=2), rng, shuffles=-1)


@pytest.mark.slow
@pytest.mark.parametrize("families", [1, 4])
def test_p_values_are_uniform_when_nothing_explains_the_gains(rng: np.random.Generator, families: int) -> None:
    """Add-one p-values are valid: at most a share a of panels has p <= a, and about that share where values rarely tie."""
    found: dict[str, list[float]] = {"within": [], "across": []}
    for _ in range(400):
        support = _random_panel(rng, tasks=60, families=families)
        policies = score_policies(support, ["paper"], EvaluationPlan(), None).policies
        rule = linear_rules(support, ["paper"], EvaluationPlan())["paper"]
        nulls = panel_nulls(
            support, policies, EvaluationPlan(), {"paper": rule}, shuffles=99, with_blend=False, rng=rng
        )
        for kind, values in found.items():
            auroc = nulls["paper"][kind].auroc
            assert auroc is not None
            values.append(auroc.p)
    for kind, values in found.items():
        print(families, kind, [float(np.mean(np.array(values) <= level)) for level in (0.05, 0.1, 0.5)])
        for level in (0.05, 0.1, 0.5):
            share = float(np.mean(np.array(values) <= level))
            assert share <= level + 3 * np.sqrt(level * (1 - level) / 400), (kind, level)
        assert kstest(values, "uniform").pvalue > 0.001, kind
