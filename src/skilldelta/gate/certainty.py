"""How sure a decision is, in words: sure, leaning, close to a coin flip.

A decision has two sides, gains above the threshold and gains at or below it. *sure* means that the whole 95% interval of the
gain lies on the side of the action; *leaning* that this side has a probability of at least 3 in 4; anything less is close to
a coin flip. A decision without evidence has no certainty.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Literal

from skilldelta.gate.decision import Action
from skilldelta.intervals import Interval

Certainty = Literal["sure", "leaning", "close to a coin flip"]

_LEANING = 0.75
_SURE = 0.975  # one end of a 95% interval


def certainty_of(action: Action, gain: float, threshold: float, interval: Interval | None) -> Certainty | None:
    """The certainty of an action, or of the likelier side where the gate abstains; None without an interval.

    >>> certainty_of("use", 0.2, 0.0, Interval(0.05, 0.35, 0.95, "blend"))
    'sure'
    >>> certainty_of("use", 0.041, 0.0, Interval(-0.754, 0.837, 0.95, "blend"))
    'close to a coin flip'
    """
    if interval is None:
        return None
    above = chance_above(threshold, gain, interval)
    side = {"use": above, "skip": 1 - above, "abstain": max(above, 1 - above)}[action]
    if side >= _SURE:
        return "sure"
    return "leaning" if side >= _LEANING else "close to a coin flip"


def chance_above(threshold: float, gain: float, interval: Interval) -> float:
    """The probability that the expected gain exceeds the threshold: a normal curve on each side of the gain.

    At the ends of the interval it is exactly what the interval's level says, whatever the level and the method.
    """
    low, high = interval.low, interval.high
    if low >= high:
        return float(low > threshold)
    if not low < gain < high:  # made from other evidence than its interval, which then speaks alone
        gain = (low + high) / 2
    reach = NormalDist().inv_cdf((1 + interval.level) / 2)
    deviation = (gain - low if threshold < gain else high - gain) / reach
    return 1 - NormalDist(gain, deviation).cdf(threshold)
