"""How sure a decision is, in words."""

from __future__ import annotations

import pytest

from skilldelta.gate.certainty import certainty_of, chance_above
from skilldelta.intervals import Interval


def _interval(low: float, high: float, level: float = 0.95) -> Interval:
    return Interval(low, high, level, "exact")


@pytest.mark.parametrize(
    ("action", "gain", "interval", "certainty"),
    [
        ("use", 0.2, (0.05, 0.35), "sure"),
        ("skip", -0.2, (-0.35, -0.05), "sure"),
        ("use", 0.1, (-0.1, 0.3), "leaning"),
        ("use", 0.041, (-0.754, 0.837), "close to a coin flip"),
        ("skip", 0.0, (-0.5, 0.5), "close to a coin flip"),
        ("skip", 0.1, (-0.1, 0.3), "close to a coin flip"),  # a cautious rule skips against the likelier side
        ("abstain", 0.1, (-0.1, 0.3), "leaning"),
    ],
)
def test_a_decision_says_how_sure_it_is(
    action: str, gain: float, interval: tuple[float, float], certainty: str
) -> None:
    assert certainty_of(action, gain, 0.0, _interval(*interval)) == certainty  # type: ignore[arg-type]


def test_without_evidence_there_is_no_certainty() -> None:
    assert certainty_of("skip", 0.0, 0.0, None) is None


def test_the_threshold_moves_the_sides() -> None:
    assert certainty_of("use", 0.2, 0.1, _interval(0.05, 0.35)) == "leaning"
    assert certainty_of("skip", 0.2, 0.4, _interval(0.05, 0.35)) == "sure"


def test_sure_means_95_percent_whatever_the_level_of_the_interval() -> None:
    # A 50% interval above zero is far from sure; the same gain has a 95% interval that contains zero.
    assert certainty_of("use", 0.1, 0.0, _interval(0.05, 0.15, level=0.5)) == "leaning"


def test_the_chance_at_an_end_is_what_the_level_says() -> None:
    assert chance_above(0.0, 0.1, _interval(0.0, 0.3)) == pytest.approx(0.975)
    assert chance_above(0.3, 0.1, _interval(0.0, 0.3)) == pytest.approx(0.025)
    assert chance_above(0.1, 0.1, _interval(0.0, 0.3)) == pytest.approx(0.5)


def test_a_gain_outside_its_own_interval_is_judged_by_the_interval() -> None:
    assert certainty_of("use", 0.5, 0.0, _interval(-0.3, 0.3)) == "close to a coin flip"
    assert certainty_of("use", 0.5, 0.0, _interval(0.2, 0.2)) == "sure"
