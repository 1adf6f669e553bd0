"""Bands around the predicted gain: Hoeffding's two, and empirical Bernstein's."""

from __future__ import annotations

import math

import numpy as np

from skilldelta import bounds
from skilldelta.intervals.neighborhood import Neighborhood, runs_of

_VARIANCE_SHARE = 0.1
"""Share of delta spent on the variance estimate; the rest bounds the mean."""


def hoeffding(neighborhood: Neighborhood, delta: float) -> tuple[float, float]:
    """The execution-noise term of the paper's bound."""
    noise = bounds.noise(neighborhood.weights, neighborhood.r0, neighborhood.r1)
    return _around(neighborhood.gain, bounds.hoeffding(noise, delta))


def hoeffding_independent(neighborhood: Neighborhood, delta: float) -> tuple[float, float]:
    """The same inequality over the runs of both arms, each of which then has range 1 and not 2."""
    noise = bounds.independent_noise(neighborhood.weights, neighborhood.r0, neighborhood.r1)
    return _around(neighborhood.gain, bounds.hoeffding(noise, delta))


def empirical_bernstein(neighborhood: Neighborhood, delta: float) -> tuple[float, float]:
    """Bernstein's inequality with the sample variance in place of the true one (Maurer and Pontil, 2009).

    Summands are n c_j u_j in [0, b]; they need not be alike, since the sample variance then only overestimates. With few
    runs the price of estimating a variance makes it wider than Hoeffding's band.
    """
    runs = runs_of(neighborhood)
    n = len(runs.values)
    if n < 2:
        return hoeffding_independent(neighborhood, delta)
    summands, scale = n * runs.coefficients * runs.values, runs.scale
    deviation = math.log(2 / (delta * (1 - _VARIANCE_SHARE)))
    spread = float(np.std(summands, ddof=1)) + scale * math.sqrt(2 * math.log(1 / (delta * _VARIANCE_SHARE)) / (n - 1))
    half_width = spread * math.sqrt(2 * deviation / n) + scale * deviation / (3 * n)
    return _around(neighborhood.gain, half_width)


def _around(gain: float, half_width: float) -> tuple[float, float]:
    return gain - half_width, gain + half_width
