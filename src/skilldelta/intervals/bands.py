"""Bands around the predicted gain: Hoeffding's two, and empirical Bernstein's."""

from __future__ import annotations

import math

import numpy as np

from skilldelta import bounds
from skilldelta.intervals.neighborhood import Neighborhood, runs_of

# Share of delta spent on the variance estimate; the rest bounds the mean.
_VARIANCE_SHARE = 0.02


def hoeffding(neighborhood: Neighborhood, delta: float) -> tuple[float, float]:
    """The execution-noise term of the paper's bound."""
    noise = bounds.noise(neighborhood.weights, neighborhood.r0, neighborhood.r1)
    return _around(neighborhood.gain, bounds.hoeffding(noise, delta))


def hoeffding_independent(neighborhood: Neighborhood, delta: float) -> tuple[float, float]:
    """The same inequality over the runs of both arms, each of which then has range 1 and not 2."""
    noise = bounds.independent_noise(neighborhood.weights, neighborhood.r0, neighborhood.r1)
    return _around(neighborhood.gain, bounds.hoeffding(noise, delta))


def empirical_bernstein(neighborhood: Neighborhood, delta: float) -> tuple[float, float]:
    """Bernstein's inequality with an upper limit of the variance in place of the true one (Maurer and Pontil, 2009).

    Summands are n c_j u_j in [0, b]; they need not be alike, since the sample variance then only overestimates. With few
    runs the limit is no better than what the range says, and Hoeffding's inequality is the shorter of the two. Which
    one is shorter at the true variance is no matter of chance, so the choice costs nothing.
    """
    runs = runs_of(neighborhood)
    n = len(runs.values)
    noise = bounds.independent_noise(neighborhood.weights, neighborhood.r0, neighborhood.r1)
    half_width = bounds.hoeffding(noise, (1 - _VARIANCE_SHARE) * delta)
    if n > 1:
        summands, scale = n * runs.coefficients * runs.values, runs.scale
        surplus = scale * math.sqrt(2 * math.log(1 / (_VARIANCE_SHARE * delta)) / (n - 1))
        spread = min(float(np.std(summands, ddof=1)) + surplus, scale / 2)
        deviation = math.log(2 / ((1 - _VARIANCE_SHARE) * delta))
        half_width = min(half_width, spread * math.sqrt(2 * deviation / n) + scale * deviation / (3 * n))
    return _around(neighborhood.gain, half_width)


def _around(gain: float, half_width: float) -> tuple[float, float]:
    return gain - half_width, gain + half_width
