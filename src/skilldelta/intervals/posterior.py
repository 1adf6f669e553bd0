"""The interval of an estimator that knows how far its own gain may be wrong: the stack."""

from __future__ import annotations

from skilldelta.errors import InputError
from skilldelta.gate import Interval
from skilldelta.quantiles import student_quantile

STACK = "stack"


def posterior(gain: float, *, deviation: float, freedom: float, level: float = 0.95) -> Interval:
    """Promise: covers the expected gain of tasks like the target, where gains follow level and trend of a family.

    The interval is symmetric around the gain until it meets the ends of [-1, 1], so the gain always lies in it.
    """
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level}", setting="level")
    half_width = student_quantile(freedom, (1 + level) / 2) * deviation
    return Interval(max(-1.0, gain - half_width), min(1.0, gain + half_width), level, STACK)
