"""Numbers in words and in cells: percentages, percentage points, intervals, counts. Unknown is a dash."""

from __future__ import annotations

import math

from skilldelta.evaluation.results import Range
from skilldelta.report.content import Cell

DASH = "–"
MINUS = "−"


def percent(value: float | None, digits: int = 1) -> str:
    """0.737 as 73.7%."""
    return _formatted(value, f".{digits}%")


def points(value: float | None, digits: int = 1) -> str:
    """A difference of rates in percentage points, with its sign: -0.003 as −0.3."""
    return signed(None if value is None else 100 * value, digits)


def size(value: float, digits: int = 1) -> str:
    """A difference of rates without its sign, with its unit: 0.003 as 0.3 points."""
    text = f"{abs(100 * value):.{digits}f}"
    return f"{text} point" if text == "1.0" else f"{text} points"


def distance(difference: float) -> str:
    """A difference of rates in words: `0.3 points above`, or below."""
    return f"{size(difference)} {'above' if difference >= 0 else 'below'}"


def decimal(value: float | None, digits: int = 3) -> str:
    """0.7163 as 0.716."""
    return _formatted(value, f".{digits}f")


def signed(value: float | None, digits: int = 3) -> str:
    """A gain with its sign; one that rounds to zero has no minus."""
    return _formatted(value, f"+z.{digits}f")


def count(value: float | None) -> str:
    """6511 as 6,511."""
    return _formatted(value, ",.0f")


def _formatted(value: float | None, form: str) -> str:
    return DASH if value is None or not math.isfinite(value) else format(value, form).replace("-", MINUS)


def outcome_words(mean: float, runs: int, passed: int | None = None) -> str:
    """How often a task was solved: `2 of 3` where every run passed or failed, else the mean.

    `passed` counts the runs that passed, where none of them passed in part. Without it only a mean of 0 or 1 says as much:
    three runs of 0.75, 0.75 and 0.5 have the mean of two passes, and none of them passed.
    """
    if passed is None and mean in (0.0, 1.0):
        passed = round(mean * runs)
    return f"{mean:.2f}" if passed is None else f"{passed} of {runs}"


def spread(interval: Range | None, *, as_points: bool = False) -> str:
    """An interval as `low to high`, in points or as plain decimals; empty where there is none."""
    if interval is None or interval.low is None or interval.high is None:
        return ""
    form = points if as_points else decimal
    return f"{form(interval.low)} to {form(interval.high)}"


def percent_spread(interval: Range | None) -> str:
    """An interval of a rate as `low to high` in percent; empty where there is none."""
    if interval is None or interval.low is None or interval.high is None:
        return ""
    return f"{percent(interval.low).removesuffix('%')} to {percent(interval.high).removesuffix('%')}"


def certainty(bounds: Range | None, *, as_points: bool = False) -> str:
    """` (95% interval low to high)`, to follow its number; empty where there is none."""
    interval = spread(bounds, as_points=as_points)
    return f" (95% interval {interval})" if interval else ""


def excludes_zero(interval: Range | None) -> bool:
    """Whether there is an interval, all of it on one side of zero."""
    if interval is None or interval.low is None or interval.high is None:
        return False
    return interval.low > 0 or interval.high < 0


def cell(text: str, value: float | None, interval: str = "") -> Cell:
    """A number in a table, sorted by its value; its interval stands below it."""
    number = float(value) if value is not None and math.isfinite(value) else None
    return Cell(f"{text}\n{interval}" if interval else text, number)


def shorten(text: str, width: int) -> str:
    """One line of a text, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"
