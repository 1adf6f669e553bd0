"""What would change a decision, in sentences: only what follows from the advice itself.

A threshold that turns the decision is exact. How much more evidence would settle it is an estimate, and says so: an
interval narrows with the square root of the evidence, if the gains that come resemble those that are there.
"""

from __future__ import annotations

import math

from skilldelta.arrays import exceeds
from skilldelta.gate import Answer
from skilldelta.intervals import Interval

# Times the evidence beyond which nobody collects; nothing is said then.
_MOST = 100
# A gain nearer to the threshold than this may be on either side: no amount of evidence is promised to tell.
_SURE = 0.02


def turning_points(advice: Answer, *, familiarity_limit: float) -> tuple[str, ...]:
    """Each sentence by itself; the first is about what decided."""
    decision, interval = advice.decision, advice.interval
    if decision.is_fallback:
        needed = decision.would_change
        return (f"{needed[:1].upper()}{needed[1:]} would give the gate something to go by.",)
    first = _threshold_sentence(advice)
    if advice.familiarity is not None and advice.familiarity < familiarity_limit:
        would = "use" if exceeds(decision.gain, decision.threshold) else "skip"
        first = (
            f"The task is too unlike the recorded ones. Paired executions of tasks like this one would help most; "
            f"without the limit of {familiarity_limit:g} on familiarity the answer would be {would}."
        )
    return (first,) if interval is None else (first, _interval_sentence(advice, interval))


def _threshold_sentence(advice: Answer) -> str:
    decision = advice.decision
    if decision.action == "use":
        return f"Skip, if the threshold were {decision.gain:+.3f} or higher. It is {decision.threshold:.4g}."
    return f"Use, if the threshold were below {decision.gain:+.3f}. It is {decision.threshold:.4g}."


def _interval_sentence(advice: Answer, interval: Interval) -> str:
    """Whether a rule that asks for certainty would decide the same, and what it would need where not."""
    threshold, gain, level = advice.decision.threshold, advice.decision.gain, f"{interval.level:.0%}"
    if exceeds(interval.low, threshold) or not exceeds(interval.high, threshold):
        side = "above" if exceeds(interval.low, threshold) else "at or below"
        return (
            f"The {level} interval lies {side} the threshold, so a rule that asks for certainty would decide the same."
        )
    sentence = f"The {level} interval contains the threshold, so a rule that asks for certainty would abstain."
    times = more_evidence(gain - threshold, interval)
    if times is None:
        return sentence
    return f"{sentence} About {times} times as many pairs like these would settle it, if their gains are like these."


def more_evidence(distance: float, interval: Interval) -> int | None:
    """How many times the evidence an interval needs to leave the threshold; None where nobody can say.

    Examples:
        >>> more_evidence(0.1, Interval(-0.1, 0.3, 0.95, "exact"))
        4
    """
    if abs(distance) < _SURE:
        return None
    times = math.ceil(((interval.high - interval.low) / 2 / abs(distance)) ** 2 - 1e-9)
    return max(2, times) if times <= _MOST else None
