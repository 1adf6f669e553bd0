"""Choosing the threshold for a stated goal, with an honest value: each fold's threshold comes from the other folds.

The threshold to deploy is chosen on all tasks, and so its success there is hindsight. What it will give on new tasks is
estimated beside it: every fold is decided by a threshold chosen without its outcomes and without scores made from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from skilldelta.arrays import Flags, Floats, exceeds
from skilldelta.errors import InputError
from skilldelta.evaluation.comparison import few_tasks
from skilldelta.evaluation.goals import Goal, Values
from skilldelta.evaluation.panel_policy import Outcomes, PanelPolicy, Totals
from skilldelta.evaluation.resampling.bootstrap import Design, Inventory, Samples, percentile_range, resample_policies
from skilldelta.evaluation.results import Range, unless_nan
from skilldelta.evaluation.sweeps import SweepPoint, ThresholdSweep, threshold_sweep
from skilldelta.probability import FOLDS, held_out_folds
from skilldelta.support import Support

# The threshold of a fold that has no other folds to learn from.
_NEUTRAL = 0.0
# No gain exceeds it.
_NEVER = 1.0


@dataclass(frozen=True, slots=True)
class WrongCase:
    """A task where the skill was used and harmed, or was skipped and would have helped."""

    task_id: str
    family: str
    skill: str
    action: Literal["use", "skip"]
    score: float
    threshold: float
    loss: float
    """Success that the other action had more."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """What the policy gave on tasks that had no part in choosing its threshold."""

    success: float
    use_rate: float
    tokens: float | None
    value: float | None
    """Success less the cost of the tokens; None where tokens cost something and are unknown."""
    success_vs_always_on: float
    success_vs_always_off: float
    intervals: Mapping[str, Range]
    """95% ranges of the fields above over resampled tasks; empty without draws."""
    met: bool
    """Whether the goal was reached on the held-out tasks as they are."""
    coverage: float | None
    """Share of resampled panels on which it was; None without draws."""
    thresholds: Floats  # (n,) of each row, chosen without its fold
    actions: Flags  # (n,)
    wrong: tuple[WrongCase, ...]
    """Largest loss first, then the most confident."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """A threshold for a goal, what it gave in hindsight, and what to expect of it."""

    goal: Goal
    threshold: float
    """The one to deploy: use the skill when the score exceeds it."""
    hindsight: SweepPoint
    """That threshold on the very tasks it was chosen on."""
    held_out: HeldOut
    always_on: float
    always_off: float
    rows: int
    resamples: int
    notes: tuple[str, ...] = ()
    """What a reader of the values must know, in words."""


def calibrate(
    scores: Floats,
    support: Support,
    goal: Goal,
    *,
    rng: np.random.Generator,
    training_scores: Floats | None = None,
    resamples: int = 10_000,
    folds: int = FOLDS,
) -> Calibration:
    """Choose on all rows, evaluate nested; rows whose score is NaN are left out, those at minus infinity never used.

    `scores` are leave-one-task-out. `training_scores` (folds, n) come from `scored_policies.scores_without_folds`: without them a
    threshold is chosen on scores whose support included the fold it decides, which is honest only for scores that no
    outcome of this panel went into.
    """
    if training_scores is not None and training_scores.shape != (folds, len(support)):
        raise InputError(f"training scores must have shape {(folds, len(support))}, got {training_scores.shape}")
    sweep = threshold_sweep(scores, support)
    chosen = _point(sweep, goal.choose(sweep))
    thresholds = _held_out_thresholds(scores, support, goal, training_scores, folds)
    rows = np.flatnonzero(~np.isnan(scores))
    policy = PanelPolicy("held_out", exceeds(scores, thresholds), rows, scores=scores)
    outcomes = Outcomes.of(support, policy.rows)
    return Calibration(
        goal=goal,
        threshold=chosen.threshold,
        hindsight=chosen,
        held_out=_held_out(policy, scores, thresholds, support, outcomes, goal, resamples, rng),
        always_on=float(outcomes.y1.mean()),
        always_off=float(outcomes.y0.mean()),
        rows=len(rows),
        resamples=resamples,
        notes=few_tasks(outcomes.task_ids) if resamples else (),
    )


def _held_out_thresholds(
    scores: Floats, support: Support, goal: Goal, training_scores: Floats | None, folds: int
) -> Floats:
    """(n,) the threshold that decides each row."""
    fold_of = held_out_folds(support.task_ids, folds)
    thresholds = np.full(len(support), _NEUTRAL)
    for fold in np.unique(fold_of):
        training = scores if training_scores is None else training_scores[fold]
        thresholds[fold_of == fold] = _threshold_from(np.where(fold_of == fold, np.nan, training), support, goal)
    return thresholds


def _threshold_from(scores: Floats, support: Support, goal: Goal) -> float:
    """The goal's threshold on some rows; where these cannot serve it (a budget below their cheapest), the cheapest."""
    if np.isnan(scores).all():
        return _NEUTRAL
    sweep = threshold_sweep(scores, support)
    try:
        return _point(sweep, goal.choose(sweep)).threshold
    except InputError:
        has_tokens = np.isfinite(sweep.tokens).any()
        return _point(sweep, int(np.nanargmin(sweep.tokens)) if has_tokens else len(sweep) - 1).threshold


