"""The drawn scale, small enough to count its places: 21 of them, 0.1 apart, 0 in the middle."""

from __future__ import annotations

import math

import pytest

from skilldelta.cli.advice_display import ASCII, UNICODE, GainScale, marks_for
from skilldelta.intervals import Interval

WIDTH = 21 + 6


def drawn(gain: float, threshold: float, low: float, high: float, *, width: int = WIDTH) -> str:
    return GainScale(gain, threshold, Interval(low, high, 0.95, "exact")).drawn(width, ASCII)


@pytest.mark.parametrize(
    ("scale", "line"),
    [
        ((0.5, 0.0, 0.2, 0.8), "-1 ----------|-[==*==]-- +1"),
        ((0.5, 0.3, 0.2, 0.8), "-1 ----------0-[|=*==]-- +1"),
        ((0.5, -0.5, -0.2, 0.8), "-1 -----|--[=0====*==]-- +1"),
        ((0.0, 0.0, -1.0, 1.0), "-1 [=========#=========] +1"),
        ((1.0, 0.0, 0.4, 1.0), "-1 ----------|---[=====* +1"),
        ((-1.0, -1.0, -1.0, -0.8), "-1 #=]-------0---------- +1"),
        ((0.5, 0.0, -0.9, -0.7), "-1 -[=]------|----*----- +1"),
        ((0.5, 0.0, 0.5, 0.5), "-1 ----------|----*----- +1"),
        ((0.5, 0.0, 0.7, 0.7), "-1 ----------|----*-]--- +1"),
        ((0.5, 1.5, 0.2, 0.8), "-1 ----------0-[==*==]-> +1"),
        ((0.5, -7.0, 0.2, 0.8), "-1 <---------0-[==*==]-- +1"),
    ],
)
def test_every_mark_stands_where_its_number_is(scale: tuple[float, float, float, float], line: str) -> None:
    assert drawn(*scale) == line


def test_what_is_not_a_number_is_not_drawn() -> None:
    assert drawn(math.nan, 0.0, math.nan, math.nan) == "-1 ----------|---------- +1"
    assert drawn(0.5, math.nan, 0.2, 0.8) == "-1 ----------0-[==*==]-- +1"
    assert GainScale(0.5, 0.0, None).drawn(WIDTH, ASCII) == "-1 ----------|----*----- +1"
    assert GainScale(math.nan, 0.0, None).legend(WIDTH, ASCII) == "* gain –   | threshold 0"


@pytest.mark.parametrize("width", [20, 39, 40, 60, 80, 200])
def test_the_line_fits_with_zero_in_the_middle(width: int) -> None:
    line = drawn(0.9, 0.9, 0.9, 0.9, width=width)
    assert len(line) <= min(width, 80)
    assert line[len(line) // 2] == "0"


def test_the_legend_names_the_marks_that_were_drawn() -> None:
    interval = Interval(-0.11, 1.0, 0.95, "blend")
    assert GainScale(0.5, 0.1, interval).legend(80, UNICODE) == (
        "● gain +0.500   ├━┤ 95% -0.110 to +1.000   │ threshold 0.1"
    )
    assert GainScale(0.5, 2.0, interval).legend(80, ASCII).endswith("> threshold 2")
    assert GainScale(0.001, 0.0, interval).legend(80, ASCII).startswith("# gain +0.001")
    assert "# threshold 0" in GainScale(0.001, 0.0, interval).legend(80, ASCII)


def test_plain_characters_stand_in_where_the_encoding_has_no_others() -> None:
    assert marks_for("utf-8") is UNICODE
    for encoding in ("ascii", "cp1252", "latin-1", "no such encoding"):
        assert marks_for(encoding) is ASCII
    assert all(len(getattr(UNICODE, name)) == 1 for name in UNICODE.__slots__)
