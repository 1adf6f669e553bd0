"""Choosing the threshold for a stated goal, with an honest value: each fold's threshold comes from the other folds.

The threshold to deploy is chosen on all tasks, and so its success there is hindsight. What it will give on new tasks is
estimated beside it: every fold is decided by a threshold that neither its outcomes nor scores made from them had a part in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from skilldelta.arrays import Flags, Floats
from skilldelta.errors import InputError
from skilldelta.evaluation.comparison import few_tasks
from skilldelta.evaluation.goals import Goal, Values
from skilldelta.evaluation.panel_policy import Outcomes, PanelPolicy, Totals, columns
from skilldelta.evaluation.resampling.bootstrap import Design, Inventory, Samples, percentile_range, resample_policies
from skilldelta.evaluation.results import Range
from skilldelta.evaluation.sweeps import SweepPoint, ThresholdSweep, threshold_sweep
from skilldelta.folds import FOLDS, held_out_folds
from skilldelta.support import Support
from skilldelta.ties import exceeds

_NEUTRAL = 0.0
"""The threshold of a fold that has no other folds to learn from."""
_NEVER = 1.0
"""No gain exceeds it."""


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

    `scores` are leave-one-task-out. `training_scores` (folds, n) come from `nested.scores_without_folds`: without them a
    threshold is chosen on scores whose support included the fold it decides, which is honest only for scores that no
    outcome of this panel went into.
    """
    if training_scores is not None and training_scores.shape != (folds, len(support)):
        raise InputError(f"training scores must have shape {(folds, len(support))}, got {training_scores.shape}")
    sweep = threshold_sweep(scores, support)
    chosen = _point(sweep, goal.choose(sweep))
    thresholds = _held_out_thresholds(scores, support, goal, training_scores, folds)
    policy = _held_out_policy(scores, thresholds)
    outcomes = Outcomes.of(support, policy.rows)
    return Calibration(
        goal=goal,
        threshold=chosen.threshold,
        hindsight=chosen,
        held_out=_held_out(policy, thresholds, support, outcomes, goal, resamples, rng),
        always_on=float(outcomes.y1.mean()),
        always_off=float(outcomes.y0.mean()),
        rows=len(policy.rows),
        resamples=resamples,
        notes=few_tasks(outcomes.task_ids) if resamples else (),
    )


def _held_out_thresholds(
    scores: Floats, support: Support, goal: Goal, training_scores: Floats | None, folds: int
) -> Floats:
    """(n,) the threshold that decides each row."""
    fold_of = held_out_folds(support.task_ids, folds)
    found = np.full(len(support), _NEUTRAL)
    for fold in np.unique(fold_of):
        known = scores if training_scores is None else training_scores[fold]
        found[fold_of == fold] = _threshold_from(np.where(fold_of == fold, np.nan, known), support, goal)
    return found


def _threshold_from(scores: Floats, support: Support, goal: Goal) -> float:
    """The goal's threshold on some rows; where these cannot serve it (a budget below their cheapest), the cheapest."""
    if np.isnan(scores).all():
        return _NEUTRAL
    sweep = threshold_sweep(scores, support)
    try:
        return _point(sweep, goal.choose(sweep)).threshold
    except InputError:
        known = np.isfinite(sweep.tokens).any()
        return _point(sweep, int(np.nanargmin(sweep.tokens)) if known else len(sweep) - 1).threshold


def _point(sweep: ThresholdSweep, index: int) -> SweepPoint:
    """A point of the curve; never to use, where a positive score was seen, also refuses scores higher than all seen.

    Where tasks lack support no threshold makes always-on: the lowest one uses the skill on every task that has some.
    """
    index = max(index, int(np.isneginf(sweep.thresholds[0])))
    point = sweep.point(index)
    is_never = index == len(sweep) - 1 and index != sweep.default
    return replace(point, threshold=max(_NEVER, point.threshold)) if is_never else point


def _held_out_policy(scores: Floats, thresholds: Floats) -> PanelPolicy:
    return PanelPolicy("held_out", exceeds(scores, thresholds), np.flatnonzero(~np.isnan(scores)), scores=scores)


def _held_out(
    policy: PanelPolicy,
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
    once = {one.name: _values(_totals(one, outcomes)) for one in (policy, *constants)}
    held, on, off = (once[name] for name in ("held_out", "always_on", "always_off"))
    samples: Mapping[str, Samples] = {}
    if resamples:
        design = Design.tasks(outcomes.task_ids, Inventory.of([support]))
        samples = resample_policies([policy, *constants], outcomes, design, draws=resamples, rng=rng)
    assert policy.scores is not None
    return HeldOut(
        success=float(held.success[0]),
        use_rate=float(held.use_rate[0]),
        tokens=_known(held.tokens[0]),
        value=_known(held.net(goal.per_token)[0]),
        success_vs_always_on=float(held.success[0] - on.success[0]),
        success_vs_always_off=float(held.success[0] - off.success[0]),
        intervals=_intervals(samples, goal),
        met=bool(goal.met(held, always_on=on, always_off=off)[0]),
        coverage=_coverage(samples, goal),
        thresholds=thresholds,
        actions=np.asarray(policy.actions, np.bool_),
        wrong=_wrong_cases(
            support, scores=policy.scores, thresholds=thresholds, actions=np.asarray(policy.actions, np.float64)
        ),
    )


def _totals(policy: PanelPolicy, outcomes: Outcomes) -> Totals:
    return Totals.from_sums(columns(policy, outcomes).sum(axis=0, keepdims=True))


def _values(totals: Totals) -> Values:
    return Values(totals.success, totals.use_rate, totals.mean_tokens)


def _drawn(samples: Mapping[str, Samples], name: str) -> Values:
    found = samples[name]
    return Values(found["success"], found["use_rate"], found["tokens"])


def _intervals(samples: Mapping[str, Samples], goal: Goal) -> dict[str, Range]:
    if not samples:
        return {}
    held, on, off = (_drawn(samples, name) for name in ("held_out", "always_on", "always_off"))
    drawn = {
        "success": held.success,
        "use_rate": held.use_rate,
        "tokens": held.tokens,
        "value": held.net(goal.per_token),
        "success_vs_always_on": held.success - on.success,
        "success_vs_always_off": held.success - off.success,
    }
    return {name: percentile_range(values) for name, values in drawn.items()}


def _coverage(samples: Mapping[str, Samples], goal: Goal) -> float | None:
    if not samples:
        return None
    on, off = _drawn(samples, "always_on"), _drawn(samples, "always_off")
    return float(goal.met(_drawn(samples, "held_out"), always_on=on, always_off=off).mean())


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _wrong_cases(support: Support, *, scores: Floats, thresholds: Floats, actions: Floats) -> tuple[WrongCase, ...]:
    """Largest loss first, then the most confident, then by task id; rows without a score are left out.

    `actions` (n,) are 1 for use and 0 for skip.
    """
    loss = np.where(actions > 0, -support.gains, support.gains)
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
