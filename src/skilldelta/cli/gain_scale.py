"""A gain, its interval and the threshold, drawn in one line on a scale from -1 to 1.

    -1 ──────────────0─│──├━━━●━━━━┤─ +1
    ● gain +0.520   ├━┤ 95% +0.250 to +0.860   │ threshold 0.1

Every mark is one character, so that a pipe shows what a terminal shows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rich.console import Console

from skilldelta.cli.output import signed
from skilldelta.gate import Interval

_ENDS = ("-1 ", " +1")
_WIDEST, _NARROWEST = 80, 11


@dataclass(frozen=True, slots=True)
class Marks:
    """The characters of a drawing."""

    axis: str
    band: str
    low: str
    high: str
    gain: str
    threshold: str
    both: str
    """Where gain and threshold share a place."""
    left: str
    """A threshold below the scale."""
    right: str
    """A threshold above the scale."""


UNICODE = Marks(axis="─", band="━", low="├", high="┤", gain="●", threshold="│", both="◆", left="◀", right="▶")
ASCII = Marks(axis="-", band="=", low="[", high="]", gain="*", threshold="|", both="#", left="<", right=">")


def marks_for(encoding: str) -> Marks:
    """The fine marks where an encoding has all of them."""
    try:
        "".join(getattr(UNICODE, name) for name in UNICODE.__slots__).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def marks_of(console: Console) -> Marks:
    """The marks that a console can show; those of old Windows consoles lack glyphs that their encoding has."""
    return ASCII if console.legacy_windows else marks_for(console.encoding)


@dataclass(frozen=True, slots=True)
class GainScale:
    """What is drawn. What is not a number is not drawn."""

    gain: float
    threshold: float
    interval: Interval | None

    def drawn(self, width: int, marks: Marks) -> str:
        """The line, at most `width` characters; an odd number of places, so that 0 is the middle one."""
        places = max(min(width, _WIDEST) - sum(map(len, _ENDS)), _NARROWEST)
        places -= 1 - places % 2
        line = [marks.axis] * places
        if self.interval is not None and math.isfinite(self.interval.low + self.interval.high):
            first, last = _place(self.interval.low, places), _place(self.interval.high, places)
            line[first : last + 1] = marks.band * (last + 1 - first)
            line[first], line[last] = marks.low, marks.high
        line[places // 2] = "0"
        gain_mark, threshold_mark = self._marks(places, marks)
        for value, mark in ((self.threshold, threshold_mark), (self.gain, gain_mark)):
            if math.isfinite(value):
                line[_place(value, places)] = mark
        return "".join(line).join(_ENDS)

    def legend(self, width: int, marks: Marks) -> str:
        """The marks of `drawn` at the same width, with their numbers."""
        places = len(self.drawn(width, marks)) - sum(map(len, _ENDS))
        gain_mark, threshold_mark = self._marks(places, marks)
        parts = [f"{gain_mark} gain {signed(self.gain)}"]
        if self.interval is not None:
            ends = f"{signed(self.interval.low)} to {signed(self.interval.high)}"
            parts.append(f"{marks.low}{marks.band}{marks.high} {100 * self.interval.level:.4g}% {ends}")
        return "   ".join([*parts, f"{threshold_mark} threshold {self.threshold:.4g}"])

    def _marks(self, places: int, marks: Marks) -> tuple[str, str]:
        """The mark of the gain and that of the threshold."""
        if self.threshold < -1:
            return marks.gain, marks.left
        if self.threshold > 1:
            return marks.gain, marks.right
        is_known = math.isfinite(self.gain) and math.isfinite(self.threshold)
        if is_known and _place(self.gain, places) == _place(self.threshold, places):
            return marks.both, marks.both
        return marks.gain, marks.threshold


def _place(value: float, places: int) -> int:
    """Where a value stands; beyond the ends it stands at the end."""
    return math.floor((min(max(value, -1.0), 1.0) + 1) / 2 * (places - 1) + 0.5)
