"""Assertions of a run with their verdicts, and pass rates, in the words that graders use."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from skilldelta.bank.importers.vocabulary import FAILED, PASSED

Fields = Mapping[str, Any]

# A verdict on one assertion. The first group is about passing alone; the second has other uses, and counts as a word only.
_PASS_KEYS = (
    *("passed", "pass", "met", "is_met", "satisfied", "is_satisfied", "fulfilled", "achieved", "passes", "ok"),
    *("success", "succeeded", "correct", "is_correct", "holds"),
)
_WORD_KEYS = ("verdict", "result", "status", "outcome", "grade", "assessment", "judgement", "judgment", "rating")
MARKS: Mapping[str, bool] = {
    **dict.fromkeys((*PASSED, "met", "satisfied", "ok", "✓", "✔", "✅", "fully met", "true_positive", "holds"), True),
    **dict.fromkeys((*FAILED, "not met", "unmet", "not_met", "not satisfied", "✗", "✘", "❌", "x", "missing"), False),
}
_IDENTITY_KEYS = ("id", "assertion_id", "check_id", "expectation_id", "criterion_id", "key")
_TEXT_KEYS = (
    *("text", "assertion", "expectation", "description", "criterion", "criteria", "check", "requirement", "statement"),
    *("name", "title", "question", "item", "rubric", "label"),
)
# What the run of an evaluation says of itself, and an assertion never does.
_RUN_KEYS = frozenset(
    (
        *(
            "eval_id",
            "eval_name",
            "evaluation_id",
            "task_id",
            "task_name",
            "case_id",
            "case_name",
            "test_id",
            "scenario_id",
        ),
        *(
            "configuration",
            "config",
            "arm",
            "variant",
            "condition",
            "mode",
            "run_number",
            "run_index",
            "run_id",
            "pass_rate",
        ),
        *("prompt", "with_skill", "without_skill", "baseline", "trial", "repetition", "should_trigger", "query"),
    )
)
RATE_KEYS = ("pass_rate", "passrate", "pass_ratio", "success_rate", "mean_pass_rate", "rate")
_COUNT_KEYS = (
    "passed",
    "pass_count",
    "passes",
    "num_passed",
    "passed_count",
    "n_passed",
    "total_passed",
    "passing",
    "met",
)
_FAILED_KEYS = ("failed", "fail_count", "num_failed", "failures", "failed_count")
_TOTAL_KEYS = (
    "total",
    "total_count",
    "count",
    "num_total",
    "total_assertions",
    "assertions_total",
    "out_of",
    "max",
    "n",
)
_SUMMARY_KEYS = ("result", "results", "summary", "grading", "score", "scores", "metrics", "outcome", "grade")
_FRACTION = re.compile(r"\s*(\d{1,6})\s*(?:/|of|out of)\s*(\d{1,6})\b")
_PERCENT = re.compile(r"\s*(\d{1,3}(?:\.\d+)?)\s*%")


@dataclass(frozen=True, slots=True)
class Assertion:
    """One check of a run: what identifies it among the others, and whether it passed."""

    key: str
    """Its id, or its text in lower case; "" where it has neither."""
    has_id: bool
    passed: bool


def has_verdicts(value: Any) -> bool:
    """Whether a list holds objects with verdicts, and nothing else of a run."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and _is_verdict_list(value)


def verdict(element: Any) -> bool | None:
    """Whether an assertion passed; None where it says nothing."""
    if element.__class__ is dict and element.get("passed").__class__ is bool:
        return bool(element["passed"])
    if isinstance(element, bool):
        return element
    if not isinstance(element, dict):
        return None
    for key in _PASS_KEYS:
        if key in element:
            value = element[key]
            if isinstance(value, bool):
                return value
            if isinstance(value, int | float) and value in (0, 1):
                return bool(value)
            if isinstance(value, str) and (mark := MARKS.get(value.strip().lower())) is not None:
                return mark
    for key in _WORD_KEYS:
        value = element.get(key)
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and (mark := MARKS.get(value.strip().lower())) is not None:
            return mark
    score, most = element.get("score"), element.get("max_score", 1)
    if isinstance(score, int | float) and isinstance(most, int | float) and score in (0, most) and most > 0:
        return bool(score)
    return None


def _is_verdict_list(listed: Sequence[Any]) -> bool:
    marks = 0
    for element in listed:
        if not isinstance(element, dict) or not _RUN_KEYS.isdisjoint(element):
            return False
        for value in element.values():
            if value.__class__ is list and has_verdicts(value):
                return False
        marks += element.get("passed").__class__ is bool or verdict(element) is not None
    return marks * 2 >= len(listed) and marks > 0


def assertions_in(lists: Sequence[Sequence[Any]]) -> tuple[tuple[Assertion, ...], int]:
    assertions, ungraded = [], 0
    for listed in lists:
        for element in listed:
            mark = verdict(element)
            if mark is None:
                ungraded += 1
                continue
            key, has_id = identity(element)
            assertions.append(Assertion(key, has_id, mark))
    return tuple(assertions), ungraded


def identity(element: Fields) -> tuple[str, bool]:
    for name in _IDENTITY_KEYS:
        value = element.get(name)
        # A number counts the list, and says nothing once an assertion is added in front.
        if isinstance(value, str) and value.strip() and not re.fullmatch(r"[A-Za-z]{0,2}-?\d+", value.strip()):
            return value.strip().lower(), True
    for name in _TEXT_KEYS:
        value = element.get(name)
        if isinstance(value, str) and value.strip():
            return _normalized(value), False
    return "", False


@lru_cache(maxsize=1 << 16)
def _normalized(text: str) -> str:
    """The words of an assertion, in lower case."""
    return " ".join(re.findall(r"\w+", text.lower())) or text.strip()


# Rates


def rate_of(node: Fields) -> float | None:
    """The share of assertions that passed, from counts or a rate in an object or in its summary; None where there is none."""
    direct = _direct_rate(node)
    if direct is not None:
        return direct
    for key in _SUMMARY_KEYS:
        inner = node.get(key)
        if isinstance(inner, dict) and (rate := _direct_rate(inner)) is not None:
            return rate
    return None


def _direct_rate(node: Fields) -> float | None:
    passed, total = _count(node, _COUNT_KEYS), _count(node, _TOTAL_KEYS)
    failed = _count(node, _FAILED_KEYS)
    if total is None and passed is not None and failed is not None:
        total = passed + failed
    if total == 0:
        return None
    if passed is not None and total is not None and passed <= total:
        return passed / total
    for key in RATE_KEYS:
        value = node.get(key)
        value = value.get("mean") if isinstance(value, dict) else value
        rate = scalar_rate(value)
        if rate is not None and not isinstance(value, bool):
            return rate
    for key in ("passed", "pass", "success", "score"):
        value = node.get(key)
        if isinstance(value, bool) and key != "score":
            return float(value)
        if isinstance(value, str) and (_FRACTION.match(value) or _PERCENT.match(value)):
            return scalar_rate(value)
    return None


def _count(node: Fields, keys: Sequence[str]) -> int | None:
    for key in keys:
        value = node.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
    return None


def scalar_rate(value: Any) -> float | None:
    """0.8, true, "4/5" or "80%"; a bare number above 1 may be anything."""
    if isinstance(value, bool | int | float):
        return float(value) if math.isfinite(value) and 0 <= value <= 1 else None
    if isinstance(value, str):
        if (match := _FRACTION.match(value)) and 0 < int(match[2]) >= int(match[1]):
            return int(match[1]) / int(match[2])
        if (match := _PERCENT.match(value)) and float(match[1]) <= 100:
            return float(match[1]) / 100
    return None
