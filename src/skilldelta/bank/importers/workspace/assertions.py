"""Assertions of a run with their verdicts, and pass rates, in the words that graders use."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from skilldelta.bank.importers.vocabulary import FAILED, PASSED
from skilldelta.bank.importers.workspace.arm_words import arm_of_name

Fields = Mapping[str, Any]

# A verdict on one assertion. The first group is about passing alone; the second has other uses, and counts as a word only.
_PASS_KEYS = (
    *("passed", "pass", "met", "is_met", "satisfied", "is_satisfied", "fulfilled", "achieved", "passes", "ok"),
    *("success", "succeeded", "correct", "is_correct", "holds"),
)
_WORD_KEYS = ("verdict", "result", "status", "outcome", "grade", "assessment", "judgement", "judgment", "rating")
_MARKS: Mapping[str, float] = {
    **dict.fromkeys((*PASSED, "met", "satisfied", "ok", "✓", "✔", "✅", "fully met", "true_positive", "holds"), 1.0),
    **dict.fromkeys((*FAILED, "not met", "unmet", "not_met", "not satisfied", "✗", "✘", "❌", "x", "missing"), 0.0),
    **dict.fromkeys(("partial", "partially", "partly", "partially met", "partially_met", "partially passed"), 0.5),
    **dict.fromkeys(("partially satisfied", "partial pass", "partial_pass", "partial credit"), 0.5),
}
# A verdict with its reason behind it: `PASS - the header is there`.
_LEADING_WORD = re.compile(
    r"\W*(passed|pass|failed|fail|not met|met|partially met|partially|partial)\s*(?:[-–—:(,.;]|\Z)", re.IGNORECASE
)
_MOST_KEYS = ("max_score", "max", "max_points", "points_possible", "possible", "out_of", "maximum", "total_points")
_SCORE_KEYS = ("score", "points", "points_earned", "earned", "points_awarded", "awarded")
# Keys that hold checks, which may be keys of an object in place of a list.
CHECKS = frozenset(
    (
        *(
            "expectations",
            "assertions",
            "assertion_results",
            "checks",
            "criteria",
            "verdicts",
            "requirements",
            "rubric",
        ),
        *("expectation_results", "assertion_verdicts", "check_results", "criteria_results", "verdict_by_assertion"),
    )
)
_PAIRS = (("passed", "failed"), ("passes", "failures"), ("met", "unmet"), ("met", "not_met"), ("pass", "fail"))
HALVES = frozenset(name for pair in _PAIRS for name in pair)
_IDENTITY_KEYS = ("id", "assertion_id", "check_id", "expectation_id", "criterion_id", "key")
_IDENTIFIES = frozenset(_IDENTITY_KEYS)
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
RATE_KEYS = ("pass_rate", "passrate", "pass_ratio", "success_rate", "mean_pass_rate", "passing_rate", "rate")
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
_DEEPEST = 9
_FRACTION = re.compile(r"\s*(\d{1,6})\s*(?:/|of|out of)\s*(\d{1,6})\b")
_PERCENT = re.compile(r"\s*(\d{1,3}(?:\.\d+)?)\s*%")


class Assertion(NamedTuple):
    """One check of a run: what identifies it among the others, and whether it passed."""

    key: str
    """Its id, or its text in lower case; "" where it has neither."""
    has_id: bool
    passed: float
    """1 or 0, or between them where the grader gives part of the points."""


def has_verdicts(value: Any) -> bool:
    """Whether a list holds objects with verdicts, and nothing else of a run."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict) and _is_verdict_list(value)


def verdict(element: Any) -> float | None:
    """Whether an assertion passed, or which share of its points it got; None where it says nothing."""
    if element.__class__ is dict and element.get("passed").__class__ is bool:
        return 1.0 if element["passed"] else 0.0
    if isinstance(element, bool):
        return float(element)
    if not isinstance(element, dict):
        return None
    for key in _PASS_KEYS:
        if key in element:
            value = element[key]
            if isinstance(value, bool) or (isinstance(value, int | float) and value in (0, 1)):
                return float(value)
            if (mark := mark_of(value)) is not None:
                return mark
    for key in _WORD_KEYS:
        value = element.get(key)
        if isinstance(value, bool):
            return float(value)
        if (mark := mark_of(value)) is not None:
            return mark
    return _share_of_points(element)


def mark_of(value: Any) -> float | None:
    """What a word says about passing, which may have its reason behind it."""
    if not isinstance(value, str):
        return None
    mark = _MARKS.get(value.strip().lower())
    if mark is None and (match := _LEADING_WORD.match(value)):
        mark = _MARKS[match[1].lower()]
    return mark


def _share_of_points(element: Fields) -> float | None:
    """The points of an assertion, where their number is known; a score up to 1 without one is a share."""
    score = next((value for key in _SCORE_KEYS if isinstance(value := element.get(key), int | float)), None)
    most = next((value for key in _MOST_KEYS if isinstance(value := element.get(key), int | float)), None)
    if score is None or isinstance(score, bool) or isinstance(most, bool):
        return None
    if most is None:
        return float(score) if 0 <= score <= 1 else None
    return score / most if 0 <= score <= most and most > 0 else None


