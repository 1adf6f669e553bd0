"""What a prediction's error is made of: coverage, representation, execution noise (Theorem 1 and its appendix).

B_delta = L * radius + eps + sqrt(2 log(2/delta) * noise). Distances are 1 - cosine. Tighter intervals that the paper
leaves open stand in `intervals`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Ints
from skilldelta.errors import InputError


@dataclass(frozen=True, slots=True)
class Evidence:
    """How much, and how near, the evidence behind one prediction is."""

    radius: float
    effective: float
    noise: float


def evidence(weights: Floats, similarities: Floats, r0: Ints, r1: Ints) -> Evidence:
    """Radius, effective support and noise factor of one weighted neighborhood (k' entries each)."""
    return Evidence(
        radius=radius(weights, similarities),
        effective=effective_support(weights),
        noise=noise(weights, r0, r1),
    )


def radius(weights: Floats, similarities: Floats) -> float:
    """rho_w: the weighted mean distance to the neighbors, with distance 1 - cosine."""
    return float(weights @ (1.0 - similarities))


def effective_support(weights: Floats) -> float:
    """n_eff: how many equally weighted neighbors would average as well; 0 without neighbors."""
    squares = float(weights @ weights)
    return 1.0 / squares if squares else 0.0


def noise(weights: Floats, r0: Ints, r1: Ints) -> float:
    """v_w = sum of w^2 / r, generalized to unequal repetitions.

    With m = min(r0, r1) paired repetitions and the rest unpaired, the summands of a neighbor have ranges
    w (1/r0 + 1/r1), m times, and w / max(r0, r1), otherwise; at r0 = r1 = r this is the paper's w^2 / r.
    """
    low, high = np.minimum(r0, r1).astype(float), np.maximum(r0, r1).astype(float)
    squared_ranges = low * (1 / low + 1 / high) ** 2 + (high - low) / high**2
    return float(weights**2 @ (squared_ranges / 4))


def independent_noise(weights: Floats, r0: Ints, r1: Ints) -> float:
    """The noise factor when the two conditions are run independently: half the paper's at r0 = r1."""
    return float(weights**2 @ (1 / r0 + 1 / r1)) / 4


def hoeffding(noise_factor: float, delta: float) -> float:
    """Half-width sqrt(2 log(2/delta) v): the execution-noise term of the bound."""
    check_delta(delta)
    return math.sqrt(2 * math.log(2 / delta) * noise_factor)


def error_bound(
    *, radius: float, noise: float, delta: float = 0.05, smoothness: float = 0.0, residual: float = 0.0
) -> float:
    """B_delta of the paper; `smoothness` is L and `residual` is eps, both 0 unless the caller can defend other values."""
    return smoothness * radius + residual + hoeffding(noise, delta)


def knn_rate(
    n: int,
    k: int,
    r: int,
    *,
    dimension: float,
    mass: float,
    smoothness: float,
    residual: float = 0.0,
    delta: float = 0.05,
) -> float:
    """The k-neighbor error radius: L (2k/(cn))^(1/nu) + eps + sqrt(2 log(2/delta)/(kr)); coverage of radius 1 at most.

    It holds with probability at least 1 - delta - exp(-k/4) where source mass near every target is at least c u^nu.
    """
    coverage = float((2 * k / (mass * n)) ** (1 / dimension))
    if coverage > 1:
        raise InputError(f"the rate needs 2k <= c n, got k={k}, c={mass}, n={n}; use fewer neighbors or more support")
    return smoothness * coverage + residual + hoeffding(1 / (k * r), delta)


def balancing_k(n: int, r: int, *, dimension: float, mass: float, smoothness: float, delta: float = 0.05) -> float:
    """The k at which `knn_rate` is least, before rounding; the rate there is of order (nr)^(-1/(nu+2)) for fixed delta.

    It need not be feasible: the rate holds for 1 <= k <= c n / 2.
    """
    check_delta(delta)
    pull = math.sqrt(2 * math.log(2 / delta) / r) * dimension / (2 * smoothness)
    return float((pull * (mass * n / 2) ** (1 / dimension)) ** (2 * dimension / (dimension + 2)))


def check_delta(delta: float) -> None:
    """Refuse a failure probability outside (0, 1)."""
    if not 0 < delta < 1:
        raise InputError(f"delta must lie between 0 and 1, got {delta}")
