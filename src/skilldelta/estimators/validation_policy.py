"""The Ridge controls' policy search: the least tokens with success no lower than always-on.

Every distinct policy that `gain - lambda * cost > eta` can make of the validation tasks is tried, for each lambda,
always-on and always-off among them. Always-on keeps its own success, so the search never comes back empty-handed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.ties import ROUNDING


@dataclass(frozen=True, slots=True)
class ValidationPolicy:
    """Use the skill where gain - cost_weight * cost > threshold; a threshold of minus infinity is always-on."""

    cost_weight: float
    threshold: float
    success_change: float
    """Validation success against always-off."""
    token_change: float
    """Validation tokens against always-off, in the unit of the cost head."""

    @property
    def is_always_on(self) -> bool:
        """The explicit fallback."""
        return self.threshold == -math.inf

    def in_words(self) -> str:
        """What validation chose."""
        if self.is_always_on:
            return "validation found no cheaper policy with the success of always-on: it falls back to always-on"
        return f"validation chose lambda {self.cost_weight:g} and eta {self.threshold:.4g}"


def choose_policy(
    predicted_gains: Floats,
    predicted_costs: Floats,
    *,
    gains: Floats,
    tokens: Floats,
    cost_weights: Sequence[float],
) -> ValidationPolicy:
    """The feasible policy with the least tokens; ties by higher success, then smaller lambda, then fewer uses.

    `gains` and `tokens` are the observed changes of success and tokens when the skill is used.
    """
    best = ValidationPolicy(0.0, -math.inf, float(gains.mean()), float(tokens.mean()))
    floor = best.success_change - ROUNDING
    for weight in cost_weights:
        for policy in _policies(predicted_gains - weight * predicted_costs, gains, tokens, weight):
            if policy.success_change >= floor and _is_better(policy, best):
                best = policy
    return best


def _is_better(policy: ValidationPolicy, best: ValidationPolicy) -> bool:
    if abs(policy.token_change - best.token_change) > ROUNDING:
        return policy.token_change < best.token_change
    return policy.success_change > best.success_change + ROUNDING


def _policies(values: Floats, gains: Floats, tokens: Floats, weight: float) -> list[ValidationPolicy]:
    """Every distinct policy of one score, from no use to use everywhere."""
    order = np.argsort(-values, kind="stable")
    ranked = values[order]
    success = np.concatenate([[0.0], np.cumsum(gains[order])]) / len(values)
    spent = np.concatenate([[0.0], np.cumsum(tokens[order])]) / len(values)
    # A cut lies midway between two distinct scores, so that new scores near either side fall where it would.
    cuts = np.flatnonzero(ranked[1:] < ranked[:-1]) + 1
    thresholds = [math.inf, *((ranked[cuts - 1] + ranked[cuts]) / 2).tolist(), -math.inf]
    uses = [0, *cuts.tolist(), len(values)]
    return [
        ValidationPolicy(weight, threshold, float(success[used]), float(spent[used]))
        for threshold, used in zip(thresholds, uses, strict=True)
    ]
