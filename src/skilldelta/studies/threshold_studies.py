"""Studies of one panel's threshold and of its amount of evidence: sweep over them, or choose a threshold for a goal."""

from __future__ import annotations

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.costs import CostRule, TokenCosts
from skilldelta.evaluation.calibration import Calibration
from skilldelta.evaluation.calibration import calibrate as choose_threshold
from skilldelta.evaluation.evidence_scaling import EvidenceCurves, evidence_curves
from skilldelta.evaluation.goals import Goal
from skilldelta.evaluation.panel_policy import sweepable
from skilldelta.evaluation.roster import Rules, scores_without_folds
from skilldelta.evaluation.sweeps import ThresholdSweep, threshold_sweep
from skilldelta.predictor import predict_each
from skilldelta.studies.evaluation_study import scored_policy, with_skill_texts
from skilldelta.studies.loaded_panel import LoadedPanel, StudyProgress, step_of
from skilldelta.support import Support

PAPER_RULES = Rules()


def sweep_thresholds(panel: LoadedPanel, estimator: str = "stack", *, rules: Rules = PAPER_RULES) -> ThresholdSweep:
    """Every policy that some threshold induces on an estimator's scores, from always-on to always-off.

    Examples:
        >>> swept = sweep_thresholds(panel, "skilldelta")
        >>> swept.point(swept.best).success >= swept.point(swept.default).success
        True
    """
    policy = scored_policy(estimator, panel.support, with_skill_texts(rules, panel.skill_texts))
    assert policy.scores is not None  # scored_policy refuses policies without
    return threshold_sweep(sweepable(policy.scores, policy.supported), panel.support, default=policy.threshold or 0.0)


def sweep_evidence(panel: LoadedPanel, *, at_least: int = 1, seed: int = 0) -> EvidenceCurves:
    """Gain error over support size, neighbourhood size and repetitions; families with fewer other tasks are left out.

    Examples:
        >>> [curve.axis for curve in sweep_evidence(panel).curves]
        ['support', 'neighbors', 'repetitions']
    """
    return evidence_curves(panel.support, np.random.default_rng(seed), at_least=at_least)


def calibrate(
    panel: LoadedPanel,
    goal: Goal,
    estimator: str = "stack",
    *,
    rules: Rules = PAPER_RULES,
    seed: int = 0,
    resamples: int = 10_000,
    progress: StudyProgress | None = None,
) -> Calibration:
    """The threshold that meets a goal, with what it gives on tasks that it was not chosen on.

    Examples:
        >>> from skilldelta.evaluation.goals import UseRate
        >>> found = calibrate(panel, UseRate(0.5), "family_mean", resamples=0)
        >>> found.hindsight.use_rate <= 0.5
        True
    """
    told = with_skill_texts(rules, panel.skill_texts)

    def score(support: Support) -> Floats:
        policy = scored_policy(estimator, support, told)
        assert policy.scores is not None  # scored_policy refuses policies without
        scores = sweepable(policy.scores, policy.supported)
        return _net(scores, support, goal.per_token, told) if goal.per_token else scores

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


def _net(scores: Floats, support: Support, per_token: float, rules: Rules) -> Floats:
    """Scores less what their tokens cost: what `predict` compares with the threshold when it is given the same prices."""
    near = predict_each(support, rules.scope, settings=rules.settings).rows
    return CostRule(per_token).net_gains(scores, TokenCosts.of(support).predict_each(near))
