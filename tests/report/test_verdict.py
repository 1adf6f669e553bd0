"""The summary: each verdict from the intervals that lead to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from report.toy_panel import panel_of, support_of
from skilldelta.evaluation.comparison import default_gate
from skilldelta.evaluation.results import HeldOutValue, PanelResult, PolicyResult, Range, RepeatedFolds
from skilldelta.report.verdict import summary


def _with(panel: PanelResult, **changes: object) -> PanelResult:
    """The toy panel as if it had sixty tasks: below ten no interval is believed."""
    own: PolicyResult = panel.policies["paper"]
    intervals = {**own.intervals, **changes.pop("intervals", {})}  # type: ignore[dict-item]
    changed = replace(own, intervals=intervals, **changes)  # type: ignore[arg-type]
    return replace(panel, policies={**panel.policies, "paper": changed})


@pytest.fixture(scope="module")
def panel() -> PanelResult:
    """Eight copies of the toy panel: 64 tasks, always on 75%, always off 62.5%; judged like a large one, by intervals."""
    toy = support_of()
    many = toy.rows(np.tile(np.arange(8), 8))
    return replace(panel_of(replace(many, task_ids=np.array([f"t{i}" for i in range(64)]))), repeated_folds=None)


BEATS_NEVER = {"success_gain": Range(0.03, 0.2)}


@pytest.mark.parametrize(
    ("low", "high", "saving", "tone", "begins"),
    [
        (0.01, 0.03, 0.2, "yes", "Better than always using the skill, and saves 20% of tokens:"),
        (0.01, 0.03, None, "yes", "Better than always using the skill:"),
        (-0.03, -0.01, 0.2, "trade", "Worse than always using the skill, but saves 20% of tokens:"),
        (-0.03, -0.01, None, "no", "Worse than always using the skill:"),
        (-0.02, 0.01, 0.23, "yes", "Equivalent to always using the skill, and saves 23% of tokens:"),
        (-0.02, 0.01, 0.01, "open", "Equivalent to always using the skill, which is simpler:"),
        (-0.10, 0.10, 0.23, "open", "Not enough evidence against always using the skill:"),
    ],
)
def test_the_verdict_follows_the_interval_and_the_saving(
    panel: PanelResult, low: float, high: float, saving: float | None, tone: str, begins: str
) -> None:
    intervals = {"success_vs_always_on": Range(low, high), **BEATS_NEVER}
    found = summary(_with(panel, token_saving=saving, use_rate=0.6, intervals=intervals), "paper")
    assert found.tone == tone
    assert found.headline.startswith(begins)


def test_ten_points_either_way_is_not_about_the_same(panel: PanelResult) -> None:
    intervals = {"success_vs_always_on": Range(-0.10, 0.10), **BEATS_NEVER}
    changed = _with(panel, success=0.76, token_saving=0.23, use_rate=0.6, intervals=intervals)
    assert summary(changed, "paper").headline == (
        "Not enough evidence against always using the skill: +1.0 points (95%: −10.0 to +10.0). "
        "Settling it takes more tasks than you will run, if the difference stays. It saves 23% of tokens."
    )


def _in_folds(panel: PanelResult, difference: float, spread: float) -> PanelResult:
    value = HeldOutValue(success=0.75 + difference, use_rate=0.5, difference=difference, spread=spread)
    folds = RepeatedFolds(5, 5, always_on=1.0, constant=0.75, policies={"paper": value})
    return replace(_with(panel, token_saving=None), repeated_folds=folds)


@pytest.mark.parametrize(
    ("difference", "spread", "begins"),
    [
        (0.10, 0.04, "Better than always using the skill: +10.0 points (95%: +2.0 to +18.0)."),
        (-0.10, 0.04, "Worse than always using the skill: −10.0 points (95%: −18.0 to −2.0)."),
        (0.07, 0.04, "Too small to tell from always using the skill: +7.0 points (95%: −1.0 to +15.0). About "),
        (-0.07, 0.04, "Too small to tell from always using the skill: −7.0 points (95%: −15.0 to +1.0). About "),
    ],
)
def test_in_a_small_panel_a_difference_below_twice_its_spread_is_too_small_to_tell(
    panel: PanelResult, difference: float, spread: float, begins: str
) -> None:
    assert summary(_in_folds(panel, difference, spread), "paper").headline.startswith(begins)


def test_the_numbers_of_a_small_panel_agree_with_each_other(panel: PanelResult) -> None:
    found = summary(_in_folds(panel, 0.10, 0.04), "paper")
    assert "reached 85.0%, 10.0 points above always using it (75.0%)" in found.answer
    assert "+10.0 points" in found.certainty
    assert "decided from the other four fifths" in found.certainty


def test_the_margin_is_a_setting(panel: PanelResult) -> None:
    changed = _with(
        panel, token_saving=0.2, use_rate=0.6, intervals={"success_vs_always_on": Range(-0.04, 0.03), **BEATS_NEVER}
    )
    assert summary(changed, "paper").headline.startswith("Not enough evidence")
    assert summary(replace(changed, margin=0.05), "paper").headline.startswith("Equivalent")


def test_where_the_skill_harms_on_average_the_rival_is_never_using_it(panel: PanelResult) -> None:
    harmful = panel.support.with_outcomes(panel.support.y1, panel.support.y0)
    changed = replace(_with(panel, use_rate=0.3, intervals={"success_gain": Range(-0.2, -0.1)}), support=harmful)
    found = summary(changed, "paper")
    assert found.tone == "no"
    assert found.headline.startswith("Worse than never using the skill")
    assert "never using the skill" in found.certainty


def test_a_gate_no_better_than_never_using_the_skill_is_not_recommended_for_its_savings(panel: PanelResult) -> None:
    intervals = {"success_vs_always_on": Range(-0.02, 0.01), "success_gain": Range(-0.02, 0.03)}
    changed = _with(panel, token_saving=0.12, use_rate=0.5, intervals=intervals)
    found = summary(changed, "paper")
    assert found.tone == "open"
    assert found.headline.endswith("It is not shown to beat never using the skill, which is cheapest.")


def test_the_summary_gives_rates_differences_and_savings_in_words(panel: PanelResult) -> None:
    found = summary(_with(panel, success=0.737, use_rate=0.64, token_saving=0.36), "paper")
    expected = "Paper's rule used the skill on 64% of tasks and reached 73.7%, 1.3 points below always using it (75.0%)"
    assert found.answer.startswith(expected)
    assert "saving 36% of tokens" in found.answer


def test_without_intervals_chance_is_not_ruled_out(panel: PanelResult) -> None:
    own = replace(panel.policies["paper"], intervals={}, use_rate=0.5)
    found = summary(replace(panel, policies={**panel.policies, "paper": own}), "paper")
    assert found.headline == "No verdict: intervals were not computed."
    assert "chance is not ruled out" in found.certainty


def test_one_pair_gives_no_verdict() -> None:
    alone = panel_of(support_of().rows([0]))
    assert summary(alone, "paper").headline.startswith("No verdict: one pair says nothing about the next.")


def test_a_gate_whose_choices_never_mattered_is_told_from_one_without_intervals(panel: PanelResult) -> None:
    actions = panel.policies["paper"].actions.copy()
    actions[0] = not actions[0]
    changed = _with(
        panel, success=0.75, use_rate=0.9, actions=actions, intervals={"success_vs_always_on": Range(0.0, 0.0)}
    )
    found = summary(changed, "paper")
    assert "both outcomes were the same" in found.certainty
    assert found.headline.startswith("Not enough evidence")  # 64 tasks leave room for 3 / 64


def test_the_gate_is_the_blend_where_it_was_evaluated_else_the_papers_rule(panel: PanelResult) -> None:
    with_blend = replace(panel, policies={**panel.policies, "blend": panel.policies["paper"]})
    assert (default_gate(panel), default_gate(with_blend)) == ("paper", "blend")


def test_a_gate_that_was_not_evaluated_is_said_to_be_missing(panel: PanelResult) -> None:
    assert "was not evaluated" in summary(panel, "self_judge").headline
