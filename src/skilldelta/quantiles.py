"""Quantiles of the beta and of Student's distribution, for intervals.

SciPy has both, but importing its special functions takes a fifth of the time of a whole `skilldelta predict`. The distribution
function is the continued fraction of the incomplete beta function, by Lentz's method; its inverse is Newton's, kept
within brackets. Tests hold both to SciPy's.
"""

from __future__ import annotations

import math
from functools import lru_cache

_TINY = 1e-300
_EPSILON = 1e-16
_STEPS = 500


@lru_cache(maxsize=4096)  # a few counts and levels come again and again
def beta_quantile(a: float, b: float, p: float) -> float:
    """The x below which a beta variable lies with probability p, for a and b above 0 and p in (0, 1)."""
    low, high, x = 0.0, 1.0, a / (a + b)
    for _ in range(_STEPS):
        excess = beta_cdf(a, b, x) - p
        low, high = (low, x) if excess > 0 else (x, high)
        slope = math.exp(_log_density(a, b, x))
        step = x - excess / slope if slope > 0 else -1.0
        following = step if low < step < high else (low + high) / 2
        if abs(following - x) <= 4e-16 * max(x, 1e-3) or following in (low, high):
            return following
        x = following
    return x


@lru_cache(maxsize=4096)
def student_quantile(freedom: float, p: float) -> float:
    """The t below which Student's variable lies with probability p in (0, 1); `freedom` need not be whole."""
    if p == 0.5:
        return 0.0
    if p < 0.5:
        return -student_quantile(freedom, 1 - p)
    # t^2 / (freedom + t^2) is a beta variable of 1/2 and freedom/2; the tail is taken from its other end.
    rest = beta_quantile(freedom / 2, 0.5, 2 * (1 - p))
    return math.sqrt(freedom * (1 - rest) / rest)


def beta_cdf(a: float, b: float, x: float) -> float:
    """The probability that a beta variable is below x."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(_log_density(a, b, x)) * x * (1 - x)
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _log_density(a: float, b: float, x: float) -> float:
    constant = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return constant + (a - 1) * math.log(x) + (b - 1) * math.log1p(-x)


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function; quick below the mean."""
    c, d = 1.0, 1 / _away(1 - (a + b) * x / (a + 1))
    deviate = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for term in (even, odd):
            d = 1 / _away(1 + term * d)
            c = _away(1 + term / c)
            change = c * d
            deviate *= change
        if abs(change - 1) < _EPSILON * 4:
            break
    return deviate


def _away(value: float) -> float:
    """Away from zero, which the method may not divide by."""
    return value if abs(value) > _TINY else _TINY
