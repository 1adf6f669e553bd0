"""Leave-one-task-out evaluation: every task of a panel as its own target, under every policy.

What would the gate have bought, how sure are we, and against what? Scores come from the estimators, values from
`panel_policy`, intervals from `resampling`; this file puts a panel's results together, and averages them over panels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.errors import InputError
from skilldelta.estimators.partition import Partition
from skilldelta.estimators.registry import policy_entry
from skilldelta.evaluation.comparison import check_margin, few_tasks
from skilldelta.evaluation.corrected_oracle import corrected_oracle
from skilldelta.evaluation.panel_policy import policy_result
from skilldelta.evaluation.repeated_folds import SMALL_PANEL, repeated_folds
from skilldelta.evaluation.resampling.bootstrap import Inventory, percentile_range
from skilldelta.evaluation.resampling.panel_intervals import (
    Intervals,
    ResamplingPlan,
    covering_intervals,
    draws_of,
    panel_intervals,
)
from skilldelta.evaluation.resampling.permutation import SHUFFLES, Nulls, below_chance, panel_nulls
from skilldelta.evaluation.resampling.rescoring import LinearRule, linear_rules, normal_range, standard_error
from skilldelta.evaluation.results import (
    MARGIN,
    METRICS,
    UNKNOWN,
    Estimate,
    Evaluation,
    Means,
    PanelResult,
    PolicyMeans,
    PolicyResult,
    Range,
    RepeatedFolds,
)
from skilldelta.evaluation.scored_policies import (
    EvaluationPlan,
    Holdout,
    ScoredPolicies,
    as_scored,
    check_names,
    holdout_notes,
    score_policies,
)
from skilldelta.evaluation.structure import family_counts, panel_notes, structure_of
from skilldelta.gate import Gate
from skilldelta.records import Judgement
from skilldelta.support import Support

# Told how many draws, or rounds, are done, and of how many.
Progress = Callable[[int, int], None]


def evaluate_panel(
    support: Support,
    *,
    rng: np.random.Generator,
    policies: Sequence[str] | None = None,
    gate: Gate | None = None,
    resamples: int = 10_000,
    margin: float = MARGIN,
    shuffles: int = SHUFFLES,
    null_blend: bool = False,
    holdout: Holdout = "task",
    judgements: Sequence[Judgement] | None = None,
    skill_texts: Mapping[str, str] | None = None,
    partition: Partition | None = None,
    progress: Progress | None = None,
) -> PanelResult:
    """All policies on the pairs of one agent on one suite, the gate among them.

    The gate is judged as it decides: by its own rule, familiarity limit and cost rule. What it abstains from is skipped.

    Parameters:
        support: The pairs.
        rng: Draws everything random.
        policies: Their names; None is every policy.
        gate: The gate that is judged beside the controls; None is the default gate.
        resamples: Bootstrap draws; 0 leaves intervals out.
        margin: Differences of success below this count as none in the verdict.
        shuffles: Panels with shuffled outcomes that show what chance gives; 0 leaves them out.
        null_blend: Fit the blend anew to each of twice as many shuffled panels.
        holdout: `family` scores every task without its whole family, in the scope skill or global.
        judgements: What the model itself said of the skills, for the self-judge.
        skill_texts: By skill, for the relevance gate.
        partition: Where both Ridge controls train, validate and are tested.
        progress: Called with a step, how much of it is done, and of how much.

    Returns:
        Success, use, tokens and ranking of every policy, with intervals.

    Examples:
        >>> import numpy as np
        >>> result = evaluate_panel(panel.support, rng=np.random.default_rng(0), resamples=0, shuffles=0)
        >>> result.policies["always_on"].success
        0.5
    """
    return evaluate_panels(
        [support],
        rng=rng,
        plan=EvaluationPlan(gate or Gate(), skill_texts or {}, partition, holdout),
        policies=policies,
        resamples=resamples,
        margin=margin,
        shuffles=shuffles,
        null_blend=null_blend,
        judgements=None if judgements is None else {(support.agent, support.suite): judgements},
        progress=progress,
    ).panels[0]


def evaluate_panels(
    supports: Sequence[Support],
    *,
    rng: np.random.Generator,
    plan: EvaluationPlan | None = None,
    policies: Sequence[str] | None = None,
    resamples: int = 10_000,
    margin: float = MARGIN,
    shuffles: int = SHUFFLES,
    null_blend: bool = False,
    judgements: Mapping[tuple[str, str], Sequence[Judgement]] | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Several panels together: agents of one suite share their task draws, and means weight panels equally.

    `judgements` are keyed by (agent, suite). Two panels of the same agent and suite are refused.
    """
    plan = plan or EvaluationPlan()
    _check(supports, resamples, shuffles)
    check_margin(margin)
    check_names(policies)
    scored_panels = [
        score_policies(support, policies, plan, (judgements or {}).get((support.agent, support.suite)))
        for support in supports
    ]
    linear = [
        linear_rules(as_scored(support, plan.holdout), scored_policies.plain, plan) if resamples or shuffles else {}
        for support, scored_policies in zip(supports, scored_panels, strict=True)
    ]
    drawn = _resample(supports, scored_panels, linear, resamples, rng, progress)
    nulls = [
        panel_nulls(support, scored_policies.policies, plan, rules, shuffles=shuffles, with_blend=null_blend, rng=rng)
        for support, scored_policies, rules in zip(supports, scored_panels, linear, strict=True)
    ]
    folds = [
        _small_panel_folds(support, scored_policies, plan, rng.spawn(1)[0]) if resamples else None
        for support, scored_policies in zip(supports, scored_panels, strict=True)
    ]
    panels = tuple(
        _panel(support, scored_policies, plan, intervals, null, resamples, margin, of_folds)
        for support, scored_policies, intervals, null, of_folds in zip(
            supports, scored_panels, drawn, nulls, folds, strict=True
        )
    )
    return Evaluation(panels, _mean_over_panels(panels, drawn))


