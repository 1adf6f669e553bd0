"""The paper's guarantees on a panel whose truth is known: what they promise, and what happened.

`skilldelta simulate` prints this, so that a person who plans a study sees how far the guarantees carry at the study's
size before paying for it. Everything here needs the truth, or constants L and eps that the caller can defend, so it is for
simulated panels and for planning, never for a claim about real tasks. Regret itself is `metrics.regret`.

The k-neighbor rate needs the mass of tasks near every target, at least c u^nu within the distance u. Here nu is the number of
latent axes, and c the largest constant that holds at every radius that reaches twice k tasks. The margin consequence needs
few tasks near the threshold, at most C u^alpha within u; here alpha is 1, and C the smallest constant that holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Flags, Floats, exceeds
from skilldelta.bounds import balancing_k, check_delta, hoeffding, knn_rate
from skilldelta.errors import InputError
from skilldelta.evaluation.metrics import regret
from skilldelta.paper.simulation.simulated_panel import SimulatedPanel
from skilldelta.predictor import PAPER, Predictions, Settings, predict_each
from skilldelta.support import Scope, Support

ALPHA = 1.0
# Targets of a panel whose surroundings are measured.
_TARGETS = 500


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


@dataclass(frozen=True, slots=True)
class LocalRate:
    """The error radius that k neighbors of n promise every target, and how errors kept to it."""

    n: int
    """Tasks in scope of the target that has the fewest."""
    k: int
    mass: float
    """c, as measured."""
    dimension: float
    """nu: the latent axes."""
    rate: float
    """L (2k/(cn))^(1/nu) + eps + sqrt(2 log(2/delta)/(kr))."""
    failure: float
    """The share of targets that may err by more: delta + e^(-k/4)."""
    kept: float
    """The share that did not."""
    best_k: float | None
    """The k that balances coverage and noise, before rounding; None where gains do not change with distance."""


@dataclass(frozen=True, slots=True)
class MarginSplit:
    """Targets that are badly covered against targets that are hard to call, at the half-width b where their sum is least."""

    half_width: float
    """b."""
    badly_covered: float
    """P(B > b)."""
    hard_to_call: float
    """P(|tau - eta| <= b)."""
    split: float
    """delta plus both: how often actions may differ from the oracle's."""
    constant: float | None
    """C, as measured; None where some true gain is at its threshold, so that no C will do."""
    consequence: float | None
    """delta + C b^alpha at a b that covers every target."""


@dataclass(frozen=True, slots=True)
class TheoryCheck:
    """Promises and what was observed, over targets that have support."""

    targets: int
    covered: float
    """Share of targets whose error is within B_delta; promised: at least 1 - delta."""
    mean_bound: float
    """Mean of B_delta. Above 1 it certifies nothing."""
    disagreement: float
    """Share of actions that differ from the oracle's."""
    disagreement_bound: float
    regret: MeanRegret
    acted: float
    """Share of targets on which the three-way gate does not abstain."""
    acted_wrongly: float
    """Share of targets on which it acts against the oracle; at most delta on average."""
    delta: float
    rate: LocalRate | None
    """What k neighbors promise; None where the panel is too small for the rate to hold."""
    margin: MarginSplit


def check_theory(
    panel: SimulatedPanel,
    *,
    settings: Settings = PAPER,
    scope: Scope = "family",
    threshold: float | Floats = 0.0,
    delta: float = 0.05,
) -> TheoryCheck:
    """Predict every task of a simulated panel from the others and compare with its true gain.

    The threshold may be one for each task (n,): eta(t), such as one that rises with the tokens that a skill adds.

    The simulator promises its smoothness within a family; over a wider scope the bound may fail more often than delta.
    """
    smoothness, residual = panel.settings.smoothness, panel.settings.residual
    predictions = predict_each(panel.support, scope, settings=settings)
    terms = local_terms(predictions, panel.support)
    at = terms.supported
    if not at.any():
        raise InputError(f"no simulated task has another in its {scope}; simulate more tasks, or fewer families")
    bounds = terms.bounds(delta=delta, smoothness=smoothness, residual=residual)
    predicted, tau = predictions.gains, panel.tau
    use, skip = exceeds(predicted - bounds, threshold), ~exceeds(predicted + bounds, threshold)
    best = exceeds(tau, threshold)
    wrong = (use & ~best) | (skip & best)
    return TheoryCheck(
        targets=int(at.sum()),
        covered=float((np.abs(predicted - tau) <= bounds)[at].mean()),
        mean_bound=float(bounds[at].mean()),
        disagreement=float((exceeds(predicted, threshold) != best)[at].mean()),
        disagreement_bound=disagreement_bound(tau[at], bounds[at], threshold=_at(threshold, at), delta=delta),
        regret=mean_regret(predicted, tau, terms, threshold=threshold, smoothness=smoothness, residual=residual),
        acted=float((use | skip)[at].mean()),
        acted_wrongly=float(wrong[at].mean()),
        delta=delta,
        rate=local_rate(panel, np.abs(predicted - tau)[at], settings=settings, scope=scope, delta=delta),
        margin=margin_of(tau[at], bounds[at], threshold=_at(threshold, at), delta=delta),
    )


