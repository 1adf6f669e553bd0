"""Studies of one panel's threshold and of its amount of evidence: sweep over them, or choose a threshold for a goal."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.costs import CostRule, TokenCosts
from skilldelta.evaluation.calibration import Calibration
from skilldelta.evaluation.calibration import calibrate as choose_threshold
from skilldelta.evaluation.evidence_scaling import EvidenceCurve, EvidenceCurves, evidence_curves
from skilldelta.evaluation.goals import Goal
from skilldelta.evaluation.scored_policies import EvaluationPlan, scores_without_folds
from skilldelta.evaluation.sweeps import ThresholdSweep, threshold_sweep
from skilldelta.gate import Gate
from skilldelta.predictor import predict_each
from skilldelta.studies.evaluation_study import plan_for, scored_policy
from skilldelta.studies.loaded_panel import LoadedPanel, StudyProgress, step_of
from skilldelta.support import Support

_DEFAULT_GATE = Gate()
_HELD_OUT = (
    "success",
    "use_rate",
    "tokens",
    "value",
    "success_vs_always_on",
    "success_vs_always_off",
    "met",
    "coverage",
)


def sweep_thresholds(panel: LoadedPanel, gate: Gate = _DEFAULT_GATE, *, control: str | None = None) -> ThresholdSweep:
    """Every policy that some threshold makes of a gate, from always-on to always-off; its other settings stay.

    Parameters:
        panel: Pairs of one agent on one suite, from `load_panel` or `load_panels`.
        gate: The gate whose threshold is swept.
        control: A policy that is no gate, such as relevance; then its scores are swept.

    Returns:
        The points with their success, use rate and tokens.

    Examples:
        >>> from skilldelta import Gate
        >>> swept = sweep_thresholds(panel, Gate(estimator="paper"))
        >>> swept.point(swept.best).success >= swept.point(swept.default).success
        True
    """
    policy = scored_policy(control or gate.estimator, panel.support, plan_for(panel, gate))
    return threshold_sweep(policy.compared, panel.support, default=policy.threshold or 0.0)


def sweep_evidence(panel: LoadedPanel, *, at_least: int = 1, seed: int = 0) -> EvidenceCurves:
    """Gain error over support size, neighborhood size and repetitions.

    Parameters:
        panel: Pairs of one agent on one suite, from `load_panel` or `load_panels`.
        at_least: Families with fewer other tasks are left out.
        seed: Seed of everything random.

    Returns:
        One curve per axis.

    Examples:
        >>> [curve.axis for curve in sweep_evidence(panel).curves]
        ['support', 'neighbors', 'repetitions']
    """
    return evidence_curves(panel.support, np.random.default_rng(seed), at_least=at_least)


def calibrate(
    panel: LoadedPanel,
    goal: Goal,
    gate: Gate = _DEFAULT_GATE,
    *,
    control: str | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    progress: StudyProgress | None = None,
) -> Calibration:
    """The threshold that meets a goal, with what it gives on tasks that it was not chosen on.

    Parameters:
        panel: Pairs of one agent on one suite, from `load_panel` or `load_panels`.
        goal: What the threshold shall reach, from `skilldelta.evaluation.goals`.
        gate: The gate whose threshold is chosen; its other settings stay.
        control: A policy that is no gate, such as relevance; then its scores are used.
        seed: Seed of everything random.
        resamples: Bootstrap draws; 0 leaves intervals out.
        progress: Called with a step, how much of it is done, and of how much.

    Returns:
        The threshold, held-out values and values in hindsight.

    Examples:
        >>> from skilldelta import Gate
        >>> from skilldelta.evaluation.goals import UseRate
        >>> found = calibrate(panel, UseRate(0.5), Gate(estimator="family_mean"), resamples=0)
        >>> found.hindsight.use_rate <= 0.5
        True
    """
    plan = plan_for(panel, gate)

    def score(support: Support) -> Floats:
        policy = scored_policy(control or gate.estimator, support, plan)
        return _net(policy.compared, support, goal.per_token, plan) if goal.per_token else policy.compared

    return choose_threshold(
        score(panel.support),
        panel.support,
        goal,
        rng=np.random.default_rng(seed),
        training_scores=scores_without_folds(
            score, panel.support, progress=step_of(progress, "scoring without each fold")
        ),
        resamples=resamples,
    )


def threshold_document(panel: LoadedPanel, swept: ThresholdSweep, estimator: str) -> dict[str, Any]:
    """One panel of `sweep threshold --json`."""
    return {
        "agent": panel.support.agent,
        "suite": panel.suite,
        "estimator": estimator,
        "default": swept.default,
        "best": swept.best,
        "points": [asdict(point) for point in swept.points()],
    }


def evidence_document(panel: LoadedPanel, curves: EvidenceCurves) -> dict[str, Any]:
    """One panel of `sweep evidence --json`."""
    return {
        "agent": panel.support.agent,
        "suite": panel.suite,
        "curves": [_curve(curve) for curve in curves.curves],
        "missing": curves.missing,
    }


def calibration_document(panel: LoadedPanel, calibration: Calibration, estimator: str) -> dict[str, Any]:
    """One panel of `calibrate --json`."""
    held = calibration.held_out
    return {
        "agent": panel.support.agent,
        "suite": panel.suite,
        "estimator": estimator,
        "goal": calibration.goal.words,
        "threshold": calibration.threshold,
        "hindsight": asdict(calibration.hindsight),
        "held_out": {
            **{name: getattr(held, name) for name in _HELD_OUT},
            "intervals": {name: asdict(interval) for name, interval in held.intervals.items()},
            "thresholds": sorted(set(held.thresholds.tolist())),
        },
        "always_on": calibration.always_on,
        "always_off": calibration.always_off,
        "pairs": calibration.rows,
        "wrong": [asdict(case) for case in held.wrong],
        "notes": [*panel.notes, *calibration.notes],
    }


def _net(scores: Floats, support: Support, per_token: float, plan: EvaluationPlan) -> Floats:
    """Scores less what their tokens cost: what `predict` compares with the threshold when it is given the same prices."""
    near = predict_each(support, plan.scope, settings=plan.gate.settings).rows
    return CostRule(per_token).net_gains(scores, TokenCosts.of(support).predict_each(near))


def _curve(curve: EvidenceCurve) -> dict[str, Any]:
    return {
        "axis": curve.axis,
        "amounts": curve.amounts,
        "gain_mae": curve.mae,
        "spread": curve.spread,
        "targets": curve.targets,
        "left_out": list(curve.left_out),
    }
