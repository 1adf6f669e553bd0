"""Reliability: bins that can be counted by hand, and calibrated probabilities that are recognised as such."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.report.figures.reliability import reliability
from skilldelta.report.forecast import Bin, Forecast, bins, brier, calibration_error


def test_bins_hold_what_was_said_and_how_often_it_happened() -> None:
    said = np.array([0.2] * 20 + [0.8] * 20)
    happened = np.array([True] * 5 + [False] * 15 + [True] * 16 + [False] * 4)
    low, high = bins(Forecast("help", said, happened, "stack"))
    assert (low.said, low.happened, low.pairs) == (pytest.approx(0.2), 0.25, 20)
    assert (high.said, high.happened, high.pairs) == (pytest.approx(0.8), 0.8, 20)
    # Wilson's interval for 16 of 20, as in any table.
    assert (high.low, high.high) == (pytest.approx(0.5840, abs=1e-4), pytest.approx(0.9193, abs=1e-4))


def test_brier_score_and_calibration_error_are_means_of_distances() -> None:
    forecast = Forecast("harm", np.array([0.5, 0.0, np.nan]), np.array([True, False, True]), "stack")
    assert brier(forecast) == pytest.approx(0.125)
    assert calibration_error([Bin(0.2, 0.3, 0, 1, 3), Bin(0.6, 0.6, 0, 1, 1)]) == pytest.approx(0.075)


def test_equal_probabilities_share_a_bin() -> None:
    assert len(bins(Forecast("help", np.full(300, 0.3), np.ones(300, bool), "stack"))) == 1


def test_probabilities_that_come_true_are_called_close_and_others_off(rng: np.random.Generator) -> None:
    said = rng.random(4_000)
    happened = rng.random(4_000) < said
    true, false = Forecast("help", said, happened, "stack"), Forecast("help", 1 - said, happened, "stack")
    figures = [reliability([forecast]) for forecast in (true, false)]
    assert all(figures)
    words = [figure.words[1] for figure in figures if figure]
    assert words[0].startswith("Probabilities of help are close to their word")
    assert words[1].startswith("Probabilities of help are off")


def test_intervals_of_the_bins_cover_the_truth_about_as_often_as_they_promise(rng: np.random.Generator) -> None:
    covered = []
    for _ in range(200):
        said = np.repeat(rng.random(5), 40)
        happened = rng.random(200) < said
        covered += [one.low <= one.said <= one.high for one in bins(Forecast("help", said, happened, "stack"))]
    assert 0.92 <= np.mean(covered) <= 0.98


def test_no_probability_means_no_figure() -> None:
    assert reliability([]) is None
    assert reliability([Forecast("help", np.full(3, np.nan), np.ones(3, bool), "stack")]) is None
