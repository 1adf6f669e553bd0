"""The clinical-value grader: MedCalc-Bench's decimals within limits, whole scores, dates and gestational ages.

As the benchmark grades: a decimal lies within the limits of its task, a score is right when it rounds to the expected
one, a date is the same day, an age has the same weeks and days. `lenient` reads a unit, a percent sign, separated
thousands, an ISO date and "12 weeks and 3 days" as what they say; the benchmark's own reader fails them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal

from skilldelta.collect.execution_errors import GraderError
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
from skilldelta.collect.suite import SuiteTask

Kind = Literal["decimal", "integer", "date", "age"]
KINDS: tuple[Kind, ...] = ("decimal", "integer", "date", "age")

_AMERICAN = re.compile(r"(?<!\d)(\d{1,2})/(\d{1,2})/(\d{4})(?!\d)")
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{2})-(\d{2})(?!\d)")
_AGE = re.compile(r"(?<![\d.])(\d+)\s*(?:weeks?)?[\"']?\s*,?\s*[\"']?(\d+)\s*(?:days?)?(?![\d.])", re.IGNORECASE)
_SPELLED_AGE = re.compile(r"(?<![\d.])(\d+)\s*w(?:eeks?|k)?\.?\s*(?:,|and|\+)?\s*(\d+)\s*d(?:ays?)?\b", re.IGNORECASE)
_NUMBERS = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")
_DIGITS_OF_UNITS = re.compile(r"1\.73|m\^?[23]\b|10\^\d+")
_EXACT_LINE = re.compile(r"^[ \t]*answer:([^\n]*)", re.IGNORECASE | re.MULTILINE)
_EXACT_JSON = re.compile(r'"answer"\s*:\s*"([^"]*)"')
_EXACT_DATE = re.compile(r"\d{1,2}/\d{1,2}/\d{4}")
_EXACT_AGE = re.compile(r"""(\d+)\s*(?:weeks?)?["']?,?\s*["']?(\d+)""")
# Where no answer is announced, marks of quotation between weeks and days are not expected.
_UNQUOTED_AGE = re.compile(r"(\d+)\s*(?:weeks?)?,?\s*(\d+)")
_EXACT_NUMBERS = re.compile(r"-?\d+\.?\d*")
# A quoted text ends at its own mark, so that the quotes inside ('4 weeks', '3 days') do not end it.
_JSON_ANSWER = re.compile(
    r"""["']answer["']\s*:\s*(?:"([^"\n]*)"|'([^'\n]*)'|(\([^)\n]*\)|\[[^\]\n]*\]|[^,}"'\n]+))""", re.IGNORECASE
)
# Longer runs of digits are no number of weeks, and Python refuses to convert them.
_MOST_DIGITS = 4300


@dataclass(frozen=True, slots=True)
class ClinicalValue:
    """The last ANSWER line, else the stated answer, else the last value of the task's kind in the reply."""

    mode: GradingMode = "lenient"
    evaluator: Evaluator = "original"

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> Graded:
        spoken = without_thoughts(answer)
        kind: Kind = task.metadata.get("kind", "decimal")
        if self.mode == "exact":
            reading = read_exactly(spoken, kind, self.evaluator)
            is_right = _is_right_exactly(reading, kind, task, self.evaluator)
        else:
            reading = _stated(spoken) or _found(spoken, kind)
            is_right = bool(reading) and _is_right(reading, kind, str(task.answer), task.metadata)
        return Graded(float(is_right), f"read as {reading!r}" if reading else "no answer in the reply")


def read_exactly(spoken: str, kind: Kind, evaluator: Evaluator) -> str:
    """The answer that the benchmark's evaluator, or its released copy, takes from a reply without thoughts."""
    lines = _EXACT_LINE.findall(spoken)
    line = str(lines[-1]).strip().strip("*").strip() if lines else None
    # The copy goes on where the last ANSWER line is empty.
    if line or (line is not None and evaluator == "original"):
        return line
    quoted = _EXACT_JSON.search(spoken)
    if quoted:
        return quoted[1].strip()
    announced = announced_answer(spoken)
    if announced is not None:
        return announced
    day, age = _EXACT_DATE.search(spoken), _UNQUOTED_AGE.search(spoken)
    if kind == "date" and day:
        return day[0]
    if kind == "age" and age:
        return f"({age[1]}, {age[2]})"
    numbers = _EXACT_NUMBERS.findall(spoken)
    return str(numbers[-1]) if numbers else ""


def _is_right_exactly(reading: str, kind: Kind, task: SuiteTask, evaluator: Evaluator) -> bool:
    expected = str(task.answer)
    if kind == "date":
        return _same(_exact_day(reading), _exact_day(expected))
    if kind == "age":
        return _same(_exact_age(reading, evaluator), _exact_age(expected, evaluator))
    value = _exact_number(reading)
    if value is None:
        return False
    if kind == "integer":
        try:
            return round(value) == round(_own_number(expected, "answer"))
        except (OverflowError, ValueError):
            raise GraderError(
                f"the benchmark's evaluator raises for {reading!r} where a whole number is asked"
            ) from None
    lower = _own_number(str(task.metadata.get("lower", expected)), "lower limit")
    upper = _own_number(str(task.metadata.get("upper", expected)), "upper limit")
    return lower <= value <= upper


def _exact_day(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%m/%d/%Y")
    except ValueError:
        return None


def _exact_age(text: str, evaluator: Evaluator) -> tuple[object, object] | None:
    age = _EXACT_AGE.search(text)
    if not age:
        return None
    if evaluator == "release":
        return age[1], age[2]
    if max(len(age[1]), len(age[2])) > _MOST_DIGITS:
        raise GraderError("the benchmark's evaluator raises for a number of weeks or days of thousands of digits")
    return int(age[1]), int(age[2])


def _exact_number(text: str) -> float | None:
    """A number as Python reads it, or two of them around a slash."""
    above, slash, below = text.partition("/")
    try:
        return float(above) / float(below) if slash else float(text)
    except (ValueError, ZeroDivisionError):
        return None


def _is_right(answer: str, kind: Kind, expected: str, limits: Mapping[str, Any]) -> bool:
    if kind == "date":
        return _same(_date(answer), _date(expected))
    if kind == "age":
        return _same(_age(answer), _age(expected))
    value = _number(answer)
    if value is None:
        return False
    if kind == "integer":
        return round(value) == round(_own_number(expected, "answer"))
    lower = _own_number(str(limits.get("lower", expected)), "lower limit")
    upper = _own_number(str(limits.get("upper", expected)), "upper limit")
    # Tables of others may have the limits of a negative value the wrong way round.
    return min(lower, upper) <= value <= max(lower, upper)


def _number(text: str) -> float | None:
    number = number_with_unit(text)
    if number is None or re.search(r"\d", _DIGITS_OF_UNITS.sub("", number[1])):
        return strict_number(text)
    return number[0]


def _date(text: str) -> date | None:
    american = _AMERICAN.search(text)
    if american:
        month, day, year = map(int, american.groups())
        return _day(year, month, day)
    iso = _ISO.search(text)
    return _day(*map(int, iso.groups())) if iso else None


def _age(text: str) -> tuple[int, int] | None:
    age = _SPELLED_AGE.search(text) or _AGE.search(text)
    if not age or max(len(age[1]), len(age[2])) > _MOST_DIGITS:
        return None
    return int(age[1]), int(age[2])


def _stated(spoken: str) -> str:
    line = answer_line(spoken)
    if line is not None:
        return line
    in_json = _JSON_ANSWER.search(spoken)
    if in_json:
        return next(text for text in in_json.groups() if text is not None).strip()
    return stated_answer(spoken) or ""


def _found(spoken: str, kind: Kind) -> str:
    """The last value of the kind anywhere in the reply, where no answer is stated."""
    pattern = {"date": _AMERICAN, "age": _SPELLED_AGE}.get(kind, _NUMBERS)
    matches = [match[0] for match in pattern.finditer(spoken)]
    return matches[-1] if matches else last_line(spoken)


def _own_number(text: str, what: str) -> float:
    """A number of the suite; one that cannot be read is the suite's fault and not the agent's."""
    value = strict_number(text)
    if value is None:
        raise GraderError(f"the {what} {text!r} of the task is not a number")
    return value


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:  # 02/29 of a common year, the 13th month
        return None


def _same(answer: object, expected: object) -> bool:
    if expected is None:
        raise GraderError("the task's own answer cannot be read")
    return answer == expected