def _check(supports: Sequence[Support], resamples: int, shuffles: int) -> None:
    if shuffles < 0:
        raise InputError(f"shuffles must be 0 (no permutation null) or more, got {shuffles}")
    if resamples < 0:
        raise InputError(f"resamples must be 0 (no intervals) or more, got {resamples}")
    if not supports:
        raise InputError("no panel is given; import or collect paired executions first")
    for support in supports:
        if not len(support):
            raise InputError(
                f"the panel of {support.agent!r} on {support.suite!r} has no pairs; add executions of both arms"
            )
    (panel, count), *_ = Counter((support.agent, support.suite) for support in supports).most_common(1)
    if count > 1:
        raise InputError(f"the panel of {panel[0]!r} on {panel[1]!r} is given {count} times; name each agent by itself")


def _resample(
    supports: Sequence[Support],
    scored_panels: Sequence[ScoredPolicies],
    linear: Sequence[Mapping[str, LinearRule]],
    resamples: int,
    rng: np.random.Generator,
    progress: Progress | None,
) -> list[Intervals]:
    if not resamples:
        return [Intervals({}, {}) for _ in supports]
    suites = {support.suite: [other for other in supports if other.suite == support.suite] for support in supports}
    plans = {suite: ResamplingPlan.of(resamples, rng) for suite in suites}
    inventories = {suite: Inventory.of(members) for suite, members in suites.items()}
    members = [list(scored_policies.policies.values()) for scored_policies in scored_panels]
    total = sum(draws_of(s, m, plans[s.suite]) for s, m in zip(supports, members, strict=True))
    tick = _ticker(progress, total)
    return [
        panel_intervals(support, policies, plans[support.suite], inventories[support.suite], linear=rules, tick=tick)
        for support, policies, rules in zip(supports, members, linear, strict=True)
    ]


def _ticker(progress: Progress | None, total: int) -> Callable[[int], None] | None:
    if progress is None:
        return None
    done = 0

    def tick(more: int) -> None:
        nonlocal done
        done += more
        progress(done, total)

    return tick


def _small_panel_folds(
    support: Support, scored_policies: ScoredPolicies, plan: EvaluationPlan, rng: np.random.Generator
) -> RepeatedFolds | None:
    """Of the policies that predict gains from a support and a target alone; None for a large panel."""
    if len(np.unique(support.task_ids)) >= SMALL_PANEL:
        return None
    entries = [policy_entry(name) for name in scored_policies.policies]
    estimators = {e.name: e.estimator(plan.needs()) for e in entries if e.can_freeze and e.estimator is not None}
    scored = as_scored(support, plan.holdout)
    return repeated_folds(scored, estimators, rng=rng, threshold=plan.gate.threshold) if estimators else None


