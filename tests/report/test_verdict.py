"""The summary: each verdict from the intervals that lead to it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skilldelta.evaluation.results import PanelResult, PolicyResult, Range
from skilldelta.report.verdict import default_gate, verdict


def _with(panel: PanelResult, **changes: object) -> PanelResult:
    own: PolicyResult = panel.policies["skilldelta"]
    intervals = {**own.intervals, **changes.pop("intervals", {})}  # type: ignore[dict-item]
    changed = replace(own, intervals=intervals, **changes)  # type: ignore[arg-type]
    return replace(panel, policies={**panel.policies, "skilldelta": changed})


@pytest.mark.parametrize(
    ("low", "high", "saving", "tone", "begins"),
    [
        (0.01, 0.03, 0.2, "yes", "Yes. The gate does better than always using the skill and saves 20% of tokens."),
        (0.01, 0.03, None, "yes", "Yes. The gate does better than always using the skill."),
        (-0.03, -0.01, 0.2, "trade", "Only if tokens matter."),
        (-0.03, -0.01, None, "no", "No. Always using the skill does better."),
        (-0.03, 0.01, 0.2, "yes", "Yes, to save tokens. About the same success as always using the skill"),
        (-0.03, 0.01, 0.01, "open", "Not clear yet."),
    ],
)
def test_the_verdict_follows_the_interval_and_the_saving(
    panel: PanelResult, low: float, high: float, saving: float | None, tone: str, begins: str
) -> None:
    changed = _with(panel, token_saving=saving, use_rate=0.6, intervals={"success_vs_always_on": Range(low, high)})
    found = verdict(replace(changed, off=0.5, on=0.75), "skilldelta")
    assert found.tone == tone
    assert found.headline.startswith(begins)


def test_where_the_skill_harms_on_average_the_rival_is_never_using_it(panel: PanelResult) -> None:
    changed = _with(panel, use_rate=0.3, intervals={"success_gain": Range(-0.2, -0.1)})
    found = verdict(replace(changed, off=0.8, on=0.6), "skilldelta")
    assert (found.tone, found.headline) == ("no", "No. Never using the skill does better.")
    assert "never using the skill" in found.certainty


def test_a_gate_no_better_than_never_using_the_skill_is_not_recommended_for_its_savings(panel: PanelResult) -> None:
    intervals = {"success_vs_always_on": Range(-0.02, 0.04), "success_gain": Range(-0.02, 0.03)}
    changed = _with(panel, token_saving=0.12, use_rate=0.5, success_gain=0.005, intervals=intervals)
    found = verdict(replace(changed, off=0.495, on=0.5), "skilldelta")
    assert found.tone == "open"
    assert "never is the cheapest" in found.headline


def test_the_summary_gives_rates_differences_and_savings_in_words(panel: PanelResult) -> None:
    found = verdict(_with(panel, success=0.737, use_rate=0.64, token_saving=0.36), "skilldelta")
    expected = "SkillDelta used the skill on 64% of tasks and reached 73.7%, 1.3 points below always using it (75.0%)"
    assert found.answer.startswith(expected)
    assert "saving 36% of tokens" in found.answer


def test_without_intervals_chance_is_not_ruled_out(panel: PanelResult) -> None:
    own = replace(panel.policies["skilldelta"], intervals={}, use_rate=0.5)
    found = verdict(replace(panel, policies={**panel.policies, "skilldelta": own}), "skilldelta")
    assert "chance is not ruled out" in found.certainty


def test_a_gate_whose_choices_never_mattered_is_told_from_one_without_intervals(panel: PanelResult) -> None:
    changed = _with(panel, use_rate=0.9, intervals={"success_vs_always_on": Range(0.0, 0.0)})
    found = verdict(replace(changed, off=0.5, on=0.75), "skilldelta")
    assert found.certainty.endswith(
        "Where its decisions differ from always using the skill, both outcomes were the same."
    )


def test_the_gate_is_the_stack_where_it_was_evaluated_else_the_papers_rule(panel: PanelResult) -> None:
    with_stack = replace(panel, policies={**panel.policies, "stack": panel.policies["skilldelta"]})
    assert (default_gate(panel), default_gate(with_stack)) == ("skilldelta", "stack")


def test_a_gate_that_was_not_evaluated_is_said_to_be_missing(panel: PanelResult) -> None:
    assert "was not evaluated" in verdict(panel, "self_judge").headline
