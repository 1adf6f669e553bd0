"""The short-answer grader: ToolQA's matching of names, numbers, times, lists, yes and no.

As the benchmark grades: case, punctuation, articles and "USD" do not matter, order does, true means yes. `lenient` compares
numbers as numbers: 42450 is $ 42,450.0, and a moved decimal point or a lost sign is wrong, which the benchmark lets pass.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.graders.base import Evaluator, Graded, GradingMode
from skilldelta.collect.graders.final_answer import (
    announced_answer,
    answer_line,
    last_line,
    number_with_unit,
    stated_answer,
    strict_number,
    without_thoughts,
)
from skilldelta.collect.graders.text import expected
from skilldelta.collect.suite import SuiteTask

_IGNORED = re.compile(r"\b(?:a|an|the|usd)\b")
_FINISH = re.compile(r"Finish\[([^\]]*)\]")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_TRUTH = {"true": "yes", "false": "no"}
_UNITS = {"", "usd", "$", "%", "percent", "dollars", "us dollars"}
_CLOSE = 1e-6


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """The last `Finish[…]`, else the stated answer, else the last line, against the expected text."""

    mode: GradingMode = "lenient"
    evaluator: Evaluator = "original"

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> Graded:
        if self.mode == "exact":
            text = read_exactly(answer, self.evaluator)
            is_right = any(_same_exactly(text, expected_answer, self.evaluator) for expected_answer in expected(task))
            return Graded(float(is_right), f"read as {text!r}")
        reading = read_short_answer(answer)
        if reading is None:
            return Graded(0.0, "no answer in the reply")
        return Graded(
            float(any(_same(reading, expected_answer) for expected_answer in expected(task))), f"read as {reading!r}"
        )


def read_exactly(reply: str, evaluator: Evaluator) -> str:
    """The answer that the benchmark's evaluator, or its released copy, takes from a reply."""
    # The copy leaves thoughts in, and has no reading between Finish and the last line.
    spoken = without_thoughts(reply) if evaluator == "original" else reply
    finished = _FINISH.findall(spoken)
    if finished:
        return str(finished[-1]).strip()
    if evaluator == "release":
        return last_line(spoken)
    announced = announced_answer(spoken)
    return spoken.strip().rpartition("\n")[2].strip() if announced is None else announced


def _same_exactly(answer: str, expected_answer: str, evaluator: Evaluator) -> bool:
    normal = _normal if evaluator == "original" else _released_normal
    first, second = normal(answer), normal(expected_answer)
    if first == second:
        return True
    try:
        return abs(float(answer) - float(expected_answer)) < _CLOSE
    except ValueError:
        return _TRUTH.get(first) == second


def _same(answer: str, expected_answer: str) -> bool:
    first, second = _plain_number(answer), _plain_number(expected_answer)
    if first is not None and second is not None:
        return abs(first - second) < _CLOSE
    if _normal(answer) == _normal(expected_answer):
        return True
    first, second = strict_number(answer), strict_number(expected_answer)
    if first is not None and second is not None:
        return abs(first - second) < _CLOSE
    return _TRUTH.get(answer.strip().lower()) == expected_answer.strip().lower()


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
    number = number_with_unit(text)
    return number[0] if number and number[1].lower() in _UNITS else None


def _normal(text: str) -> str:
    """Lower case without punctuation, articles and "usd", in this order: "8:00 a.m." is "8:00 AM"."""
    return " ".join(_IGNORED.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def _released_normal(text: str) -> str:
    """The released copy takes articles out first, so that the "a" of "a.m." is one."""
    return " ".join(_IGNORED.sub(" ", text.lower()).translate(_PUNCTUATION).split())
