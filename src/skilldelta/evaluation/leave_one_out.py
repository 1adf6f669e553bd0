"""Leave-one-task-out evaluation: every task of a panel as its own target, under every policy.

What would the gate have bought, how sure are we, and against what? Scores come from the estimators, values from
`panel_policy`, intervals from `resampling`; this file puts a panel's results together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from skilldelta.errors import InputError
from skilldelta.estimators.partition import Partition
from skilldelta.evaluation.comparison import check_margin, few_tasks
from skilldelta.evaluation.means import mean_over_panels
from skilldelta.evaluation.metrics import auroc, decompose
from skilldelta.evaluation.panel_policy import Outcomes, PanelPolicy, Totals, columns
from skilldelta.evaluation.resampling.bootstrap import Inventory
from skilldelta.evaluation.resampling.linear_rules import LinearRule, linear_rules
from skilldelta.evaluation.resampling.panel_intervals import (
    Intervals,
    ResamplingPlan,
    covering_intervals,
    draws_of,
    panel_intervals,
)
from skilldelta.evaluation.resampling.permutation import SHUFFLES, Nulls, below_chance, panel_nulls
from skilldelta.evaluation.results import MARGIN, Evaluation, PanelResult, PermutationNull, PolicyResult, Range
from skilldelta.evaluation.roster import Holdout, Roster, Rules, as_scored, check_names, holdout_notes, score_policies
from skilldelta.evaluation.structure import family_counts, structure_of
from skilldelta.gate import check_threshold
from skilldelta.nouns import plural
from skilldelta.predictor import PAPER, Settings
from skilldelta.records import Judgement
from skilldelta.support import Scope, Support

Progress = Callable[[int, int], None]
"""Told how many draws, or rounds, are done, and of how many."""


def evaluate_panel(
    support: Support,
    *,
    rng: np.random.Generator,
    policies: Sequence[str] | None = None,
    settings: Settings = PAPER,
    scope: Scope = "family",
    threshold: float = 0.0,
    resamples: int = 10_000,
    margin: float = MARGIN,
    shuffles: int = SHUFFLES,
    null_stack: bool = False,
    holdout: Holdout = "task",
    judgements: Sequence[Judgement] | None = None,
    skill_texts: Mapping[str, str] | None = None,
    partition: Partition | None = None,
    progress: Progress | None = None,
) -> PanelResult:
    """All policies on the pairs of one agent on one suite; `resamples=0` leaves the intervals out.

    `shuffles` of the outcomes show what chance gives, 0 leaves that out; `null_stack` fits the stack anew to each of
    twice as many. `holdout="family"` scores every task without its whole family, in the scope skill or global.
    """
    return evaluate_panels(
        [support],
        rng=rng,
        policies=policies,
        settings=settings,
        scope=scope,
        threshold=threshold,
        resamples=resamples,
        margin=margin,
        shuffles=shuffles,
        null_stack=null_stack,
        holdout=holdout,
        judgements=None if judgements is None else {(support.agent, support.suite): judgements},
        skill_texts=skill_texts,
        partition=partition,
        progress=progress,
    ).panels[0]


def evaluate_panels(
    supports: Sequence[Support],
    *,
    rng: np.random.Generator,
    policies: Sequence[str] | None = None,
    settings: Settings = PAPER,
    scope: Scope = "family",
    threshold: float = 0.0,
    resamples: int = 10_000,
    margin: float = MARGIN,
    shuffles: int = SHUFFLES,
    null_stack: bool = False,
    holdout: Holdout = "task",
    judgements: Mapping[tuple[str, str], Sequence[Judgement]] | None = None,
    skill_texts: Mapping[str, str] | None = None,
    partition: Partition | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Several panels together: agents of one suite share their task draws, and means weight panels equally.

    `judgements` are keyed by (agent, suite). Two panels of the same agent and suite are refused.
    """
    _check(supports, threshold, resamples, shuffles)
    check_margin(margin)
    check_names(policies)
    rules = Rules(settings, scope, threshold, skill_texts or {}, partition, holdout)
    rosters = [
        score_policies(support, policies, rules, (judgements or {}).get((support.agent, support.suite)))
        for support in supports
    ]
    linear = [
        linear_rules(as_scored(support, holdout), roster.policies, rules) if resamples or shuffles else {}
        for support, roster in zip(supports, rosters, strict=True)
    ]
    found = _resample(supports, rosters, linear, resamples, rng, progress)
    nulls = [
        panel_nulls(support, roster.policies, rules, known, shuffles=shuffles, with_stack=null_stack, rng=rng)
        for support, roster, known in zip(supports, rosters, linear, strict=True)
    ]
    panels = tuple(
        _panel(support, roster, rules, intervals, null, resamples, margin)
        for support, roster, intervals, null in zip(supports, rosters, found, nulls, strict=True)
    )
    return Evaluation(panels, mean_over_panels(panels, found))


