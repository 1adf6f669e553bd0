"""Graders of plain text: exact, contains, regex, choice. A list of answers means any of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.suite import SuiteTask

_NAMED_CHOICE = re.compile(r"(?:answer|choice|option)\s*(?:is|:)?\s*[(\[*]*([A-Z])\b", re.IGNORECASE)
_LONE_LETTER = re.compile(r"(?<![\w'’])[(\[*]*([A-Z])(?![\w'’])")


@dataclass(frozen=True, slots=True)
class Exact:
    """The whole answer equals the expected one."""

    ignore_case: bool = False
    strip: bool = True

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        return float(self._norm(answer) in {self._norm(one) for one in expected(task)})

    def _norm(self, text: str) -> str:
        text = text.strip() if self.strip else text
        return text.casefold() if self.ignore_case else text


@dataclass(frozen=True, slots=True)
class Contains:
    """The expected text stands somewhere in the answer."""

    ignore_case: bool = False

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        if self.ignore_case:
            return float(any(one.casefold() in answer.casefold() for one in expected(task)))
        return float(any(one in answer for one in expected(task)))


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
        return float(chosen_letter(answer) in {one.strip().upper() for one in expected(task)})


def chosen_letter(answer: str) -> str | None:
    """The letter after the last "answer is", else the only lone capital letter, else None."""
    stripped = answer.strip().strip("()[]*.:")
    if len(stripped) == 1 and stripped.isalpha():
        return stripped.upper()
    named = _NAMED_CHOICE.findall(answer)
    if named:
        return str(named[-1]).upper()
    lone = set(_LONE_LETTER.findall(answer))
    return lone.pop() if len(lone) == 1 else None


def expected(task: SuiteTask) -> list[str]:
    """The accepted answers as texts."""
    answers = task.answer if isinstance(task.answer, list) else [task.answer]
    return [str(one) for one in answers]
