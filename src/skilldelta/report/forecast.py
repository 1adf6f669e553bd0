"""Probabilities of help or harm against what happened: the bins of a reliability curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from skilldelta.evaluation.metrics import Flags
from skilldelta.support import Floats

BINS = 10
FEWEST = 20
"""Tasks of a bin at least, so that an observed share says something."""
_Z = 1.959963984540054  # two-sided 95%


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """The probability of an event for every pair of a panel, made without the pair's own outcome."""

    event: Literal["help", "harm"]
    probabilities: Floats  # (n,), NaN where there is none
    happened: Flags  # (n,)
    policy: str
    """Whose probabilities these are."""


@dataclass(frozen=True, slots=True)
class Bin:
    """Pairs with similar probabilities: what was said, and how often it happened, with a Wilson 95% interval."""

    said: float
    happened: float
    low: float
    high: float
    pairs: int


def bins(forecast: Forecast) -> list[Bin]:
    """Up to ten bins of about equal size from the lowest probability to the highest; equal ones stay together."""
    known = np.isfinite(forecast.probabilities)
    said, happened = forecast.probabilities[known], forecast.happened[known].astype(np.float64)
    if not len(said):
        return []
    number = max(1, min(BINS, len(said) // FEWEST))
    edges = np.unique(np.quantile(said, np.linspace(0, 1, number + 1)[1:-1]))
    places = np.searchsorted(edges, said, side="left")
    return [_bin(said[places == place], happened[places == place]) for place in np.unique(places)]


def brier(forecast: Forecast) -> float | None:
    """Mean squared distance between what was said and what happened; None without a probability."""
    known = np.isfinite(forecast.probabilities)
    if not known.any():
        return None
    return float(((forecast.probabilities - forecast.happened)[known] ** 2).mean())


def calibration_error(found: list[Bin]) -> float:
    """Mean distance between what was said and what happened over the bins, by their size."""
    pairs = sum(one.pairs for one in found)
    return sum(one.pairs * abs(one.said - one.happened) for one in found) / pairs if pairs else math.nan


def _bin(said: Floats, happened: Floats) -> Bin:
    n, share = len(said), float(happened.mean())
    centre = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z * math.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2)) / (1 + _Z**2 / n)
    return Bin(float(said.mean()), share, max(0.0, centre - half), min(1.0, centre + half), n)
