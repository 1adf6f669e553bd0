"""What would change a decision: thresholds are exact, amounts of evidence are estimates, and nothing else is promised."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skilldelta.advisor.turning_points import more_evidence, turning_points
from skilldelta.gate import Answer, decide
from skilldelta.intervals import Interval
from skilldelta.predictor import PAPER


def advice(gain: float, interval: Interval | None, *, threshold: float = 0.0, familiarity: float = 0.5) -> Answer:
    return Answer(
        decision=decide(gain, threshold=threshold, eligible=9),
        agent="a",
        skill="s",
        suite="",
        family="",
        estimator="blend",
        settings=PAPER,
        scope="skill",
        eligible=9,
        neighbors=(),
        effective=None,
        radius=None,
        familiarity=familiarity,
        interval=interval,
    )


def said(found: Answer, limit: float = 0.01) -> str:
    return " ".join(turning_points(found, familiarity_limit=limit))


def test_the_threshold_that_turns_a_decision_turns_it() -> None:
    assert "Skip, if the threshold were +0.310 or higher" in said(advice(0.31, None))
    assert decide(0.31, threshold=0.31, eligible=9).action == "skip"
    assert "Use, if the threshold were below -0.040" in said(advice(-0.04, None))
    assert decide(-0.04, threshold=-0.041, eligible=9).action == "use"


def test_an_interval_off_the_threshold_settles_it() -> None:
    assert "lies above the threshold" in said(advice(0.3, Interval(0.1, 0.5, 0.95, "blend")))
    assert "lies at or below the threshold" in said(advice(-0.3, Interval(-0.5, 0.0, 0.95, "blend")))


def test_an_interval_on_the_threshold_says_how_much_more_evidence_would_settle_it() -> None:
    text = said(advice(0.1, Interval(-0.1, 0.3, 0.95, "blend")))
    assert "contains the threshold" in text
    assert "About 4 times as many pairs" in text


@pytest.mark.parametrize(("distance", "half"), [(0.01, 0.2), (0.03, 0.9)])
def test_no_amount_is_named_where_nobody_can_say(distance: float, half: float) -> None:
    """A gain at the threshold may be on either side; hundreds of times the evidence is no advice."""
    assert more_evidence(distance, Interval(distance - half, distance + half, 0.95, "blend")) is None


def test_an_unlike_task_is_told_what_the_limit_hid() -> None:
    text = said(advice(0.3, None, familiarity=0.001))
    assert "too unlike" in text
    assert "the answer would be use" in text
    assert "too unlike" not in said(advice(0.3, None, familiarity=0.001), limit=0.0)


def test_without_evidence_any_pair_would_help() -> None:
    nothing = replace(advice(0.0, None), decision=decide(0.0, eligible=0))
    assert turning_points(nothing, familiarity_limit=0.01) == (
        "Any paired execution in scope would give the gate something to go by.",
    )
