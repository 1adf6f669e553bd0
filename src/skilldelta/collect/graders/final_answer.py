"""What a reply settles on: the text after its last stated answer, without what a model thought before it spoke.

The benchmarks' graders share these readings. Each decides itself what counts as equal.
"""

from __future__ import annotations

import math
import re

_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_STATED = re.compile(r"\bthe answer is\b[ \t]*:?[ \t]*([^\n]*)", re.IGNORECASE)
_ANNOUNCED = re.compile(r"(?:\btherefore,?\s+the answer is:?|\bthe answer is\s*:)[ \t]*([^\n]*)", re.IGNORECASE)
_LINE = re.compile(r"^[ \t>*_#]*answer[*_]*[ \t]*:[*_]*[ \t]*([^\n]*)", re.IGNORECASE | re.MULTILINE)
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?")
_FRACTION = re.compile(r"([-+]?\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)")


def without_thoughts(reply: str) -> str:
    """The reply outside of <think> marks; a thought that never ends takes the rest with it."""
    return _THOUGHT.sub("", reply).strip()


def stated_answer(reply: str) -> str | None:
    """What follows the last "the answer is" on its line; None where nothing is stated."""
    matches = _STATED.findall(reply)
    return _bare(matches[-1]) if matches else None


def answer_line(reply: str) -> str | None:
    """What follows the last line that begins with "ANSWER:"; None where there is no such line."""
    matches = _LINE.findall(reply)
    return _bare(matches[-1]) if matches else None


def announced_answer(reply: str) -> str | None:
    """What the benchmarks' evaluators take for announced: with a colon, or after "therefore"; None without either."""
    announced = _ANNOUNCED.findall(reply)
    return str(announced[-1]).strip().rstrip(".").strip() if announced else None


def last_line(reply: str) -> str:
    """The last line with something on it."""
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def strict_number(text: str) -> float | None:
    """A text that is a number or a fraction as a whole; None for everything else, and for what is not finite."""
    text = text.strip()
    fraction = _FRACTION.fullmatch(text)
    if fraction:
        return _quotient(*fraction.groups())
    return float(text) if _NUMBER.fullmatch(text) and math.isfinite(float(text)) else None


def number_with_unit(text: str) -> tuple[float, str] | None:
    """The number that a text begins with, after a currency sign or "about", and the rest, its unit.

    Commas between groups of three digits separate thousands. None where the text does not begin with a number, or where
    another number follows, so that it is not clear which is meant.
    """
    text = re.sub(
        r"^(?:about|approximately|approx\.|around|[=≈~$€£])\s*", "", text.strip(), flags=re.IGNORECASE
    ).strip()
    text = re.sub(r"^[$€£]\s*", "", text)
    for pattern in (_FRACTION, _GROUPED, _NUMBER):
        match = pattern.match(text)
        if match and not _runs_on(text, match.end()):
            value = _quotient(*match.groups()) if pattern is _FRACTION else float(match[0].replace(",", ""))
            unit = text[match.end() :].strip().rstrip(".").strip()
            return None if value is None or not math.isfinite(value) else (value, unit)
    return None


def _runs_on(text: str, end: int) -> bool:
    """Whether a number goes on where the pattern ended: 12,34 or 3:00 or 2022-02-17."""
    return bool(re.match(r"[,:/.-]?\d", text[end:]))


def _quotient(above: str, below: str) -> float | None:
    value = float(above) / float(below) if float(below) else math.nan
    return value if math.isfinite(value) else None  # thousands of digits are infinite, and no number


def _bare(text: str) -> str:
    """Without the marks that people put around an answer, and the full stop behind it."""
    text = text.strip().strip("*_`").strip()
    return re.sub(r"\.$", "", text).strip("*_`$ ").strip() if not text.startswith("$ ") else text.rstrip(".")
