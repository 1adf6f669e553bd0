"""The logic-answer grader: LogicBench's yes and no, and its choices by number.

As the benchmark grades: the last stated answer counts; a yes-or-no question without one is read from the reply's first
word, from words of denial near its end, then from its last yes or no; a choice is the last one named, else the one whose
text the reply repeats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.graders.base import Graded
from skilldelta.collect.graders.final_answer import last_line, stated_answer, without_thoughts
from skilldelta.collect.suite import SuiteTask

_END = 500
"""Characters at the end of a reply in which its conclusion is looked for."""
_STATED_TRUTH = re.compile(r"\banswer\s+is\W*(yes|no|true|false)\b")
_FIRST_WORD = re.compile(r"\W*(yes|no)\b")
_DENIALS = re.compile(
    r"\bcannot\s+(?:be\s+)?(?:conclude|infer|say|determine|logically|necessarily|definitively)"
    r"|\bnot\s+(?:necessarily\s+true|possible|correct|true|valid)"
)
_TRUTHS = re.compile(r"\b(yes|no|true|false)\b")
_NAMED = re.compile(r"\bchoice[_ ]?(\d+)\b")
_NUMBERED = re.compile(r"\b(?:answer|option)\W*(?:is\W*)?(?:option\W*)?(\d)\b")
_OFFERED = re.compile(r"choice_(\d+):[ \t]*([^\n]+)")
_COMPARED = 40
"""Characters of a choice's text that a reply has to repeat."""


@dataclass(frozen=True, slots=True)
class LogicAnswer:
    """Reads yes or no where one of them is expected, else a choice."""

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> Graded:
        wanted = str(task.answer).strip().lower()
        spoken = without_thoughts(answer)
        found = read_truth(spoken) if wanted in ("yes", "no") else read_choice(spoken, task.text)
        return Graded(float(found == wanted), f"read as {found}" if found else "no answer in the reply")


def read_truth(reply: str) -> str:
    """`yes` or `no`, or nothing."""
    lower = reply.lower()
    stated = _STATED_TRUTH.findall(lower)
    if stated:
        return _as_yes_or_no(stated[-1])
    first = _FIRST_WORD.match(lower)
    if first:
        return first[1]
    end = lower[-_END:]
    if _DENIALS.search(end):
        return "no"
    found = [word for word in _TRUTHS.findall(end) if word in ("yes", "no")] or _TRUTHS.findall(end)
    return _as_yes_or_no(found[-1]) if found else ""


def read_choice(reply: str, question: str) -> str:
    """`choice_1` and so on, or nothing."""
    lower = reply.lower()
    for pattern in (_NAMED, _NUMBERED):
        found = pattern.findall(lower)
        if found:
            return f"choice_{found[-1]}"
    for number, text in reversed(_OFFERED.findall(question)):
        if text.strip() and text.strip().lower()[:_COMPARED] in lower[-_END:]:
            return f"choice_{number}"
    digit = re.search(r"\b([1-5])\b", stated_answer(reply) or last_line(reply))
    return f"choice_{digit[1]}" if digit else ""


def _as_yes_or_no(word: str) -> str:
    return {"true": "yes", "false": "no"}.get(word, word)
