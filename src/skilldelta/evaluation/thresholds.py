"""Thresholds from evidence: the paper's two rules for frozen panels, and choices on the success-token curve.

Each looks at the support's own outcomes, so the success it promises is hindsight on those tasks; a threshold must be
fixed before the outcomes of the tasks it will decide exist.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from skilldelta.arrays import Floats, tie_rounding
from skilldelta.errors import InputError
from skilldelta.evaluation.sweeps import ThresholdSweep, distinct_cuts
from skilldelta.support import Support

ThresholdRule = Literal["prevalence", "balanced_accuracy"]
THRESHOLD_RULES: tuple[ThresholdRule, ...] = ("prevalence", "balanced_accuracy")


def threshold_by_rule(rule: ThresholdRule, support: Support, scores: Floats) -> float:
    """The threshold of a named rule; `scores` are the support's leave-one-task-out scores."""
    if rule == "prevalence":
        return positive_prevalence(support)
    if rule == "balanced_accuracy":
        return best_balanced_accuracy(scores, support.gains)
    raise InputError(f"threshold rule must be one of {', '.join(THRESHOLD_RULES)}, or a number, got {rule!r}")


def positive_prevalence(support: Support) -> float:
    """Share of the support whose observed gain is positive."""
    if not len(support):
        raise InputError("the prevalence of positive gains needs support; import or collect executions first")
    return float((support.gains > 0).mean())


def best_balanced_accuracy(scores: Floats, gains: Floats) -> float:
    """The threshold of highest balanced accuracy over all distinct policies, ties toward fewer uses."""
    cuts = distinct_cuts(scores)
    positive = gains[cuts.order] > 0
    if positive.all() or not positive.any():
        kind = "positive" if positive.any() else "not positive"
        raise InputError(f"every gain is {kind}, so that balanced accuracy is undefined; give a threshold as a number")
    positives_skipped = np.concatenate([[0], np.cumsum(positive)])[cuts.skipped]
    others_skipped = cuts.skipped - positives_skipped
    sensitivity = 1 - positives_skipped / positive.sum()
    specificity = others_skipped / (~positive).sum()
    return float(cuts.thresholds[_last_best((sensitivity + specificity) / 2)])


def for_use_rate(sweep: ThresholdSweep, rate: float) -> int:
    """The point that uses the skill most without exceeding a use rate."""
    if not 0 <= rate <= 1:
        raise InputError(f"use rate must lie in [0, 1], got {rate}")
    return int(np.argmax(sweep.use_rates <= rate))


def for_token_budget(sweep: ThresholdSweep, tokens: float) -> int:
    """The point of highest success whose mean tokens stay within a budget, ties toward fewer uses."""
    within = sweep.tokens <= tokens
    if not within.any():
        least = np.nanmin(sweep.tokens) if np.isfinite(sweep.tokens).any() else None
        remedy = "no tokens are recorded" if least is None else f"the cheapest policy needs {least:.6g} tokens per task"
        raise InputError(f"no threshold keeps within {tokens:g} tokens per task: {remedy}")
    return _last_best(np.where(within, sweep.success, -np.inf))


def for_margin(sweep: ThresholdSweep, margin: float = 0.0) -> int:
    """The cheapest point whose success is at most `margin` below always-on's; uses count where tokens are unknown."""
    if not margin >= 0:
        raise InputError(f"margin must not be negative, got {margin}")
    good = tie_rounding(sweep.success) >= tie_rounding(sweep.success[:1] - margin)[0]
    cost = sweep.tokens if np.isfinite(sweep.tokens).all() else sweep.use_rates
    return _last_best(np.where(good, -cost, -np.inf))


def for_value(sweep: ThresholdSweep, per_token: float = 0.0) -> int:
    """The point of the highest success less `per_token` times its mean tokens, ties toward fewer uses."""
    if per_token and not np.isfinite(sweep.tokens).any():
        raise InputError("no tokens are recorded, so that their cost cannot be weighed; leave the price out")
    return _last_best(sweep.success - per_token * sweep.tokens if per_token else sweep.success)


def _last_best(values: Floats) -> int:
    """The last of the largest: thresholds rise, so it uses the skill least."""
    return len(values) - 1 - int(np.argmax(tie_rounding(values)[::-1]))
