"""Evidence of a previous version of a skill: how far it is trusted, and what the answer says."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.advisor.carried_over import Edit, carried_over, edit_cost, edits_of
from skilldelta.gate import Answer, Decision, Gate
from skilldelta.intervals import Interval
from skilldelta.predictor import PAPER
from skilldelta.records import Agent, Execution, Skill
from skilldelta.text_sketch import changed_share, text_sketch

DIGEST = "53fa" + "0" * 60


def _advice(gain: float, low: float, high: float) -> Answer:
    decision = Decision("use" if gain > 0 else "skip", gain, 0.0, f"predicted gain {gain:+.3f}", "more runs")
    return Answer(
        decision, "a", "s", "", "", "blend", PAPER, "skill", eligible=20, interval=Interval(low, high, 0.95, "blend")
    )


def test_a_small_edit_keeps_most_of_the_gain_and_is_less_sure() -> None:
    told = carried_over(_advice(0.3, 0.2, 0.4), Gate(), DIGEST, 0.04, edit_cost([]))
    assert (told.decision.action, told.certainty) == ("use", "sure")
    assert told.decision.gain == pytest.approx(0.96 * 0.3)
    assert told.interval is not None
    assert told.interval.high - told.interval.low > 0.2
    assert told.decision.reason.endswith("carried over from version 53fa…, changed 4%")
    assert told.to_dict()["carried_over"] == {"version": DIGEST, "changed": 0.04, "trust": 0.96}


def test_a_rewritten_skill_keeps_nothing_and_an_unknown_change_half() -> None:
    rewritten = carried_over(_advice(0.3, 0.2, 0.4), Gate(), DIGEST, 1.0, 1.0)
    assert (rewritten.decision.action, rewritten.decision.gain) == ("skip", 0.0)
    assert rewritten.certainty == "close to a coin flip"
    unknown = carried_over(_advice(0.3, 0.2, 0.4), Gate(), DIGEST, None, 1.0)
    assert unknown.decision.gain == pytest.approx(0.15)
    assert "changed by an unknown amount" in unknown.decision.reason


def test_the_bank_learns_from_edits_how_gains_survive() -> None:
    survived = edit_cost([Edit(0.3, 0.4, 0.4, 100)] * 3)
    lost = edit_cost([Edit(0.3, 0.4, 0.1, 100)] * 3)
    assert survived < 1.0 < lost


def test_the_cost_of_edits_is_found_on_simulated_truth() -> None:
    rng = np.random.default_rng(5)
    for true in (0.2, 1.5):
        edits = []
        for _ in range(60):
            changed, gain, tasks = rng.uniform(0.05, 0.5), rng.normal(0.2, 0.25), 40
            noise = rng.normal(0, np.sqrt(0.5 / tasks), 2)
            edits.append(Edit(changed, gain + noise[0], gain * (1 - true * changed) + noise[1], tasks))
        assert edit_cost(edits) == pytest.approx(true, abs=0.45)


def _runs(digest: str, successes: list[tuple[float, float]]) -> list[Execution]:
    runs = []
    for i, (without, with_skill) in enumerate(successes):
        runs.append(Execution(Agent("a"), "x", f"t{i}", "skip", 0, without, "s", digest))
        runs.append(Execution(Agent("a"), "x", f"t{i}", "use", 0, with_skill, "s", digest))
    return runs


def test_edits_are_consecutive_versions_on_common_tasks() -> None:
    first, second = Skill.from_text("s", "one two three four five six"), Skill.from_text("s", "one two three four nine")
    runs = _runs(first.digest, [(0, 1)] * 4) + _runs(second.digest, [(0, 1), (0, 0), (0, 1), (0, 0)])
    (edit,) = edits_of([first, second], runs)
    assert (edit.before, edit.after, edit.tasks) == (1.0, 0.5, 4)
    assert edit.changed == pytest.approx(changed_share(text_sketch(first.text), text_sketch(second.text)))
    assert edits_of([first], runs) == []


def test_sketches_tell_how_much_of_a_text_changed() -> None:
    words = [f"word{i}" for i in range(2_000)]
    before = text_sketch(" ".join(words))
    assert len(before) <= 768
    assert changed_share(before, before) == 0.0
    assert changed_share(before, text_sketch("an entirely different text about other things")) == 1.0
    edited = [*words[:1_900], *(f"new{i}" for i in range(100))]
    assert 0.01 < changed_share(before, text_sketch(" ".join(edited))) < 0.15
