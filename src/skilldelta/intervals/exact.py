"""An interval from counts alone: all runs of both arms as coin flips, and how far their mean can be from what was seen.

With equal weights and equal repetitions the gain is 2 p - 1, where p is the mean success probability of the runs once
those without the skill are counted as 1 - success. The number of successes is a sum of independent flips; its tails
are lighter than the binomial's with the same mean (Hoeffding, 1956), so Clopper and Pearson's limits for p hold.

Weights are hardly ever equal. What they add, sum d mu over the arms with small d, is either bounded by its range or, at
the price of a share of delta, estimated from the same runs; the weights alone decide which. Where they differ so much that
Hoeffding's band is shorter, `is_longer_than_hoeffding` says so, again from the weights alone.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np

from skilldelta import bounds
from skilldelta.arrays import Floats
from skilldelta.intervals.neighborhood import Neighborhood
from skilldelta.quantiles import beta_quantile

# Share of delta spent where the weights' part is estimated.
_SHARE = 0.1


def exact(neighborhood: Neighborhood, delta: float) -> tuple[float, float]:
    """Clopper-Pearson limits over equally weighted runs, moved and widened by how much the weights really differ.

    gain = 2 p - 1 + sum d1 mu1 - sum d0 mu0 + 1 - 2 R0 / n, where d = w - 2 r / n in each arm, R0 is the number of runs
    without the skill and n that of all. At mu = 1/2 everything after 2 p - 1 is zero.
    """
    total = int(neighborhood.r0.sum() + neighborhood.r1.sum())
    with_skill = neighborhood.weights - 2 * neighborhood.r1 / total
    without = neighborhood.weights - 2 * neighborhood.r0 / total
    bounded = float(np.abs(with_skill).sum() + np.abs(without).sum()) / 2
    estimated = _deviation(neighborhood, with_skill, without, _SHARE * delta)
    if bounded <= estimated + _price(total, delta):
        low, high = _limits(neighborhood, total, delta)
        return low - bounded, high + bounded
    moved = with_skill @ neighborhood.y1 - without @ neighborhood.y0 + 1 - 2 * neighborhood.r0.sum() / total
    low, high = _limits(neighborhood, total, (1 - _SHARE) * delta)
    return float(low + moved - estimated), float(high + moved + estimated)


def is_longer_than_hoeffding(neighborhood: Neighborhood, delta: float) -> bool:
    """Whether, where half of the runs succeed, the independent Hoeffding band is the shorter one. Outcomes have no say."""
    half = np.full(len(neighborhood.weights), 0.5)
    even = replace(neighborhood, y0=half, y1=half)
    low, high = exact(even, delta)
    noise = bounds.independent_noise(neighborhood.weights, neighborhood.r0, neighborhood.r1)
    return high - low > 2 * bounds.hoeffding(noise, delta)


def _limits(neighborhood: Neighborhood, total: int, delta: float) -> tuple[float, float]:
    """Limits of 2 p - 1."""
    with_skill, without = neighborhood.y1 * neighborhood.r1, (1 - neighborhood.y0) * neighborhood.r0
    count = int(np.round(with_skill.sum() + without.sum()))
    low = 0.0 if count == 0 else beta_quantile(count, total - count + 1, delta / 2)
    high = 1.0 if count == total else beta_quantile(count + 1, total - count, 1 - delta / 2)
    return 2 * low - 1, 2 * high - 1


def _deviation(neighborhood: Neighborhood, with_skill: Floats, without: Floats, delta: float) -> float:
    """How far the weights' part, as observed, may lie from its expectation (Hoeffding)."""
    noise = float(with_skill**2 @ (1 / neighborhood.r1) + without**2 @ (1 / neighborhood.r0))
    return math.sqrt(math.log(2 / delta) * noise / 2)


def _price(total: int, delta: float) -> float:
    """About how much longer the limits become on each side when a share of delta is spent elsewhere."""
    normal = NormalDist()
    return (normal.inv_cdf(delta / 2) - normal.inv_cdf((1 - _SHARE) * delta / 2)) / math.sqrt(total)
