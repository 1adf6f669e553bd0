"""How far tasks like the target may depart from their family's level in a way that the data have not shown yet.

The ridge regression over meaning is the mean of a posterior; this is its variance. It is small among the recorded tasks
and grows with the distance from them, up to what departures may amount to before any outcome is seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Vectors
from skilldelta.estimators.stack.precision import UNIT_VARIANCE
from skilldelta.estimators.stack.slopes import SIGNAL

UNSEEN = SIGNAL * UNIT_VARIANCE
"""The variance of departures in a family of which nothing is known."""

_PRIOR_ROWS = 10.0
"""A family's own noise counts against the typical one as if that had been seen on this many rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Trend:
    """The posterior covariance of a family's slopes."""

    centre: Floats  # (p,)
    covariance: Floats  # (p, p)

    @classmethod
    def of(cls, features: Floats, gains: Floats, weights: Floats) -> Trend:
        """From all rows of a family: features (n, p), gains and weights (n,)."""
        centre = np.average(features, axis=0, weights=weights)
        rows = features - centre
        penalty = max(float(np.vecdot(rows, rows).mean()), 1e-12) / SIGNAL
        errors = gains - np.average(gains, weights=weights)
        noise = (_PRIOR_ROWS * UNIT_VARIANCE + weights @ errors**2) / (_PRIOR_ROWS + len(rows))
        precision = (rows * weights[:, None]).T @ rows + penalty * np.eye(rows.shape[1])
        return cls(centre, noise * np.linalg.inv(precision))

    def variance(self, features: Floats | Vectors) -> float:
        """Of the departure of tasks with these features (p,); never more than outcomes in [0, 1] allow."""
        away = features - self.centre
        return min(float(away @ self.covariance @ away), 1.0)
