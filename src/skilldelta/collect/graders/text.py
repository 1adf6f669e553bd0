"""Graders that read the answer as it stands: exact, contains, regex, choice, numeric, json.

For the first four, a list of answers means any of them.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilldelta.collect.suite import SuiteTask

_NAMED_CHOICE = re.compile(r"(?:answer|choice|option)\s*(?:is|:)?\s*[(\[*]*([A-Z])\b", re.IGNORECASE)
_LONE_LETTER = re.compile(r"(?<![\w'’])[(\[*]*([A-Z])(?![\w'’])")
_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Exact:
    """The whole answer equals the expected one."""

    ignore_case: bool = False
    strip: bool = True

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        return float(self._norm(answer) in {self._norm(text) for text in expected(task)})

    def _norm(self, text: str) -> str:
        text = text.strip() if self.strip else text
        return text.casefold() if self.ignore_case else text


@dataclass(frozen=True, slots=True)
class Contains:
    """The expected text stands somewhere in the answer."""

    ignore_case: bool = False

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        if self.ignore_case:
            return float(any(text.casefold() in answer.casefold() for text in expected(task)))
        return float(any(text in answer for text in expected(task)))


@dataclass(frozen=True, slots=True)
class Regex:
    """A pattern is found in the answer; without a pattern of its own, the task's answer is the pattern."""

    pattern: str = ""

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        patterns = [self.pattern] if self.pattern else expected(task)
        return float(any(re.search(pattern, answer, re.MULTILINE) for pattern in patterns))


@dataclass(frozen=True, slots=True)
class Choice:
    """The one letter an answer settles on; an answer that names several or none is wrong."""

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        return float(chosen_letter(answer) in {letter.strip().upper() for letter in expected(task)})


@dataclass(frozen=True, slots=True)
class Numeric:
    """The answer as a number, else the last number in it, within an absolute or a relative tolerance, whichever is wider."""

    tolerance: float = 1e-6
    relative: float = 0.0

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        expected_number, number = read_number(str(task.answer)), read_number(answer)
        if expected_number is None or number is None or not math.isfinite(number):
            return 0.0
        return float(abs(number - expected_number) <= max(self.tolerance, self.relative * abs(expected_number)))


@dataclass(frozen=True, slots=True)
class Fields:
    """All named fields are equal; without names, all fields of the expected object. With `partial`, the share that is."""

    fields: tuple[str, ...] = ()
    partial: bool = False

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        document = find_object(answer)
        if document is None:
            return 0.0
        names = self.fields or tuple(task.answer)
        equal = [name in document and document[name] == task.answer.get(name) for name in names]
        return sum(equal) / len(equal) if self.partial else float(all(equal))


def chosen_letter(answer: str) -> str | None:
    """The letter after the last "answer is", else the only lone capital letter, else None."""
    stripped = answer.strip().strip("()[]*.:")
    if len(stripped) == 1 and stripped.isalpha():
        return stripped.upper()
    letters = _NAMED_CHOICE.findall(answer)
    if letters:
        return str(letters[-1]).upper()
    lone = set(_LONE_LETTER.findall(answer))
    return lone.pop() if len(lone) == 1 else None


def read_number(answer: str) -> float | None:
    """The number an answer ends on; None when it has none. Commas between digits separate thousands."""
    try:
        return float(answer)
    except ValueError:
        numbers = _NUMBER.findall(answer)
        return float(numbers[-1].replace(",", "")) if numbers else None


def find_object(text: str) -> dict[str, Any] | None:
    """The first whole JSON object in a text, with or without prose and fences around it."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = decoder.raw_decode(text, start)
        except ValueError:
            value = None
        if isinstance(value, dict):
            return value
        start = text.find("{", start + 1)
    return None


def expected(task: SuiteTask) -> list[str]:
    """The accepted answers as texts."""
    answers = task.answer if isinstance(task.answer, list) else [task.answer]
    return [str(answer) for answer in answers]
