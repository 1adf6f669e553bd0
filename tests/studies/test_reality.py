"""Predictions beside outcomes: what counts, what is left out, and the stated rate of false alarms on simulated truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skilldelta.bank.entries import DecisionRecord, RecordedOutcome
from skilldelta.records import Agent
from skilldelta.studies.reality import (
    DecisionOutcome,
    action_lines,
    compare_with_reality,
    outcome_of,
    period_lines,
)

DAY = 86_400.0


def record(
    number: int = 1,
    success: float | None = 1.0,
    *,
    action: str = "use",
    gain: float = 0.2,
    skill: str = "units",
    pairs: int = 10_000,
    y0: float = 0.5,
    **fields: Any,
) -> DecisionRecord:
    """A decision that rests on two equal neighbors, and its outcome."""
    evidence: dict[str, Any] = {
        "estimator": "blend",
        "scope": "skill",
        "support": {"eligible": pairs},
        "neighbors": [
            {"task_id": "a", "weight": 0.5, "y0": y0, "y1": 1.0},
            {"task_id": "b", "weight": 0.5, "y0": y0, "y1": 1.0},
        ],
        **fields.pop("evidence", {}),
    }
    outcomes = () if success is None else (RecordedOutcome(number, number * DAY, success=success),)
    return DecisionRecord(
        time=number * DAY - 60,
        agent=Agent("agent"),
        skill_id=skill,
        text_digest=fields.pop("text_digest", f"text {number}"),
        action=action,
        gain=gain,
        threshold=0.0,
        reason="",
        evidence=evidence,
        decision_id=number,
        outcomes=fields.pop("outcomes", outcomes),
        **fields,
    )


def read(*records: DecisionRecord) -> list[DecisionOutcome]:
    return [one for one in map(outcome_of, records) if one is not None]


def test_a_used_skill_predicts_the_neighbors_success_plus_the_gain_and_a_skipped_one_without_it() -> None:
    used, skipped = read(record(), record(2, action="skip"))
    assert used.predicted == pytest.approx(0.7)
    assert skipped.predicted == 0.5
    (scored,) = read(record(evidence={"estimator": "relevance"}))
    assert scored.predicted == 1.0  # its score is no gain: what the neighbors reached with the skill


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"action": "abstain"}, "the skill was neither used nor skipped"),
        ({"source": "codex-shadow"}, "the skill was neither used nor skipped"),
        ({"evidence": {"applied": False}}, "the skill was neither used nor skipped"),
        ({"evidence": {"neighbors": []}}, "no prediction"),
        ({"evidence": {"neighbors": [{"task_id": "a"}]}}, "no prediction"),
    ],
)
def test_what_cannot_be_compared_is_left_out_with_its_reason(changes: dict[str, Any], reason: str) -> None:
    reality = compare_with_reality(read(record(**changes), record(2)))
    assert reality.left_out == {reason: 1}
    assert (reality.outcomes, reality.whole.number) == (2, 1)


def test_without_a_success_there_is_no_outcome_and_a_correction_counts_in_its_place() -> None:
    tokens = (RecordedOutcome(1, 5.0, tokens=10),)
    assert outcome_of(record(outcomes=tokens)) is None
    corrected = (RecordedOutcome(1, 5.0, success=1), RecordedOutcome(1, 9.0, success=0, key="b"), *tokens)
    (one,) = read(record(outcomes=corrected))
    assert (one.success, one.time) == (0.0, 5.0)


def test_a_task_that_comes_again_counts_once_and_skills_of_one_conversation_share_an_outcome() -> None:
    again = compare_with_reality(read(record(1), record(2, text_digest="text 1"), record(3)))
    assert (again.whole.number, again.whole.repeated) == (2, 1)
    shared = compare_with_reality(
        read(record(1, conversation="c"), record(2, conversation="c", skill="dates"), record(3))
    )
    assert (shared.whole.number, shared.whole.difference.number) == (3, 2)


def test_an_alarm_names_the_skill_and_the_moment() -> None:
    good = [record(at, float(at % 10 < 7), skill="good") for at in range(1, 200)]
    bad = [record(at, 0.0, skill="bad", text_digest=f"bad {at}") for at in range(200, 240)]
    reality = compare_with_reality(read(*good, *bad))
    by_skill = {one.skill: one for one in reality.skills}
    assert by_skill["good"].alarm_time is None
    assert by_skill["bad"].difference.direction == -1
    assert 205 * DAY < (by_skill["bad"].alarm_time or 0) < 220 * DAY
    assert reality.skills[0].skill == "bad"


def test_few_recorded_tasks_leave_more_open() -> None:
    rows = [record(at, float(at % 2), pairs=20) for at in range(1, 101)]
    many = [record(at, float(at % 2)) for at in range(1, 101)]
    few_margin = compare_with_reality(read(*rows)).whole.difference.margin
    assert few_margin > 0.15
    assert compare_with_reality(read(*many)).whole.difference.margin == 0.05


@pytest.mark.parametrize("evidence", [20, 80])
def test_predictions_from_few_recorded_tasks_rarely_raise_an_alarm(evidence: int, rng: np.random.Generator) -> None:
    """The bank and reality draw from the same truth; what is predicted is what the bank happened to show."""
    alarms = []
    for _ in range(150):
        truth = rng.uniform(0.2, 0.9)
        shown = rng.binomial(evidence, truth) / evidence
        happened = rng.random(150) < truth
        rows = [
            record(at + 1, float(success), action="skip", y0=shown, pairs=evidence)
            for at, success in enumerate(happened)
        ]
        alarms.append(bool(compare_with_reality(read(*rows)).alarms))
    assert np.mean(alarms) <= 0.05


def test_periods_are_as_long_as_needed_and_have_intervals() -> None:
    rows = read(*[record(at, float(at % 2), action="use" if at % 3 else "skip") for at in range(1, 61)])
    lines = period_lines(rows)
    assert {line.end - line.start for line in lines} == {7 * DAY}
    assert sum(line.number for line in lines) == 60
    assert all(line.low <= line.observed <= line.high for line in lines)
    assert [line.action for line in action_lines(rows)] == ["use", "skip"]
    assert period_lines([]) == action_lines([]) == []
