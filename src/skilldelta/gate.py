"""From a predicted gain to an action: plain threshold, three-way, conservative, and what happens when routing fails.

A decision carries its reason in words and what would change it. No evidence means skip; a routing failure means the
configured fallback, skip unless said otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from skilldelta.arrays import exceeds
from skilldelta.errors import InputError
from skilldelta.nouns import plural

Action = Literal["use", "skip", "abstain"]
Rule = Literal["plain", "three_way", "conservative"]
RULES: tuple[Rule, ...] = ("plain", "three_way", "conservative")

NO_SUPPORT = "no eligible support"


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval for the expected gain, and how it was made."""

    low: float
    high: float
    level: float
    method: str


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
    """The gate. Equality skips; empty support skips and says that the gain of 0 is a fallback."""
    check_threshold(threshold)
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


def unlike(decision: Decision, familiarity: float | None, limit: float, rule: Rule) -> Decision:
    """The decision; or skip, under the three-way rule abstain, where the task is less familiar than the limit."""
    if familiarity is None or familiarity >= limit:
        return decision
    found = f"{familiarity:.3f}" if familiarity >= 0.0005 else "below 0.001"
    reason = (
        f"the task is unlike the recorded ones (familiarity {found}, the limit is {limit:.4g}), "
        f"so the predicted gain {decision.gain:+.3f} is little more than a guess"
    )
    action: Action = "abstain" if rule == "three_way" else "skip"
    return replace(
        decision,
        action=action,
        reason=reason,
        would_change="paired executions of tasks like this one, or a lower limit",
    )


def check_familiarity_limit(limit: float) -> None:
    """Refuse a limit that is not a share."""
    if not 0 <= limit <= 1:
        raise InputError(f"familiarity_limit must lie between 0 and 1, got {limit}", setting="familiarity_limit")


def routing_failure(error: str, *, threshold: float = 0.0, fallback: Action = "skip") -> Decision:
    """The decision when the question could not be answered at all."""
    reason = f"routing failed ({error}); the configured fallback is {fallback}"
    return Decision(fallback, 0.0, threshold, reason, "an end of the failure", is_fallback=True)


def check_threshold(threshold: float) -> None:
    """Refuse a threshold that no gain can be compared with."""
    if not math.isfinite(threshold):
        raise InputError(f"threshold must be a finite number, got {threshold}", setting="threshold")


def _plain(gain: float, threshold: float, evidence: str) -> Decision:
    action: Action = "use" if exceeds(gain, threshold) else "skip"
    relation = "above" if action == "use" else "below" if exceeds(threshold, gain) else "equal to"
    reason = f"predicted gain {gain:+.3f} from {evidence} is {relation} the threshold {threshold:.4g}"
    needed = f"of {threshold:.4g} or less" if action == "use" else f"above {threshold:.4g}"
    way = "lower" if action == "use" else "higher"
    return Decision(
        action,
        gain,
        threshold,
        reason,
        f"a predicted gain {needed}, at least {abs(gain - threshold):.3f} {way} than this one",
    )


def _with_interval(gain: float, threshold: float, evidence: str, rule: Rule, interval: Interval) -> Decision:
    band = f"the {interval.level:.0%} interval [{interval.low:+.3f}, {interval.high:+.3f}] ({interval.method})"
    head = f"predicted gain {gain:+.3f} from {evidence}; {band}"
    if exceeds(interval.low, threshold):
        return Decision(
            "use",
            gain,
            threshold,
            f"{head} lies above the threshold {threshold:.4g}",
            "a lower end at the threshold",
        )
    if not exceeds(interval.high, threshold):
        return Decision(
            "skip",
            gain,
            threshold,
            f"{head} lies at or below the threshold {threshold:.4g}",
            "an upper end above it",
        )
    more = "more or nearer paired executions, until the interval leaves the threshold"
    action: Action = "abstain" if rule == "three_way" else "skip"
    return Decision(action, gain, threshold, f"{head} contains the threshold {threshold:.4g}", more)
