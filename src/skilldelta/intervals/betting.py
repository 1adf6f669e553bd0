"""Betting against candidate means: a candidate is rejected when a fixed mixture of bets on it would have grown rich.

For independent variables v in [0, 1] with mean m, the capital prod(1 + s (v - m)) has expectation at most 1 for every
stake s that is fixed beforehand, also when the variables have different means that average to m (by the inequality of
arithmetic and geometric means). So has any mixture over stakes, and Markov's inequality makes {m : capital < 1/delta} a
set of level 1 - delta (hedged capital; Waudby-Smith and Ramdas, 2024, with stakes fixed beforehand).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skilldelta.arrays import Floats, Ints
from skilldelta.intervals.neighborhood import Neighborhood, runs_of

# Each stake would be best if the outcomes had this share of m (1 - m), the variance of coin flips with the mean m.
_VARIANCES = np.array([1.0, 0.2])
# What each stake starts with; half of it bets upward and half downward.
_CAPITAL = np.array([0.85, 0.15])
# Share of the largest stake that cannot lead to debt.
_LARGEST = 0.9
# An edge is sought on a grid, and again between the two points where it was found: to one in eight million.
_GRID, _ROUNDS = 200, 3


def betting(neighborhood: Neighborhood, delta: float) -> tuple[float, float]:
    """The candidates that no bet has refuted, as an interval of gains. It contains the observed gain."""
    runs = runs_of(neighborhood)
    top = runs.coefficients.max()
    values, counts = np.unique(runs.values * runs.coefficients / top, return_counts=True)  # in [0, 1]
    bets = _Bets(values, counts, delta)
    to_gain = len(runs.values) * top
    ceiling = float((runs.coefficients / top).mean())
    return float(to_gain * bets.edge(0.0) - 1), float(to_gain * bets.edge(ceiling) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Bets:
    """Observed values in [0, 1], how often each was seen, and the risk of a false refutation."""

    values: Floats  # (d,)
    counts: Ints  # (d,)
    delta: float

    def edge(self, end: float) -> float:
        """The outermost candidate on the way from an end to the observed mean that is not refuted."""
        outside, inside = end, float(self.values @ self.counts / self.counts.sum())
        for _ in range(_ROUNDS):
            grid = np.linspace(outside, inside, _GRID + 1)
            left = ~self._refuted(grid)
            left[-1] = True  # the observed mean is never refuted; rounding must not say otherwise
            first = int(np.argmax(left))
            if first == 0:
                return outside
            outside, inside = float(grid[first - 1]), float(grid[first])
        return outside

    def _refuted(self, means: Floats) -> NDArray[np.bool_]:
        """(g,) whether the capital of the bets against each candidate has reached 1/delta."""
        safe = np.clip(means, 1e-9, 1 - 1e-9)[:, None]
        best = np.sqrt(2 * np.log(2 / self.delta) / (self.counts.sum() * _VARIANCES * safe * (1 - safe)))
        stakes = np.hstack([np.minimum(best, _LARGEST / safe), -np.minimum(best, _LARGEST / (1 - safe))])
        grown = np.log1p(stakes[:, :, None] * (self.values - means[:, None, None])) @ self.counts
        capital = np.logaddexp.reduce(grown + np.log(np.tile(_CAPITAL / 2, 2)), axis=1)
        return np.asarray(capital >= -np.log(self.delta))
