"""The clinical-value grader: MedCalc-Bench's decimals within limits, whole scores, dates and gestational ages.

As the benchmark grades: a decimal lies within the limits of its task, a score is right when it rounds to the expected
one, a date is the same day, an age has the same weeks and days. Unless `strict`, a unit, a percent sign, separated
thousands, an ISO date and "12 weeks and 3 days" are read as what they say; the benchmark's own reader fails them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal

from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders.base import Graded
from skilldelta.collect.graders.final_answer import (
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
_JSON_ANSWER = re.compile(r"[\"']answer[\"']\s*:\s*[\"']?([^\"'}\n]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ClinicalValue:
    """The last ANSWER line, else the stated answer, else the last value of the task's kind in the reply."""

    strict: bool = False

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> Graded:
        spoken = without_thoughts(answer)
        kind: Kind = task.metadata.get("kind", "decimal")
        given = _stated(spoken) or _found(spoken, kind)
        if not given:
            return Graded(0.0, "no answer in the reply")
        return Graded(float(self._is_right(given, kind, str(task.answer), task.metadata)), f"read as {given!r}")

    def _is_right(self, given: str, kind: Kind, wanted: str, limits: Mapping[str, Any]) -> bool:
        if kind == "date":
            return _same(self._date(given), self._date(wanted))
        if kind == "age":
            return _same(self._age(given), self._age(wanted))
        value = self._number(given)
        if value is None:
            return False
        if kind == "integer":
            return round(value) == round(_own_number(wanted, "answer"))
        lower = _own_number(str(limits.get("lower", wanted)), "lower limit")
        upper = _own_number(str(limits.get("upper", wanted)), "upper limit")
        # A negative value has its limits the wrong way round in the benchmark's own table.
        return min(lower, upper) <= value <= max(lower, upper)

    def _number(self, text: str) -> float | None:
        if self.strict:
            return strict_number(text)
        found = number_with_unit(text)
        if found is None or re.search(r"\d", _DIGITS_OF_UNITS.sub("", found[1])):
            return strict_number(text)
        return found[0]

    def _date(self, text: str) -> date | None:
        american = _AMERICAN.fullmatch(text.strip()) if self.strict else _AMERICAN.search(text)
        if american:
            month, day, year = map(int, american.groups())
            return _day(year, month, day)
        iso = None if self.strict else _ISO.search(text)
        return _day(*map(int, iso.groups())) if iso else None

    def _age(self, text: str) -> tuple[int, int] | None:
        found = (None if self.strict else _SPELLED_AGE.search(text)) or _AGE.search(text)
        return (int(found[1]), int(found[2])) if found else None


def _stated(spoken: str) -> str:
    line = answer_line(spoken)
    if line is not None:
        return line
    in_json = _JSON_ANSWER.search(spoken)
    if in_json:
        return in_json[1].strip()
    return stated_answer(spoken) or ""


def _found(spoken: str, kind: Kind) -> str:
    """The last value of the kind anywhere in the reply, where no answer is stated."""
    pattern = {"date": _AMERICAN, "age": _SPELLED_AGE}.get(kind, _NUMBERS)
    found = [match[0] for match in pattern.finditer(spoken)]
    return found[-1] if found else last_line(spoken)


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


def _same(given: object, wanted: object) -> bool:
    if wanted is None:
        raise GraderError("the task's own answer cannot be read")
    return given == wanted
