"""What prediction errors cost: the terms of the bound target by target, and their means over fresh targets.

Regret itself is `metrics.regret`. Everything here needs the truth, or constants L and eps that the caller can defend, so
it is for simulated panels and for planning, never for a claim about real tasks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Flags, Floats, exceeds
from skilldelta.bounds import check_delta, hoeffding
from skilldelta.evaluation.metrics import regret
from skilldelta.predictor import Predictions
from skilldelta.support import Support


@dataclass(frozen=True, eq=False)
class LocalTerms:
    """Weighted radius and noise factor of every target; targets without support have no bound."""

    radius: Floats  # (n,)
    noise: Floats  # (n,) v_w
    supported: Flags  # (n,)

    def bounds(self, *, delta: float, smoothness: float, residual: float) -> Floats:
        """(n,) B_delta = L rho + eps + sqrt(2 log(2/delta) v); infinite without support."""
        check_delta(delta)
        total = smoothness * self.radius + residual + hoeffding(1.0, delta) * np.sqrt(self.noise)
        return np.where(self.supported, total, np.inf)


@dataclass(frozen=True, slots=True)
class MeanRegret:
    """Three numbers that never decrease: mean regret, mean gain error, and the bound on its expectation."""

    regret: float
    error: float
    bound: float


def local_terms(predictions: Predictions, support: Support) -> LocalTerms:
    """The terms of Theorem 1 for every target, from the weights that predicted it."""
    weights, rows = predictions.weights, predictions.rows
    low = np.minimum(support.r0, support.r1).astype(float)
    high = np.maximum(support.r0, support.r1).astype(float)
    # As in `bounds.noise`: pairs of repetitions first, unpaired ones after; w^2 / r where the counts are equal.
    per_row = (low * (1 / low + 1 / high) ** 2 + (high - low) / high**2) / 4
    return LocalTerms(
        radius=(weights * (1 - predictions.similarities)).sum(axis=1),
        noise=(weights**2 * np.where(rows >= 0, per_row[rows], 0.0)).sum(axis=1),
        supported=predictions.eligible > 0,
    )


def mean_regret(
    predicted: Floats,
    tau: Floats,
    terms: LocalTerms,
    *,
    threshold: float | Floats = 0.0,
    smoothness: float,
    residual: float,
) -> MeanRegret:
    """E R <= E|error| <= L E[rho] + eps + E[sqrt(v)], over supported targets.

    The first inequality holds for every sample; the second for the expectation over executions.
    """
    at = terms.supported
    return MeanRegret(
        regret=float(regret(exceeds(predicted, threshold), tau, threshold=threshold)[at].mean()),
        error=float(np.abs(predicted - tau)[at].mean()),
        bound=float(smoothness * terms.radius[at].mean() + residual + np.sqrt(terms.noise[at]).mean()),
    )


def disagreement_bound(tau: Floats, bounds: Floats, *, threshold: float | Floats = 0.0, delta: float) -> float:
    """delta + P(|tau - eta| <= B): how often the action may differ from the oracle's on a fresh target."""
    return delta + float((np.abs(tau - threshold) <= bounds).mean())


def coverage_margin_split(tau: Floats, bounds: Floats, *, threshold: float | Floats = 0.0, margin: float) -> float:
    """P(B > b) + P(|tau - eta| <= b), at least P(|tau - eta| <= B): targets badly covered, and targets hard to call."""
    return float((bounds > margin).mean() + (np.abs(tau - threshold) <= margin).mean())