def _at(threshold: float | Floats, rows: Flags) -> float | Floats:
    return threshold[rows] if isinstance(threshold, np.ndarray) else threshold


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


def local_rate(
    panel: SimulatedPanel, errors: Floats, *, settings: Settings, scope: Scope, delta: float
) -> LocalRate | None:
    """The rate beside the measured errors (n,); None where twice k tasks are more than some scope has."""
    surroundings = _surroundings(panel, scope, 2 * settings.k)
    if surroundings is None:
        return None
    n, mass = surroundings
    simulation = panel.settings
    constants = {"dimension": float(simulation.axes), "mass": mass, "smoothness": simulation.smoothness, "delta": delta}
    r = min(simulation.r0, simulation.r1)
    try:
        rate = knn_rate(n, settings.k, r, **constants, residual=simulation.residual)
    except InputError:
        return None
    return LocalRate(
        n=n,
        k=settings.k,
        mass=mass,
        dimension=constants["dimension"],
        rate=rate,
        failure=min(1.0, delta + math.exp(-settings.k / 4)),
        kept=float((errors <= rate).mean()),
        best_k=balancing_k(n, r, **constants) if simulation.smoothness > 0 else None,
    )


def margin_of(tau: Floats, bounds: Floats, *, threshold: float | Floats, delta: float) -> MarginSplit:
    """From true gains and bounds (n,) of supported targets; the threshold may depend on the task."""
    margins = np.sort(np.abs(tau - threshold))
    candidates = np.unique(bounds)
    splits = [coverage_margin_split(tau, bounds, threshold=threshold, margin=float(b)) for b in candidates]
    at = int(np.argmin(splits))
    b, largest = float(candidates[at]), float(candidates[-1])
    within = margins[margins <= largest]
    constant = None if len(within) and within[0] == 0 else _constant(within, len(margins))
    return MarginSplit(
        half_width=b,
        badly_covered=float((bounds > b).mean()),
        hard_to_call=float((margins <= b).mean()),
        split=min(1.0, delta + splits[at]),
        constant=constant,
        consequence=None if constant is None else min(1.0, delta + constant * largest**ALPHA),
    )


def _constant(margins: Floats, targets: int) -> float:
    """The smallest C with P(|tau - eta| <= u) <= C u^alpha: the share jumps at each margin, and C is set by the worst jump."""
    if not len(margins):
        return 0.0
    shares = np.arange(1, len(margins) + 1) / targets
    return float((shares / margins**ALPHA).max())


def _surroundings(panel: SimulatedPanel, scope: Scope, nearest: int) -> tuple[int, float] | None:
    """The size of the smallest scope, and the largest c that holds for every measured target."""
    support, dimension = panel.support, float(panel.settings.axes)
    least, mass = len(support), 1.0
    for block in support.blocks(scope):
        n = len(block) - 1
        if n < nearest:
            return None
        least = min(least, n)
        targets = block[:: max(1, len(block) * len(support) // (_TARGETS * len(block)))]
        cosines = np.sort(support.vectors[targets] @ support.vectors[block].T, axis=1)[:, ::-1]
        distances = np.clip(1 - cosines[:, 1:].astype(np.float64), 1e-12, 1.0)  # the first is the target itself
        shares = np.arange(nearest, n) / n  # just before the next task is reached
        mass = min(mass, float((shares / distances[:, nearest:] ** dimension).min(initial=1.0)))
    return least, mass
