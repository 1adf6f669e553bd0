"""Numbers as a reader sees them."""

from __future__ import annotations

import math

import pytest

from skilldelta.evaluation.results import Range
from skilldelta.report.numbers import count, percent, percent_spread, points, shorten, signed, size, spread


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (percent(0.7374), "73.7%"),
        (percent(None), "–"),
        (percent(math.nan), "–"),
        (points(-0.003), "−0.3"),
        (points(-0.0001), "+0.0"),
        (size(-0.003), "0.3 points"),
        (size(0.01), "1.0 point"),
        (signed(-0.25, 2), "−0.25"),
        (count(6511), "6,511"),
        (spread(Range(-0.018, 0.003), as_points=True), "−1.8 to +0.3"),
        (spread(Range(0.685, 0.714)), "0.685 to 0.714"),
        (percent_spread(Range(0.5, 0.6)), "50.0 to 60.0"),
        (spread(Range(None, None)), ""),
        (spread(None), ""),
        (spread(Range(0.0, 0.0), as_points=True), "+0.0 to +0.0"),
        (shorten("one\n two   three", 9), "one two…"),
    ],
)
def test_numbers_read_as_expected(text: str, expected: str) -> None:
    assert text == expected