def checks_as_lists(node: Fields) -> Fields:
    """An object whose checks are keys (`{"has a header": "PASS"}`) or two lists (passed, failed), with one list of them."""
    lists = {key: rows for key, value in node.items() if key in CHECKS and (rows := _keyed_checks(value))}
    for passed, failed in _PAIRS:
        halves = node.get(passed), node.get(failed)
        if all(isinstance(half, list) for half in halves) and any(halves):
            texts = [[text for text in half or () if isinstance(text, str)] for half in halves]
            if sum(map(len, texts)) == sum(len(half or ()) for half in halves):
                marks = ((text, mark) for half, mark in zip(texts, (True, False), strict=True) for text in half)
                lists[passed] = [{"text": text, "passed": mark} for text, mark in marks]
    return {**node, **lists} if lists else node


def _keyed_checks(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, dict) or not value or any(arm_of_name(key) for key in value):
        return []
    rows: list[dict[str, Any]] = []
    for key, check in value.items():
        mark = mark_of(check) if isinstance(check, str) else verdict(check)
        if mark is None or (isinstance(check, dict) and not _RUN_KEYS.isdisjoint(check)):
            return []
        rows.append({"text": key, **(check if isinstance(check, dict) else {}), **_as_fields(mark)})
    return rows


def _as_fields(mark: float) -> dict[str, Any]:
    return {"passed": bool(mark)} if mark in (0, 1) else {"score": mark, "max_score": 1}


def _is_verdict_list(listed: Sequence[Any]) -> bool:
    marks, scores = 0, False
    for element in listed:
        if not isinstance(element, dict) or not _RUN_KEYS.isdisjoint(element):
            return False
        for value in element.values():
            if value.__class__ is list and has_verdicts(value):
                return False
        marks += element.get("passed").__class__ is bool or verdict(element) is not None
        # A 1 among scores up to 5 is no pass.
        scores = scores or (verdict(element) is None and any(_is_above_one(element.get(key)) for key in _SCORE_KEYS))
    return marks * 2 >= len(listed) and marks > 0 and not scores


def _is_above_one(value: Any) -> bool:
    return isinstance(value, int | float) and value > 1


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


def plain_assertions(listed: Sequence[Any]) -> tuple[Assertion, ...] | None:
    """The assertions of a list in which each says `passed` and nothing of another run; None for any other list."""
    assertions = []
    for element in listed:
        if element.__class__ is not dict or not _is_plain_check(tuple(element)):
            return None
        passed = element["passed"]
        if passed.__class__ is not bool or list in map(type, element.values()):
            return None
        assertions.append(Assertion(*identity(element), 1.0 if passed else 0.0))
    return tuple(assertions)


@lru_cache(maxsize=4096)
def _is_plain_check(keys: tuple[str, ...]) -> bool:
    return "passed" in keys and _RUN_KEYS.isdisjoint(keys) and all(arm_of_name(key) is None for key in keys)


def identity(element: Fields) -> tuple[str, bool]:
    for name in () if _IDENTIFIES.isdisjoint(element) else _IDENTITY_KEYS:
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
    if any(key in node for key in _MOST_KEYS) and (share := _share_of_points(node)) is not None:
        return share
    for key in ("passed", "pass", "success", "score"):
        value = node.get(key)
        if isinstance(value, bool) and key != "score":
            return float(value)
        if isinstance(value, str) and (_FRACTION.match(value) or _PERCENT.match(value)):
            return scalar_rate(value)
        if key != "score" and (mark := mark_of(value)) is not None:
            return mark
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


def are_percent(document: Any) -> bool:
    """Whether the pass rates of a document are written from 0 to 100: one is above 1, and none lies between 0 and 1."""
    rates = list(_bare_rates(document, 0))
    return any(rate > 1 for rate in rates) and all(rate <= 100 and not 0 < rate < 1 for rate in rates)


def _bare_rates(node: Any, depth: int) -> Iterator[float]:
    if depth > _DEEPEST:
        return
    if isinstance(node, list):
        for value in node:
            yield from _bare_rates(value, depth + 1)
    if isinstance(node, dict):
        for key, value in node.items():
            if _is_bare_rate(key, value):
                yield value
            elif isinstance(value, dict | list):
                yield from _bare_rates(value, depth + 1)


def _is_bare_rate(key: str, value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and key.lower().endswith(RATE_KEYS)


def in_shares(node: Any) -> Any:
    """A document whose pass rates are percent, with shares in their place."""
    if isinstance(node, list):
        return [in_shares(value) for value in node]
    if not isinstance(node, dict):
        return node
    return {key: value / 100 if _is_bare_rate(key, value) else in_shares(value) for key, value in node.items()}
