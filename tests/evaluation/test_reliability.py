"""Reliability bins that can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.errors import InputError
from skilldelta.evaluation.reliability import reliability_curve, wilson_interval


def test_bins_hold_the_mean_chance_the_share_and_the_count() -> None:
    predicted = np.array([0.1, 0.2, 0.8, 0.9])
    low, high = reliability_curve(predicted, np.array([False, False, True, False]), bins=2)
    assert (low.predicted, low.observed, low.count) == pytest.approx((0.15, 0.0, 2))
    assert (high.predicted, high.observed, high.count) == pytest.approx((0.85, 0.5, 2))
    assert high.low <= 0.5 <= high.high
    assert low.holds


def test_equal_chances_share_a_bin_and_unknown_ones_are_left_out() -> None:
    bins = reliability_curve(np.array([0.3, 0.3, 0.3, 0.3, np.nan]), np.array([1, 0, 0, 1, 1], bool), bins=4)
    assert [(b.count, b.observed) for b in bins] == [(4, 0.5)]
    assert reliability_curve(np.array([np.nan]), np.array([True])) == ()


def test_wilsons_interval_is_the_published_one() -> None:
    assert wilson_interval(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson_interval(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_no_bins_are_refused() -> None:
    with pytest.raises(InputError, match="at least 1, got 0"):
        reliability_curve(np.array([0.5]), np.array([True]), bins=0)