def _point(sweep: ThresholdSweep, index: int) -> SweepPoint:
    """A point of the curve; never to use, where a positive score was seen, also refuses scores higher than all seen.

    Where tasks lack support no threshold makes always-on: the lowest one uses the skill on every task that has some.
    """
    index = max(index, int(np.isneginf(sweep.thresholds[0])))
    point = sweep.point(index)
    is_never = index == len(sweep) - 1 and index != sweep.default
    return replace(point, threshold=max(_NEVER, point.threshold)) if is_never else point


def _held_out(
    policy: PanelPolicy,
    scores: Floats,
    thresholds: Floats,
    support: Support,
    outcomes: Outcomes,
    goal: Goal,
    resamples: int,
    rng: np.random.Generator,
) -> HeldOut:
    constants = [
        replace(PanelPolicy.constant(name, use, len(support)), rows=policy.rows)
        for name, use in (("always_on", 1.0), ("always_off", 0.0))
    ]
    together = [policy, *constants]
    figures, met = _figures({one.name: Totals.of(one, outcomes).metrics() for one in together}, goal)
    intervals, coverage = {}, None
    if resamples:
        design = Design.tasks(outcomes.task_ids, Inventory.of([support]))
        drawn, often_met = _figures(resample_policies(together, outcomes, design, draws=resamples, rng=rng), goal)
        intervals = {name: percentile_range(values) for name, values in drawn.items()}
        coverage = float(often_met.mean())
    actions = np.asarray(policy.actions, np.bool_)
    return HeldOut(
        success=float(figures["success"][0]),
        use_rate=float(figures["use_rate"][0]),
        tokens=unless_nan(figures["tokens"][0]),
        value=unless_nan(figures["value"][0]),
        success_vs_always_on=float(figures["success_vs_always_on"][0]),
        success_vs_always_off=float(figures["success_vs_always_off"][0]),
        intervals=intervals,
        met=bool(met[0]),
        coverage=coverage,
        thresholds=thresholds,
        actions=actions,
        wrong=_wrong_cases(support, scores, thresholds, actions),
    )


def _figures(policies: Mapping[str, Samples], goal: Goal) -> tuple[dict[str, Floats], Flags]:
    """(draws,) each value of the held-out policy, and whether it met the goal."""
    held, on, off = (
        Values(policy["success"], policy["use_rate"], policy["tokens"])
        for policy in (policies[name] for name in ("held_out", "always_on", "always_off"))
    )
    figures = {
        "success": held.success,
        "use_rate": held.use_rate,
        "tokens": held.tokens,
        "value": held.net(goal.per_token),
        "success_vs_always_on": held.success - on.success,
        "success_vs_always_off": held.success - off.success,
    }
    return figures, goal.met(held, always_on=on, always_off=off)


def _wrong_cases(support: Support, scores: Floats, thresholds: Floats, actions: Flags) -> tuple[WrongCase, ...]:
    """Largest loss first, then the most confident, then by task id; rows without a score are left out."""
    loss = np.where(actions, -support.gains, support.gains)
    wrong = np.flatnonzero((loss > 0) & ~np.isnan(scores))
    confidence = np.abs(scores[wrong] - thresholds[wrong])
    order = wrong[np.lexsort((support.task_ids[wrong], -confidence, -loss[wrong]))]
    return tuple(
        WrongCase(
            task_id=str(support.task_ids[row]),
            family=str(support.families[row]),
            skill=str(support.skills[row]),
            action="use" if actions[row] else "skip",
            score=float(scores[row]),
            threshold=float(thresholds[row]),
            loss=float(loss[row]),
        )
        for row in order
    )
