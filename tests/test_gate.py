"""The gate: strict threshold, three-way and conservative rules, fallbacks that say what they are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from skilldelta.advisor.failure import routing_failure
from skilldelta.errors import InputError
from skilldelta.gate import NO_SUPPORT, check_threshold, decide
from skilldelta.intervals import Interval


def band(low: float, high: float) -> Interval:
    return Interval(low, high, 0.95, "test")


@pytest.mark.parametrize(
    ("gain", "threshold", "action"),
    [
        (0.1, 0.0, "use"),
        (0.0, 0.0, "skip"),
        (-0.0, 0.0, "skip"),
        (-0.1, 0.0, "skip"),
        (0.25, 0.25, "skip"),
        (0.25 + 1e-9, 0.25, "use"),
        (-0.01, -0.0258794, "use"),
        (1e-9, 0.0, "use"),
    ],
)
def test_the_skill_is_used_only_strictly_above_the_threshold(gain: float, threshold: float, action: str) -> None:
    assert decide(gain, threshold=threshold, eligible=3).action == action


def test_the_reason_names_gain_evidence_and_threshold() -> None:
    reason = decide(0.3, threshold=0.1, eligible=20, used=6).reason
    assert reason == "predicted gain +0.300 from 6 of 20 eligible pairs is above the threshold 0.1"
    assert "equal to the threshold" in decide(0.1, threshold=0.1, eligible=1).reason
    assert "below the threshold" in decide(0.0, threshold=0.1, eligible=1).reason


@pytest.mark.parametrize("rule", ["plain", "three-way", "conservative"])
@pytest.mark.parametrize("threshold", [0.0, -0.5])
def test_no_support_skips_under_every_rule_and_says_that_it_is_a_fallback(rule: str, threshold: float) -> None:
    """Even at a negative threshold, which the fallback score of 0 would pass."""
    decision = decide(0.0, threshold=threshold, eligible=0, rule=rule)  # type: ignore[arg-type]
    assert (decision.action, decision.gain, decision.is_fallback) == ("skip", 0.0, True)
    assert decision.reason == NO_SUPPORT


@pytest.mark.parametrize(
    ("low", "high", "three_way", "conservative"),
    [
        (0.1, 0.5, "use", "use"),
        (0.0, 0.5, "abstain", "skip"),
        (-0.2, 0.5, "abstain", "skip"),
        (-0.5, 0.0, "skip", "skip"),
        (-0.5, -0.1, "skip", "skip"),
        (-0.5, 1e-9, "abstain", "skip"),
    ],
)
def test_rules_with_an_interval_act_only_where_it_leaves_the_threshold(
    low: float, high: float, three_way: str, conservative: str
) -> None:
    gain = (low + high) / 2
    assert decide(gain, eligible=3, rule="three-way", interval=band(low, high)).action == three_way
    assert decide(gain, eligible=3, rule="conservative", interval=band(low, high)).action == conservative


def test_a_rule_that_needs_an_interval_asks_for_it() -> None:
    with pytest.raises(InputError, match="the three-way rule needs an interval"):
        decide(0.1, eligible=3, rule="three-way")


def test_an_unknown_rule_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="rule must be one of plain, three-way, conservative, got 'bold'"):
        decide(0.1, eligible=3, rule="bold", interval=band(0, 1))  # type: ignore[arg-type]


@pytest.mark.parametrize("threshold", [math.nan, math.inf, -math.inf])
def test_a_threshold_that_is_not_finite_is_refused(threshold: float) -> None:
    with pytest.raises(InputError, match="threshold must be a finite number"):
        check_threshold(threshold)
    with pytest.raises(InputError, match="threshold must be a finite number"):
        decide(0.1, threshold=threshold, eligible=3)


@pytest.mark.parametrize("threshold", [1 / 3, -1 / 3, 0.1])
def test_equality_skips_at_any_threshold_though_averages_are_not_exact(threshold: float) -> None:
    for gain in (threshold, np.nextafter(threshold, 1), threshold + 1e-15):
        decision = decide(float(gain), threshold=threshold, eligible=3)
        assert decision.action == "skip"
        assert "equal to" in decision.reason
    assert decide(threshold + 1e-9, threshold=threshold, eligible=3).action == "use"


def test_an_interval_that_ends_at_the_threshold_up_to_rounding_does_not_pass_it() -> None:
    at = Interval(float(np.nextafter(1 / 3, 1)), 0.9, 0.95, "exact")
    assert decide(0.5, threshold=1 / 3, eligible=3, rule="conservative", interval=at).action == "skip"


def test_a_routing_failure_skips_unless_told_otherwise_and_says_why() -> None:
    failed = routing_failure("the bank is locked")
    assert (failed.action, failed.is_fallback) == ("skip", True)
    assert "the bank is locked" in failed.reason
    assert routing_failure("x", fallback="use").action == "use"
