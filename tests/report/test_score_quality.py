"""Reliability: chances that come true are recognized as such, others are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from skilldelta.arrays import Floats
from skilldelta.evaluation.metrics import ReliabilityBin
from skilldelta.evaluation.results import PanelResult
from skilldelta.paper.simulation.simulated_panel import Simulation, simulate_panel
from skilldelta.predictor import predict_each
from skilldelta.report.figures.score_quality import Forecast, calibration_error, forecasts_of, reliability
from skilldelta.support import Support

from .toy_panel import panel_of


def test_brier_score_and_calibration_error_are_means_of_distances() -> None:
    forecast = Forecast("harm", np.array([0.5, 0.0, np.nan]), np.array([True, False, True]))
    bins = [ReliabilityBin(0.2, 0.3, 3, 0, 1), ReliabilityBin(0.6, 0.6, 1, 0, 1)]
    assert forecast.brier == pytest.approx(0.125)
    assert calibration_error(bins) == pytest.approx(0.075)


def test_a_bin_holds_enough_pairs_to_say_something(rng: np.random.Generator) -> None:
    few = Forecast("help", rng.random(59), rng.random(59) < 0.5)
    assert [one.count for one in few.bins] == [30, 29]


def test_chances_that_come_true_are_said_to_hold_and_others_to_be_off(rng: np.random.Generator) -> None:
    said = rng.random(4_000)
    happened = rng.random(4_000) < said
    figures = [reliability([Forecast("help", chances, happened)]) for chances in (said, 1 - said)]
    words = [figure.words[1] for figure in figures if figure]
    assert words[0].startswith("Probabilities of help hold:")
    assert words[1].startswith("Probabilities of help are off")


def test_few_pairs_are_not_called_off_for_what_may_be_chance() -> None:
    # 4, 13 and 19 of 20 against 10%, 50% and 90%: ten points off, yet within Wilson's intervals.
    happened = np.concatenate([np.arange(20) < helped for helped in (4, 13, 19)])
    figure = reliability([Forecast("help", np.repeat([0.1, 0.5, 0.9], 20), happened)])
    assert figure is not None
    assert figure.words[1].startswith("Probabilities of help hold: 3 of 3 groups lie within chance")


def _paper_scores(support: Support) -> Floats:
    return predict_each(support, "family").gains


def test_the_gates_cross_fitted_chances_are_close_on_a_simulated_panel(rng: np.random.Generator) -> None:
    panel = panel_of(simulate_panel(rng, Simulation(tasks=1_200, kind="mixed")).support, resamples=0)
    helped, harmed = forecasts_of(panel, "paper", _paper_scores)
    assert (helped.event, harmed.event) == ("help", "harm")
    assert calibration_error(helped.bins) < 0.06
    figure = reliability([helped, harmed])
    assert figure is not None
    assert [plot.name for plot in figure.plots] == ["reliability-help", "reliability-harm"]


def test_a_pairs_own_outcome_does_not_move_its_chance(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, Simulation(tasks=60, families=3)).support
    flipped = support.with_outcomes(support.y0, np.where(np.arange(60) == 7, 1 - support.y1, support.y1))
    panels = [panel_of(one, resamples=0) for one in (support, flipped)]
    chances = [forecasts_of(panel, "paper", _paper_scores)[0].chances[7] for panel in panels]
    assert chances[0] == chances[1]


def test_no_chance_means_no_figure(panel: PanelResult) -> None:
    assert reliability([]) is None
    assert reliability([Forecast("help", np.full(3, np.nan), np.ones(3, bool))]) is None
    own = replace(panel.policies["paper"], scores=None)
    assert forecasts_of(replace(panel, policies={"paper": own}), "paper") == ()
