"""From a predicted gain to an action: plain threshold, three-way, conservative.

A decision carries its reason in words and what would change it. No evidence means skip. What is decided when routing
fails is in `advisor.failure`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, cast

from skilldelta.arrays import exceeds
from skilldelta.errors import InputError
from skilldelta.intervals import Interval
from skilldelta.nouns import plural

Action = Literal["use", "skip", "abstain"]
Rule = Literal["plain", "three-way", "conservative"]
RULES: tuple[Rule, ...] = ("plain", "three-way", "conservative")

NO_SUPPORT = "no eligible support"


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with the skill, why, and what would change it."""

    action: Action
    gain: float
    threshold: float
    reason: str
    would_change: str = ""
    is_fallback: bool = False


def decide(
    gain: float,
    *,
    threshold: float = 0.0,
    eligible: int,
    rule: Rule = "plain",
    interval: Interval | None = None,
    used: int | None = None,
) -> Decision:
    """Use, skip or abstain, from a predicted gain. Equality skips; without evidence the skill is skipped.

    Parameters:
        gain: The predicted gain.
        threshold: The skill is used where the gain is strictly larger.
        eligible: How many pairs were in scope; 0 makes the decision a fallback.
        rule: plain compares the gain, three-way and conservative its interval.
        interval: Of the gain; needed by the two other rules.
        used: How many of the eligible pairs the gain is a mean of, for the reason.

    Returns:
        The action with its reason and with what would change it.

    Raises:
        InputError: The rule is unknown, or needs an interval that is missing.

    Examples:
        >>> decide(0.2, eligible=12).action
        'use'
    """
    _check_finite(threshold)  # a cost rule may ask for more than any gain is worth
    rule = cast(Rule, rule.replace("_", "-"))  # three_way is an old spelling
    if eligible == 0:
        return Decision("skip", 0.0, threshold, NO_SUPPORT, "any paired execution in scope", is_fallback=True)
    pairs = plural(eligible, "eligible pair")
    evidence = pairs if used is None else f"{used} of {pairs}"
    if rule == "plain":
        return _plain(gain, threshold, evidence)
    if rule not in RULES:
        raise InputError(f"rule must be one of {', '.join(RULES)}, got {rule!r}", setting="rule")
    if interval is None:
        raise InputError(f"the {rule} rule needs an interval; give one, or use the plain rule")
    return _with_interval(gain, threshold, evidence, rule, interval)


def check_threshold(threshold: float) -> None:
    """Refuse a threshold outside the gains that there are."""
    _check_finite(threshold)
    if not -1 <= threshold <= 1:
        raise InputError(
            f"threshold must lie between -1 and 1, as gains do, got {threshold:g}; 5 points are 0.05",
            setting="threshold",
        )


def _check_finite(threshold: float) -> None:
    if not math.isfinite(threshold):
        raise InputError(f"threshold must be a finite number, got {threshold}", setting="threshold")


def _plain(gain: float, threshold: float, evidence: str) -> Decision:
    uses = exceeds(gain, threshold)
    relation = "above" if uses else "below" if exceeds(threshold, gain) else "equal to"
    reason = f"predicted gain {gain:+.3f} from {evidence} is {relation} the threshold {threshold:.4g}"
    needed, way = (f"of {threshold:.4g} or less", "lower") if uses else (f"above {threshold:.4g}", "higher")
    change = f"a predicted gain {needed}, at least {abs(gain - threshold):.3f} {way} than this one"
    return Decision("use" if uses else "skip", gain, threshold, reason, change)


def _with_interval(gain: float, threshold: float, evidence: str, rule: Rule, interval: Interval) -> Decision:
    action: Action
    if exceeds(interval.low, threshold):
        action, place, change = "use", "lies above", "a lower end at the threshold"
    elif not exceeds(interval.high, threshold):
        action, place, change = "skip", "lies at or below", "an upper end above it"
    else:
        action, place = "abstain" if rule == "three-way" else "skip", "contains"
        change = "more or nearer paired executions, until the interval leaves the threshold"
    band = f"the {interval.level:.0%} interval [{interval.low:+.3f}, {interval.high:+.3f}] ({interval.method})"
    reason = f"predicted gain {gain:+.3f} from {evidence}; {band} {place} the threshold {threshold:.4g}"
    return Decision(action, gain, threshold, reason, change)
