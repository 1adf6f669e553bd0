"""What the paper's rates promise a simulated panel, with the constants that the panel itself has.

The k-neighbour rate needs the mass of tasks near every target, at least c u^nu within the distance u. Here nu is the number of
latent axes, and c the largest constant that holds at every radius that reaches twice k tasks. The margin consequence needs
few tasks near the threshold, at most C u^alpha within u; here alpha is 1, and C the smallest constant that holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.bounds import balancing_k, knn_rate
from skilldelta.errors import InputError
from skilldelta.evaluation.simulation.regret import coverage_margin_split
from skilldelta.evaluation.simulation.simulated_panel import SimulatedPanel
from skilldelta.predictor import Settings
from skilldelta.support import Scope

ALPHA = 1.0
_TARGETS = 500
"""Targets of a panel whose surroundings are measured."""


@dataclass(frozen=True, slots=True)
class LocalRate:
    """The error radius that k neighbours of n promise every target, and how errors kept to it."""

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


def local_rate(
    panel: SimulatedPanel, errors: Floats, *, settings: Settings, scope: Scope, delta: float
) -> LocalRate | None:
    """The rate beside the measured errors (n,); None where twice k tasks are more than some scope has."""
    surroundings = _surroundings(panel, scope, 2 * settings.k)
    if surroundings is None:
        return None
    n, mass = surroundings
    simulation = panel.settings
    known = {"dimension": float(simulation.axes), "mass": mass, "smoothness": simulation.smoothness, "delta": delta}
    r = min(simulation.r0, simulation.r1)
    try:
        rate = knn_rate(n, settings.k, r, **known, residual=simulation.residual)
    except InputError:
        return None
    return LocalRate(
        n=n,
        k=settings.k,
        mass=mass,
        dimension=known["dimension"],
        rate=rate,
        failure=min(1.0, delta + math.exp(-settings.k / 4)),
        kept=float((errors <= rate).mean()),
        best_k=balancing_k(n, r, **known) if simulation.smoothness > 0 else None,
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
        asked = block[:: max(1, len(block) * len(support) // (_TARGETS * len(block)))]
        cosines = np.sort(support.vectors[asked] @ support.vectors[block].T, axis=1)[:, ::-1]
        distances = np.clip(1 - cosines[:, 1:].astype(np.float64), 1e-12, 1.0)  # the first is the target itself
        shares = np.arange(nearest, n) / n  # just before the next task is reached
        mass = min(mass, float((shares / distances[:, nearest:] ** dimension).min(initial=1.0)))
    return least, mass
