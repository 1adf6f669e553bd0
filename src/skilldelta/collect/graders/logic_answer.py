"""The logic-answer grader: LogicBench's yes and no, and its choices by number.

As the benchmark grades: a yes-or-no question is read from the last "answer is", else from the reply's first word, from words
of denial near its end, then from its last yes or no; a choice is the last one that is named with the word, else the number
behind the first "answer" or "option", else the choice whose text the reply repeats, else the first digit of the last line.

`lenient` differs in three places, where it is right and the benchmark is not: of several stated numbers the last one counts,
"untrue" and "falsely" are not read as "true" and "false", and "multiplechoice_2" names no choice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.graders.base import Graded, GradingMode
from skilldelta.collect.graders.final_answer import last_line, stated_answer, without_thoughts
from skilldelta.collect.suite import SuiteTask

# Characters at the end of a reply in which its conclusion is looked for.
_END = 500
_STATED_TRUTH = re.compile(r"\banswer\s+is\W*(yes|no|true|false)\b")
_FIRST_WORD = re.compile(r"\W*(yes|no)\b")
_DENIALS = re.compile(
    r"\bcannot\s+(?:be\s+)?(?:conclude|infer|say|determine|logically|necessarily|definitively)"
    r"|\bnot\s+(?:necessarily\s+true|possible|correct|true|valid)"
)
_TRUTHS = re.compile(r"\b(yes|no|true|false)\b")
_NAMED = re.compile(r"choice[_ ]?(\d+)")
_NUMBERED = re.compile(r"(?:answer|option)\W*(?:is\W*)?(?:option\W*)?(\d+)")
_OFFERED = re.compile(r"choice_(\d+):[ \t]*([^\n]+)")
# Characters of a choice's text that a reply has to repeat.
_COMPARED = 40


@dataclass(frozen=True, slots=True)
class LogicAnswer:
    """Reads yes or no where one of them is expected, else a choice."""

    mode: GradingMode = "lenient"

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> Graded:
        expected_choice = str(task.answer).strip().lower()
        spoken = without_thoughts(answer)
        if expected_choice in ("yes", "no"):
            reading = read_truth(spoken, self.mode)
        else:
            reading = read_choice(spoken, task.text, self.mode)
        return Graded(float(reading == expected_choice), f"read as {reading}" if reading else "no answer in the reply")


def read_truth(reply: str, mode: GradingMode = "lenient") -> str:
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
    words = _TRUTHS.findall(end)
    plain = [word for word in words if word in ("yes", "no")]
    if plain:
        return str(plain[-1])
    if mode == "exact":
        return "yes" if "true" in end else "no" if "false" in end else ""
    return _as_yes_or_no(words[-1]) if words else ""


def read_choice(reply: str, question: str, mode: GradingMode = "lenient") -> str:
    """`choice_1` and so on, or nothing."""
    lower = reply.lower()
    is_exact = mode == "exact"
    choices = [match[1] for match in _NAMED.finditer(lower) if is_exact or not _is_inside_word(lower, match)]
    if choices:
        return f"choice_{choices[-1]}"
    numbered = _NUMBERED.findall(lower)
    if numbered:
        return f"choice_{numbered[0 if is_exact else -1]}"
    for number, text in reversed(_OFFERED.findall(question)):
        if text.strip() and text.strip().lower()[:_COMPARED] in lower[-_END:]:
            return f"choice_{number}"
    line = last_line(reply) if is_exact else stated_answer(reply) or last_line(reply)
    digit = re.search(r"\b([1-5])\b", line)
    return f"choice_{digit[1]}" if digit else ""


def _is_inside_word(text: str, match: re.Match[str]) -> bool:
    before, after = text[: match.start()][-1:], text[match.end() :][:1]
    return before.isalnum() or before == "_" or after.isalnum() or after == "_"


def _as_yes_or_no(word: str) -> str:
    return {"true": "yes", "false": "no"}.get(word, word)
