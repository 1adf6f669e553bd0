"""The last step of every score: no gain outside [-1, 1], and a gain that would print as 0.00 is none.

Less than half a point of success is not worth a skill's tokens, and a task must not be decided by the last digits of a
pull towards the mean. Rounding takes away the error of sums from which a task was taken out.
"""

from __future__ import annotations

import numpy as np

from skilldelta.arrays import Floats

NOTHING = 0.005
_DECIMALS = 9


def reported_gains(gains: Floats) -> Floats:
    """(n,) gains as they are reported."""
    rounded = np.round(np.clip(gains, -1.0, 1.0), _DECIMALS)
    return np.where(np.abs(rounded) < NOTHING, 0.0, rounded)


def reported_gain(gain: float) -> float:
    """One gain as it is reported."""
    rounded = round(min(1.0, max(-1.0, gain)), _DECIMALS)
    return 0.0 if abs(rounded) < NOTHING else rounded
