"""Conformal intervals: how wrong were predictions for the recorded tasks, each made without its own outcome?

If a new task is like the recorded ones, its observed gain lies within the prediction plus and minus the right quantile
of those errors. Families with enough tasks are asked by themselves (Mondrian), the others together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Strings
from skilldelta.errors import InputError
from skilldelta.gate import Interval

ENOUGH = 100
"""Tasks of a family before it is asked by itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Residuals:
    """Absolute leave-one-out errors of a panel: |observed gain - gain predicted without it|, by family."""

    errors: Floats  # (n,)
    families: Strings  # (n,)

    @classmethod
    def of(cls, predicted: Floats, observed: Floats, families: Strings) -> Residuals:
        """Errors of leave-one-out predictions."""
        return cls(np.abs(observed - predicted), families)


def conformal(gain: float, residuals: Residuals, *, family: str = "", level: float = 0.95) -> Interval:
    """Promise: covers the gain that one more recorded pair would show, for tasks exchangeable with the recorded ones.

    The method's name says whether the family was asked by itself.
    """
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level}", setting="level")
    own = residuals.errors[residuals.families == family] if family else np.empty(0)
    by_family = len(own) >= ENOUGH
    errors = own if by_family else residuals.errors
    half_width = _quantile(errors, level)
    return Interval(
        max(-1.0, gain - half_width),
        min(1.0, gain + half_width),
        level,
        "conformal_by_family" if by_family else "conformal",
    )


def _quantile(errors: Floats, level: float) -> float:
    """The ceil((n + 1) level)-th smallest error; with too few errors for the level, everything is possible."""
    rank = math.ceil((len(errors) + 1) * level)
    if rank > len(errors):
        return 2.0
    return float(np.partition(errors, rank - 1)[rank - 1])
