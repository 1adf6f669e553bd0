"""Figures: the numbers that are drawn, the words below them, and specifications that Vega-Lite takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import vl_convert

from skilldelta.evaluation.results import PanelResult, Range
from skilldelta.evaluation.sweeps import threshold_sweep
from skilldelta.report.figures.advantage import advantage, components
from skilldelta.report.figures.evidence_value import scaling
from skilldelta.report.figures.help_harm import help_harm
from skilldelta.report.figures.score_quality import ranking
from skilldelta.report.figures.tradeoff import thinned, tradeoff
from skilldelta.report.gathering import scaling_curves, spaced
from skilldelta.report.palette import resolve
from skilldelta.report.vega import image_spec

from .toy_panel import panel_of, support_of


def _figures(panel: PanelResult) -> Iterator[Any]:
    gate = "paper"
    yield from (ranking(panel, gate), tradeoff(panel, gate), advantage(panel, gate), components(panel, gate))
    yield from (help_harm(panel), scaling(scaling_curves(panel.support, np.random.default_rng(0)), panel.support))


@pytest.mark.parametrize("resamples", [0, 50])
@pytest.mark.parametrize("tokens", [True, False])
def test_vega_lite_takes_every_specification(resamples: int, tokens: bool) -> None:
    for figure in _figures(panel_of(support_of(tokens=tokens), resamples=resamples)):
        for plot in figure.plots:
            compiled = vl_convert.vegalite_to_vega(image_spec(plot))
            assert compiled["marks"], plot.name


def _values(figure: Any, plot: int = 0) -> list[dict[str, Any]]:
    values: list[dict[str, Any]] = figure.plots[plot].spec["data"]["values"]
    return values


def test_ranking_draws_the_scores_best_first(panel: PanelResult) -> None:
    rows = _values(ranking(panel, "paper"))
    found = [row["auroc"] for row in rows]
    assert found == sorted(found, reverse=True)
    assert {row["name"] for row in rows} == {"paper", "with_skill_only", "family_mean"}


def test_advantage_is_in_points_with_both_intervals(panel: PanelResult) -> None:
    # Uses the four sums (gain 3/4 of them) and no name: (1/8) * sum (a - 1/2) D = (1/8) * (1.5 + 1) = 5/16.
    rows = {row["name"]: row for row in _values(advantage(panel, "paper"))}
    assert rows["paper"]["advantage"] == pytest.approx(31.25)
    assert rows["paper"]["low"] <= 31.25 <= rows["paper"]["high"]
    assert "always_on" not in rows


def test_components_add_up_to_the_advantage(panel: PanelResult) -> None:
    rows = _values(components(panel, "paper"))
    parts = {row["part"]: row["value"] for row in rows if row["policy"] == "Paper's rule"}
    assert parts == {"Within families": pytest.approx(0.0), "Between families": pytest.approx(31.25)}


def test_help_and_harm_are_shares_of_a_family(panel: PanelResult) -> None:
    figure = help_harm(panel)
    rows = {row["family"]: row for row in _values(figure)}
    assert (rows["sums"]["help"], rows["sums"]["harm"]) == (0.75, 0.0)
    assert (rows["names"]["help"], rows["names"]["harm"]) == (0.0, -0.5)
    assert "helped 3 of 8 pairs (38%), harmed 2 (25%) and changed nothing in 3" in figure.words[0]
    assert "1 of 2 families does worse with it on average: names (−50.0 points)." in figure.words[0]


def test_the_trade_off_marks_the_threshold_in_use_and_both_ends(panel: PanelResult) -> None:
    figure = tradeoff(panel, "paper")
    assert figure is not None
    assert [plot.name for plot in figure.plots] == ["tradeoff-use-rate", "tradeoff-tokens"]
    own = [row for row in _values(figure) if row["policy"] == "Paper's rule"]
    assert {0.0, 1.0} <= {row["use_rate"] for row in own}
    (default,) = [row for row in own if row.get("mark") == "threshold in use"]
    assert (default["success"], default["use_rate"], default["tokens"]) == (1.0, 0.5, 200.0)


def test_only_the_gates_curve_has_a_star_and_a_triangle(panel: PanelResult) -> None:
    figure = tradeoff(panel, "family_mean")
    assert figure is not None
    assert {row["policy"] for row in _values(figure) if row.get("mark")} == {"Family mean"}
    assert len({row["policy"] for row in _values(figure)}) > 1


def test_without_tokens_the_trade_off_is_drawn_over_the_use_rate_only() -> None:
    figure = tradeoff(panel_of(support_of(tokens=False), resamples=0), "paper")
    assert figure is not None
    assert [plot.name for plot in figure.plots] == ["tradeoff-use-rate"]
    assert "tokens" not in " ".join(figure.words)


def test_a_long_sweep_is_thinned_and_keeps_what_a_reader_looks_for(rng: np.random.Generator) -> None:
    n = 3_000
    outcomes: dict[str, Any] = {
        name: np.resize(getattr(support_of(), name), n) for name in ("y0", "y1", "tokens0", "tokens1")
    }
    support = replace(
        support_of(),
        **outcomes,
        task_ids=np.arange(n).astype(str),
    )
    sweep = threshold_sweep(rng.normal(size=n), support)
    kept = thinned(sweep, 50)
    assert len(kept) <= 54
    assert {0, sweep.default, sweep.best, len(sweep) - 1} <= set(kept)


def test_evidence_curves_cover_support_neighbors_and_repetitions(panel: PanelResult) -> None:
    figure = scaling(scaling_curves(panel.support, np.random.default_rng(0)), panel.support)
    assert figure is not None
    assert [plot.name for plot in figure.plots] == ["scaling-support", "scaling-neighbors"]
    assert [row["amount"] for row in _values(figure)] == [1, 2, 3]
    assert "Repetitions: every task has 1, so there is nothing to compare." in figure.words


def test_amounts_of_evidence_are_round_and_end_at_the_limit() -> None:
    assert spaced(1) == [1]
    assert spaced(3) == [1, 2, 3]
    assert spaced(249) == [1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 249]


def test_no_curve_means_no_figure() -> None:
    assert scaling([], support_of()) is None


def test_tasks_with_more_repetitions_than_others_are_counted() -> None:
    support = replace(support_of(), r0=np.array([3, 3, 1, 1, 1, 1, 1, 1]), r1=np.array([3, 1, 2, 1, 1, 1, 1, 1]))
    figure = scaling(scaling_curves(support, np.random.default_rng(0)), support)
    assert figure is not None
    assert (
        "Repetitions: 1 to 3 runs a condition (3 of 8 tasks have more than one). "
        "A curve needs more than one of every task, so there is nothing to compare."
    ) in figure.words


def test_an_interval_around_zero_is_said_to_be_possible_chance(panel: PanelResult) -> None:
    own = replace(panel.policies["paper"], intervals={"advantage_vs_random": Range(-0.02, 0.05)})
    figure = advantage(replace(panel, policies={**panel.policies, "paper": own}), "paper")
    assert figure.words[-1].endswith("(95% interval −2.0 to +5.0), which may be chance.")


def test_images_have_colors_instead_of_roles(panel: PanelResult) -> None:
    (plot,) = ranking(panel, "paper").plots
    assert "var(--" not in str(image_spec(plot))
    assert resolve(["var(--c-paper)", 3]) == ["#0b6b66", 3]
