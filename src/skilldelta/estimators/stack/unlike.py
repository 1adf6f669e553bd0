"""What becomes of an expectation when the target is unlike the recorded tasks of its family.

Such a task either is an odd one of the family or belongs to a family that nobody has recorded. The two are weighed by its
familiarity: tasks of the family have any familiarity equally often, tasks of other families have one near zero (on real
tasks asked under skills of other families it lay below 0.01 for 98 of 100 where the family is large).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats

_EVEN = 0.001
"""The familiarity at which both are equally likely: one target in twenty of another family, spread evenly over log steps."""

_USUAL = 0.05
"""From this familiarity on a target is one of the family. Rows that tie must not be told apart by dust."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """An expected gain, and how far the truth may lie from it, squared."""

    gain: float
    variance: float


def credit(familiarity: float) -> float:
    """How likely a target of some familiarity is one of the family; NaN, not known, has full credit."""
    if not familiarity < _USUAL:
        return 1.0
    return familiarity / (familiarity + _EVEN)


def blend(own: Expectation, new: Expectation, share: float) -> Expectation:
    """One of two expectations, the first with the probability `share`."""
    gain = share * own.gain + (1 - share) * new.gain
    variance = share * own.variance + (1 - share) * new.variance
    return Expectation(gain, variance + share * (1 - share) * (own.gain - new.gain) ** 2)


def credits_of(familiarity: Floats) -> Floats:
    """(n,) the credit of each."""
    return np.array([credit(one) for one in familiarity.tolist()])