def _panel(
    support: Support,
    scored_policies: ScoredPolicies,
    plan: EvaluationPlan,
    intervals: Intervals,
    nulls: Nulls,
    resamples: int,
    margin: float,
    folds: RepeatedFolds | None,
) -> PanelResult:
    policies = {}
    for name, policy in scored_policies.policies.items():
        result = policy_result(policy, support, intervals.ranges.get(name, {}))
        policies[name] = replace(
            result,
            intervals=covering_intervals(result, intervals.replicates.get(name)),
            conditional_intervals=result.intervals,
            null=nulls.get(name, {}),
        )
    scored, structure = as_scored(support, plan.holdout), structure_of(support, plan.scope)
    return PanelResult(
        agent=support.agent,
        suite=support.suite,
        gate=plan.gate.estimator,
        tasks=len(np.unique(support.task_ids)),
        pairs=len(support),
        families=len(np.unique(support.scope_labels("family"))),
        off=float(support.y0.mean()),
        on=float(support.y1.mean()),
        oracle=float(np.maximum(support.y0, support.y1).mean()),
        oracle_corrected=corrected_oracle(support),
        repeated_folds=folds,
        policies=policies,
        support=support,
        counts=family_counts(support),
        structure=structure,
        resamples=resamples,
        notes=(
            *(few_tasks(support.task_ids) if resamples else ()),
            *holdout_notes(support, scored, plan.scope),
            *panel_notes(support, structure),
            *below_chance(policies.values()),
            *scored_policies.left_out,
        ),
        margin=margin,
    )


_NOT_AVERAGED = ("always_on", "tokens", "gain_mae", "gain_mse", "router_tokens")
# Below this a difference is the rounding of a sum, as random activation's advantage over itself is.
_ROUNDING = 1e-12
_DIFFERENCES = ("success_gain", "success_vs_always_on", "advantage_vs_random", "within_group")


def _mean_over_panels(panels: Sequence[PanelResult], intervals: Sequence[Intervals]) -> Means:
    """By policy and metric, for policies of every panel and metrics that every panel knows.

    Conditional intervals come from draws shared by the agents of a suite: within families for the advantage and its two
    parts, of tasks for the rest. Rules that were refitted have intervals from their replicates.
    """
    common = [name for name in panels[0].policies if all(name in panel.policies for panel in panels)]
    results = {name: [panel.policies[name] for panel in panels] for name in common}
    suites = [panel.suite for panel in panels]
    return Means(
        len(panels),
        {
            name: PolicyMeans(_means(result, name, suites, intervals), _wins(name, results), _clear(result))
            for name, result in results.items()
        },
    )


def _means(
    policies: Sequence[PolicyResult], name: str, suites: Sequence[str], intervals: Sequence[Intervals]
) -> dict[str, Estimate]:
    samples = [interval.samples.get(name, {}) for interval in intervals]
    replicates = [interval.replicates.get(name, {}) for interval in intervals]
    means = {}
    for metric in METRICS:
        values = [getattr(policy, metric) for policy in policies]
        if metric in _NOT_AVERAGED or any(value is None for value in values):
            continue
        value = float(np.mean(values))
        draws = [interval[metric] for interval in samples if metric in interval]
        conditional = percentile_range(np.mean(draws, axis=0)) if len(draws) == len(policies) else UNKNOWN
        refitted = [interval[metric] for interval in replicates if metric in interval]
        covering = conditional if not any(replicates) else _refitted(metric, value, refitted, suites)
        is_covered = all(metric in policy.intervals for policy in policies)
        means[metric] = Estimate(value, covering if is_covered else UNKNOWN, conditional)
    return means


def _refitted(metric: str, value: float, replicates: Sequence[Floats], suites: Sequence[str]) -> Range:
    """Agents of a suite lost the same tasks in a replicate, so that they add up there; suites are independent."""
    if len(replicates) < len(suites):
        return UNKNOWN
    by_suite = [
        np.sum([replicate for replicate, of in zip(replicates, suites, strict=True) if of == suite], axis=0)
        for suite in dict.fromkeys(suites)
    ]
    error = float(np.sqrt(sum(standard_error(replicate) ** 2 for replicate in by_suite))) / len(suites)
    return normal_range(metric, value, error)


def _wins(name: str, results: Mapping[str, Sequence[PolicyResult]]) -> dict[str, int]:
    own = results[name]
    wins = {metric: sum(getattr(policy, metric) > _ROUNDING for policy in own) for metric in _DIFFERENCES}
    if any(policy.auroc is None for policy in own):
        return wins
    for other, theirs in results.items():
        if other != name and all(policy.auroc is not None for policy in theirs):
            wins[f"auroc_vs_{other}"] = sum(a.auroc > b.auroc for a, b in zip(own, theirs, strict=True))  # type: ignore[operator]
    return wins


def _clear(policies: Sequence[PolicyResult]) -> dict[str, int]:
    found = {
        metric: [policy.intervals[metric] for policy in policies if metric in policy.intervals]
        for metric in _DIFFERENCES
    }
    return {metric: sum((policy.low or 0) > 0 for policy in ranges) for metric, ranges in found.items() if ranges}
