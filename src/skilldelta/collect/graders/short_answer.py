"""The short-answer grader: ToolQA's matching of names, numbers, times, lists, yes and no.

As the benchmark grades: case, punctuation, articles and "USD" do not matter, order does, true means yes. Unless `strict`,
numbers are compared as numbers: 42450 is $ 42,450.0, and a moved decimal point is wrong, which the letter of the rule
would let pass.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.graders.base import Graded
from skilldelta.collect.graders.final_answer import (
    answer_line,
    last_line,
    number_with_unit,
    stated_answer,
    strict_number,
    without_thoughts,
)
from skilldelta.collect.graders.text import expected
from skilldelta.collect.suite import SuiteTask

_FINISH = re.compile(r"Finish\[([^\]]*)\]")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_TRUTH = {"true": "yes", "false": "no"}
_UNITS = {"", "usd", "$", "%", "percent", "dollars", "us dollars"}
_CLOSE = 1e-6


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """The last `Finish[…]`, else the stated answer, else the last line, against the expected text."""

    strict: bool = False

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> Graded:
        given = read_short_answer(answer)
        if given is None:
            return Graded(0.0, "no answer in the reply")
        return Graded(float(any(self._equal(given, one) for one in expected(task))), f"read as {given!r}")

    def _equal(self, given: str, wanted: str) -> bool:
        if not self.strict:
            one, other = _plain_number(given), _plain_number(wanted)
            if one is not None and other is not None:
                return abs(one - other) < _CLOSE
        if _normal(given) == _normal(wanted):
            return True
        first, second = strict_number(given), strict_number(wanted)
        if first is not None and second is not None:
            return abs(first - second) < _CLOSE
        return _TRUTH.get(given.strip().lower()) == wanted.strip().lower()


def read_short_answer(reply: str) -> str | None:
    """What a reply gives as its answer, which is empty in `Finish[]`; None where it gives none."""
    spoken = without_thoughts(reply)
    finished = _FINISH.findall(spoken)
    if finished:
        return str(finished[-1]).strip()
    stated = stated_answer(spoken)
    if stated is None:
        stated = answer_line(spoken)
    return (last_line(spoken) or None) if stated is None else stated


def _plain_number(text: str) -> float | None:
    """A number with nothing behind it but a currency or a percent sign."""
    found = number_with_unit(text)
    return found[0] if found and found[1].lower() in _UNITS else None


def _normal(text: str) -> str:
    bare = text.lower().translate(_PUNCTUATION)
    return " ".join(re.sub(r"\b(a|an|the|usd)\b", " ", bare).split())
