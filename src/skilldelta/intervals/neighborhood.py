"""The evidence behind one prediction, as intervals need it: weights, and the runs of both arms of each neighbor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Neighborhood:
    """Weighted neighbors with their mean outcomes and counts. Weights sum to 1 and were chosen without outcomes."""

    weights: Floats  # (k,)
    y0: Floats  # (k,)
    y1: Floats  # (k,)
    r0: Ints  # (k,)
    r1: Ints  # (k,)

    @property
    def gain(self) -> float:
        """The predicted gain: the weighted mean of y1 - y0."""
        return float(self.weights @ (self.y1 - self.y0))

    @property
    def is_binary(self) -> bool:
        """Whether every mean is that of 0/1 outcomes, so that the runs themselves are known up to their order."""
        counts = np.concatenate([self.y0 * self.r0, self.y1 * self.r1])
        return bool(np.allclose(counts, np.round(counts), atol=1e-6))


@dataclass(frozen=True, slots=True, eq=False)
class WeightedRuns:
    """Every run of both arms as one independent variable in [0, 1] that rises with the gain.

    A run without the skill enters as 1 - success. With coefficients c, sum(c * value) = 1 + gain, and sum(c) = 2.
    """

    values: Floats  # (n,)
    coefficients: Floats  # (n,)

    @property
    def scale(self) -> float:
        """The range of n times one summand: n * max(c). It is 2 when all runs weigh the same."""
        return float(len(self.values) * self.coefficients.max())


def runs_of(neighborhood: Neighborhood) -> WeightedRuns:
    """The runs behind the means. Means that are not of 0/1 outcomes enter as r equal runs at their mean.

    That keeps sum and range, which is all that the bounds on a mean use; a variance estimate would be too small, so
    bounds that estimate a variance take each neighbor's arm as one variable then.
    """
    binary = neighborhood.is_binary
    values, coefficients = [], []
    arms = ((neighborhood.y1, neighborhood.r1, False), (neighborhood.y0, neighborhood.r0, True))
    for means, counts, flip in arms:
        for mean, count, weight in zip(means.tolist(), counts.tolist(), neighborhood.weights.tolist(), strict=True):
            if weight <= 0:
                continue
            if binary:
                successes = round(mean * count)
                outcomes = np.concatenate([np.ones(successes), np.zeros(count - successes)])
            else:
                outcomes = np.array([mean])
            values.append(1 - outcomes if flip else outcomes)
            coefficients.append(np.full(len(outcomes), weight / count if binary else weight))
    return WeightedRuns(np.concatenate(values), np.concatenate(coefficients))
