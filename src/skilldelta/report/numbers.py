"""Numbers in words and in cells: percentages, percentage points, intervals, counts. Unknown is a dash."""

from __future__ import annotations

import math

from skilldelta.evaluation.results import Range
from skilldelta.report.content import Cell

DASH = "–"
MINUS = "−"


def known(value: float | None) -> bool:
    """Whether there is a finite number."""
    return value is not None and math.isfinite(value)


def percent(value: float | None, digits: int = 1) -> str:
    """0.737 as 73.7%."""
    return DASH if value is None or not math.isfinite(value) else _minus(f"{100 * value:.{digits}f}%")


def points(value: float | None, digits: int = 1) -> str:
    """A difference of rates in percentage points, with its sign: -0.003 as −0.3."""
    return (
        DASH
        if value is None or not math.isfinite(value)
        else _minus(f"{_nonnegative_zero(100 * value, digits):+.{digits}f}")
    )


def size(value: float, digits: int = 1) -> str:
    """A difference of rates without its sign, with its unit: 0.003 as 0.3 points."""
    text = f"{abs(100 * value):.{digits}f}"
    return f"{text} point" if text == "1.0" else f"{text} points"


def decimal(value: float | None, digits: int = 3) -> str:
    """0.7163 as 0.716."""
    return DASH if value is None or not math.isfinite(value) else _minus(f"{value:.{digits}f}")


def signed(value: float | None, digits: int = 3) -> str:
    """A gain with its sign."""
    return (
        DASH if value is None or not math.isfinite(value) else _minus(f"{_nonnegative_zero(value, digits):+.{digits}f}")
    )


def count(value: float | None) -> str:
    """6511 as 6,511."""
    return DASH if value is None or not math.isfinite(value) else _minus(f"{value:,.0f}")


def spread(found: Range | None, *, as_points: bool = False, digits: int | None = None) -> str:
    """An interval as `low to high`, in points or as plain decimals; empty where there is none."""
    if found is None or found.low is None or found.high is None:
        return ""
    if as_points:
        return f"{points(found.low, digits or 1)} to {points(found.high, digits or 1)}"
    return f"{decimal(found.low, digits or 3)} to {decimal(found.high, digits or 3)}"


def percent_spread(found: Range | None) -> str:
    """An interval of a rate as `low to high` in percent; empty where there is none."""
    if found is None or found.low is None or found.high is None:
        return ""
    return f"{percent(found.low).removesuffix('%')} to {percent(found.high).removesuffix('%')}"


def cell(text: str, value: float | None) -> Cell:
    """A number in a table, sorted by its value."""
    return Cell(text, float(value) if value is not None and math.isfinite(value) else None)


def words_cell(text: str, tone: str = "") -> Cell:
    """Words in a table."""
    return Cell(text, tone=tone)


def shorten(text: str, width: int) -> str:
    """One line of a text, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1].rstrip() + "…"


def _nonnegative_zero(value: float, digits: int) -> float:
    """A value that rounds to zero loses its minus sign."""
    return 0.0 if round(value, digits) == 0 else value


def _minus(text: str) -> str:
    return text.replace("-", MINUS)