def _check(supports: Sequence[Support], threshold: float, resamples: int, shuffles: int) -> None:
    check_threshold(threshold)
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
    rosters: Sequence[Roster],
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
    members = [list(roster.policies.values()) for roster in rosters]
    total = sum(draws_of(s, m, plans[s.suite]) for s, m in zip(supports, members, strict=True))
    tick = _ticker(progress, total)
    return [
        panel_intervals(support, policies, plans[support.suite], inventories[support.suite], linear=known, tick=tick)
        for support, policies, known in zip(supports, members, linear, strict=True)
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


def _panel(
    support: Support, roster: Roster, rules: Rules, intervals: Intervals, nulls: Nulls, resamples: int, margin: float
) -> PanelResult:
    policies = {
        name: _with_evidence(
            policy_result(policy, support, intervals.ranges.get(name, {})), intervals, nulls.get(name, {})
        )
        for name, policy in roster.policies.items()
    }
    scored = as_scored(support, rules.holdout)
    return PanelResult(
        agent=support.agent,
        suite=support.suite,
        tasks=len(np.unique(support.task_ids)),
        pairs=len(support),
        families=len(np.unique(support.scope_labels("family"))),
        off=float(support.y0.mean()),
        on=float(support.y1.mean()),
        oracle=float(np.maximum(support.y0, support.y1).mean()),
        policies=policies,
        support=support,
        counts=family_counts(support),
        structure=structure_of(support, rules.scope),
        resamples=resamples,
        notes=(
            *(few_tasks(support.task_ids) if resamples else ()),
            *holdout_notes(support, scored, rules.scope),
            *_notes(support),
            *below_chance(policies.values()),
            *roster.left_out,
        ),
        margin=margin,
    )


def _with_evidence(result: PolicyResult, intervals: Intervals, nulls: Mapping[str, PermutationNull]) -> PolicyResult:
    """A policy's value beside how sure it is, and what chance gives."""
    covering = covering_intervals(result, result.intervals, intervals.replicates.get(result.name))
    return replace(result, intervals=covering, conditional_intervals=result.intervals, null=nulls)


def policy_result(policy: PanelPolicy, support: Support, intervals: Mapping[str, Range]) -> PolicyResult:
    """The value of fixed actions on a panel, from its recorded outcomes."""
    outcomes = Outcomes.of(support, policy.rows)
    # Contiguous rows, because numpy adds those pairwise: constant actions then have no advantage to the last digit.
    totals = Totals.from_sums(np.ascontiguousarray(columns(policy, outcomes).T).sum(axis=1)[None, :])
    actions = policy.actions[policy.rows]
    parts = decompose(actions, outcomes.gains, outcomes.families)
    router = None if policy.router_tokens is None else policy.router_tokens[policy.rows]
    is_part = len(policy.rows) < len(support)  # the panel's own notes speak for policies on all of it
    return PolicyResult(
        name=policy.name,
        success=float(totals.success[0]),
        success_gain=float(totals.success_gain[0]),
        always_on=float(outcomes.y1.mean()),
        use_rate=float(totals.use_rate[0]),
        tokens=_known(totals.mean_tokens),
        token_saving=_known(totals.token_saving),
        auroc=None if policy.scores is None else auroc(policy.scores[policy.rows], outcomes.positive),
        balanced_accuracy=_known(totals.balanced_accuracy),
        advantage_vs_random=float(totals.advantage_vs_random[0]),
        within_group=parts.within_group,
        between_group=parts.between_group,
        gain_mae=_known(totals.gain_mae),
        gain_mse=_known(totals.gain_mse),
        intervals={name: found for name, found in intervals.items() if found.low is not None},
        threshold=policy.threshold,
        scores=policy.scores,
        actions=policy.actions,
        rows=policy.rows,
        supported=policy.supported,
        router_tokens=None if router is None or not np.isfinite(router).any() else float(np.nanmean(router)),
        notes=(*policy.notes, *(few_tasks(outcomes.task_ids) if intervals and is_part else ())),
    )


def _known(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float | None:
    return float(values[0]) if np.isfinite(values[0]) else None


def _notes(support: Support) -> list[str]:
    """What a reader must know about the panel itself."""
    notes = []
    positive = support.gains > 0
    if positive.all() or not positive.any():
        kind = "every" if positive.all() else "no"
        notes.append(f"{kind} task has a positive observed gain: AUROC and balanced accuracy are undefined")
    priced = np.isfinite(support.tokens0) & np.isfinite(support.tokens1)
    if not priced.any():
        notes.append("no pair has the tokens of both arms: tokens and savings are unknown")
    elif not priced.all():
        notes.append(
            f"tokens and savings are over the {int(priced.sum())} of {plural(len(support), 'pair')} with the tokens of both arms"
        )
    singletons = structure_of(support).singletons
    if singletons:
        alone = plural(singletons, "family has", "families have")
        notes.append(f"{alone} one task only: no support in scope, and nothing to choose within")
    unnamed = int((support.families == "").sum())
    if unnamed:
        notes.append(f"{plural(unnamed, 'pair has', 'pairs have')} no family: the skill stands in for it")
    return notes
