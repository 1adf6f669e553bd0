"""When two numbers are one: the only place that says how large rounding error may be, and that equality skips.

Averages of equal gains differ in their last digits, by the weights and by the order of a sum. Every comparison of a score
with a threshold goes through `exceeds`, in a decision as in an evaluation, so that they cannot disagree.
"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import NDArray

_DECIMALS = 12
ROUNDING = 10.0**-_DECIMALS
"""Differences up to this are rounding error."""


def tie_rounding(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values with their rounding error removed: averages of equal gains must tie whatever their weights."""
    rounded: NDArray[np.float64] = np.round(values, _DECIMALS)
    return rounded


@overload
def exceeds(score: float, threshold: float) -> bool: ...
@overload
def exceeds(score: NDArray[np.float64], threshold: float | NDArray[np.float64]) -> NDArray[np.bool_]: ...
def exceeds(score: float | NDArray[np.float64], threshold: float | NDArray[np.float64]) -> bool | NDArray[np.bool_]:
    """Whether a score is above a threshold by more than rounding error; equality is not enough, and NaN never is."""
    with np.errstate(over="ignore"):  # a threshold too large to be rounded is above every score all the same
        above = np.round(score, _DECIMALS) > np.round(threshold, _DECIMALS)
    return above if isinstance(above, np.ndarray) else bool(above)
