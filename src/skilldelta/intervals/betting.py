"""Betting against candidate means: a candidate is rejected when a fixed mixture of bets on it would have grown rich.

For independent variables v in [0, 1] with mean m, the capital prod(1 + s (v - m)) has expectation at most 1 for every
fixed stake s, also when the variables have different means that average to m (by the inequality of arithmetic and
geometric means). So has any mixture over stakes, and Markov's inequality makes {m : capital < 1/delta} an interval of
level 1 - delta (hedged capital; Waudby-Smith and Ramdas, 2024, with stakes fixed beforehand).
"""

from __future__ import annotations

import numpy as np

from skilldelta.intervals.neighborhood import Neighborhood, runs_of
from skilldelta.support import Floats

_VARIANCES = np.array([0.25, 0.08, 0.02])
"""Each stake would be best if the outcomes had this variance; all get equal capital, upward and downward."""
_LARGEST = 0.9
"""Share of the largest stake that cannot lead to debt."""
_STEPS = 40


def betting(neighborhood: Neighborhood, delta: float) -> tuple[float, float]:
    """The candidates that no bet has refuted, as an interval of gains. It contains the observed gain."""
    runs = runs_of(neighborhood)
    top = runs.coefficients.max()
    values = runs.values * runs.coefficients / top  # in [0, 1]
    stakes = np.sqrt(2 * np.log(2 / delta) / (len(values) * _VARIANCES))
    to_gain = len(values) * top
    ceiling = float((runs.coefficients / top).mean())
    low = _edge(values, stakes, 0.0, delta)
    high = _edge(values, stakes, ceiling, delta)
    return float(to_gain * low - 1), float(to_gain * high - 1)


def _edge(values: Floats, stakes: Floats, outside: float, delta: float) -> float:
    """The last candidate between the observed mean and an end that is not refuted; the capital grows toward the end."""
    inside = float(values.mean())
    if _log_capital(values, stakes, outside) < -np.log(delta):
        return outside
    for _ in range(_STEPS):
        middle = (inside + outside) / 2
        if _log_capital(values, stakes, middle) < -np.log(delta):
            inside = middle
        else:
            outside = middle
    return outside


def _log_capital(values: Floats, stakes: Floats, mean: float) -> float:
    """Log of the mean capital over all stakes, up and down; very large where the candidate is impossible."""
    gains = values - mean
    up = np.minimum(stakes, _LARGEST / max(mean, 1e-12))
    down = -np.minimum(stakes, _LARGEST / max(1 - mean, 1e-12))
    logs = np.log1p(np.concatenate([up, down])[:, None] * gains).sum(axis=1)
    peak = logs.max()
    return float(peak + np.log(np.exp(logs - peak).mean()))
