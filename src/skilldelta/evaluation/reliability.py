"""Do tasks that were called 70% likely to be helped get help seven times in ten? The data of a reliability curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from skilldelta.arrays import Flags, Floats, tie_rounding
from skilldelta.errors import InputError


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Tasks of about one predicted chance, and how often it came true."""

    predicted: float
    """Mean predicted chance."""
    observed: float
    """Share of tasks where it happened."""
    count: int
    low: float
    """Wilson interval of the observed share."""
    high: float

    @property
    def holds(self) -> bool:
        """Whether the predicted chance lies within the interval of what was observed."""
        return self.low <= self.predicted <= self.high


def reliability_curve(
    predicted: Floats, happened: Flags, *, bins: int = 10, level: float = 0.95
) -> tuple[ReliabilityBin, ...]:
    """Bins of about equal size by rising chance; equal chances share a bin, NaN is left out, no rows give no bins."""
    if bins < 1:
        raise InputError(f"bins must be at least 1, got {bins}")
    known = np.isfinite(predicted)
    values, outcomes = predicted[known], happened[known]
    # A tied chance takes the place of its first row, so that no tie is cut apart.
    place = np.searchsorted(np.sort(tie_rounding(values)), tie_rounding(values), side="left")
    bin_of = place * bins // max(1, len(values))
    return tuple(_bin(values[bin_of == b], outcomes[bin_of == b], level) for b in np.unique(bin_of))


def wilson_interval(successes: int, count: int, *, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share; of nothing it is [0, 1]."""
    if not count:
        return 0.0, 1.0
    found = binomtest(successes, count).proportion_ci(level, method="wilson")
    return float(found.low), float(found.high)


def _bin(predicted: Floats, happened: Flags, level: float) -> ReliabilityBin:
    count, successes = len(predicted), int(happened.sum())
    low, high = wilson_interval(successes, count, level=level)
    return ReliabilityBin(float(predicted.mean()), successes / count, count, low, high)
