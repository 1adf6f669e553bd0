"""Graded runs inside a JSON document, wherever they stand in it and whatever the list of verdicts is called.

A list of objects that each carry a verdict (`passed`, `met`, `"verdict": "PASS"`) is the grading of one run, unless the objects say
themselves which evaluation or arm they are of: then each of them is a run. Where no verdict is listed, a pass rate or a count
of passed assertions is the grading. Means over evaluations are no runs, and definitions carry no verdicts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from skilldelta.bank.importers.workspace.arm_words import ArmName, arm_of_name, plain_words
from skilldelta.bank.importers.workspace.assertions import (
    CHECKS,
    HALVES,
    RATE_KEYS,
    Assertion,
    Fields,
    are_percent,
    assertions_in,
    checks_as_lists,
    has_verdicts,
    identity,
    in_shares,
    mark_of,
    plain_assertions,
    rate_of,
    scalar_rate,
    verdict,
)

# Numbers over several evaluations, which no single run has.
_AGGREGATES = re.compile(
    r"(?:^|_)(?:run_summary|summary|aggregate|aggregated|overall|totals?|averages?|means?|delta|deltas|comparison|previous"
    r"|history|by_configuration|by_config|by_arm|statistics|stats)(?:_|$)"
)
# with_skill_passed, baseline_result
_VERDICT_WORD = re.compile(r"_(?:passed|pass|met|result|verdict|status|outcome)\Z", re.IGNORECASE)
_FLAT = re.compile(r"[a-z].*(?:rate|ratio|passed|total|count|failed|tokens|seconds|score)\Z", re.IGNORECASE)
_FLAT_SUFFIXES = (
    *(*RATE_KEYS, "passed", "total", "pass_count", "failed", "tokens", "total_tokens", "seconds", "score"),
)
_DEEPEST = 9


class Grading(NamedTuple):
    """The grading of one run, and everything in the document that may say whose it is."""

    assertions: tuple[Assertion, ...]
    rate: float | None
    """Where no assertion is listed."""
    levels: tuple[tuple[str, Fields], ...]
    """From the run outward: the key that leads to an object, and the object. The outermost has no key."""
    place: str
    """`runs[3].with_skill`; "" for the document itself."""
    lists: tuple[Any, ...] = ()
    """The lists of verdicts as they stand in the file."""
    ungraded: int = 0
    """Assertions without a verdict."""


def gradings_in(document: Any) -> list[Grading]:
    """Every graded run of a document."""
    if (plain := _plain_grading(document)) is not None:
        return [plain]
    gradings = _gradings(document)
    if not any(grading.assertions for grading in gradings) and are_percent(document):
        return _gradings(in_shares(document))
    return gradings


def _plain_grading(document: Any) -> Grading | None:
    """The grading in an object with one list of plain verdicts and no word of an arm, which most are; else None."""
    if document.__class__ is not dict or not _is_plain_shape(tuple(document)):
        return None
    rows = None
    for key, value in document.items():
        if value.__class__ is list and value and (value[0].__class__ is dict or key in HALVES):
            if rows is not None or key in HALVES:
                return None
            rows = value
        elif value.__class__ is dict and key in CHECKS:
            return None
    assertions = plain_assertions(rows) if rows is not None else None
    return Grading(assertions, None, (("", document),), "", (rows,)) if assertions else None


@lru_cache(maxsize=4096)
def _is_plain_shape(keys: tuple[str, ...]) -> bool:
    """Whether no key of an object says an arm."""
    stems = (plain_words(key).removesuffix(f"_{suffix}") for key in keys for suffix in ("", *_FLAT_SUFFIXES))
    return all(arm_of_name(stem) is None for stem in stems)


def _gradings(document: Any) -> list[Grading]:
    if isinstance(document, list):
        return list(_in_list("", document, (), "", 0))
    return list(_in_object(document, (("", document),), "", 0)) if isinstance(document, dict) else []


@lru_cache(maxsize=4096)
def _is_aggregate(key: str) -> bool:
    return bool(_AGGREGATES.search(plain_words(key)))


# Where in a document the runs stand


def _in_object(node: Fields, levels: tuple[tuple[str, Fields], ...], place: str, depth: int) -> Iterator[Grading]:
    if depth > _DEEPEST:
        return
    node = checks_as_lists(_unflattened(node))
    levels = ((levels[0][0], node), *levels[1:]) if levels else levels
    own = {key: value for key, value in node.items() if has_verdicts(value)}
    if own:
        yield from _own_gradings(own, levels, place)
    split = next((value for value in node.values() if _is_split_by_arm(value)), None)
    if split is not None:
        yield from _by_arm(split, levels, place)
    children = list(_children(node, own))
    below = [grading for key, value in children for grading in _child(key, value, levels, place, depth)]
    if own or split is not None or any(grading.assertions for grading in below):
        # A list of verdicts speaks for the run; rates beside it repeat it, or are means.
        yield from (grading for grading in below if grading.assertions or not own)
        return
    yield from _scalar_arms(node, levels, place)
    if below:
        yield from below
        return
    rate = rate_of(node)
    if rate is not None:
        yield Grading((), rate, levels, place)


def _child(key: str, value: Any, levels: tuple[tuple[str, Fields], ...], place: str, depth: int) -> Iterator[Grading]:
    where = f"{place}.{key}" if place else key
    if isinstance(value, dict):
        yield from _in_object(value, ((key, value), *levels), where, depth + 1)
    else:
        yield from _in_list(key, value, levels, where, depth + 1)


def _in_list(
    key: str, listed: list[Any], levels: tuple[tuple[str, Fields], ...], place: str, depth: int
) -> Iterator[Grading]:
    if has_verdicts(listed) and not levels:
        assertions, ungraded = assertions_in([listed])
        yield Grading(assertions, None, (("", {}),), place, (listed,), ungraded)
        return
    for number, value in enumerate(listed):
        if isinstance(value, dict):
            yield from _in_object(value, ((f"[{number}]", value), (key, {}), *levels), f"{place}[{number}]", depth + 1)


def _children(node: Fields, own: Fields) -> Iterator[tuple[str, Any]]:
    for key, value in node.items():
        if key in own or _is_split_by_arm(value):
            continue
        is_object = isinstance(value, dict)
        if not is_object and not (isinstance(value, list) and any(isinstance(item, dict) for item in value)):
            continue
        # Beside a list of verdicts an object is about the same run: its summary, its timing.
        if own and is_object and arm_of_name(key) is None:
            continue
        if _is_aggregate(key) and not _has_verdicts_inside(value):
            continue
        yield key, value


def _has_verdicts_inside(node: Any, depth: int = 0) -> bool:
    if depth > 4:
        return False
    if isinstance(node, dict):
        return any(has_verdicts(value) or _has_verdicts_inside(value, depth + 1) for value in node.values())
    return isinstance(node, list) and any(_has_verdicts_inside(value, depth + 1) for value in node[:50])


def _own_gradings(own: Mapping[str, Any], levels: tuple[tuple[str, Fields], ...], place: str) -> Iterator[Grading]:
    """The lists of one object: of several arms where their keys say so, else parts of one grading."""
    arms = {key: arm_of_name(key) for key in own}
    arm_keys = {key for key, arm in arms.items() if arm is not None and arm.is_sure}
    for key in arm_keys:
        assertions, ungraded = assertions_in([own[key]])
        where = f"{place}.{key}" if place else key
        yield Grading(assertions, None, ((key, {}), *levels), where, (own[key],), ungraded)
    shared = [value for key, value in own.items() if key not in arm_keys]
    if shared:
        assertions, ungraded = assertions_in(_without_copies(shared))
        yield Grading(assertions, None, levels, place, tuple(shared), ungraded)


def _without_copies(lists: Sequence[Any]) -> list[Any]:
    """The lists, without those that repeat another's assertions with the same verdicts."""
    distinct: list[Any] = []
    for listed in lists:
        marks = [(identity(element), verdict(element)) for element in listed]
        if not any([(identity(element), verdict(element)) for element in other] == marks for other in distinct):
            distinct.append(listed)
    return distinct


def _is_split_by_arm(value: Any) -> bool:
    """Whether a list of assertions has both arms' verdicts in each: `{"text": …, "with_skill": true, "baseline": false}`."""
    if not isinstance(value, list) or not value or not all(isinstance(item, dict) for item in value):
        return False
    arms = _verdict_arms(value[0])
    return {arm.meaning for arm in arms.values()} == {"use", "skip"} and not _has_run_identity(value[0])


def _has_run_identity(element: Fields) -> bool:
    return any(key in element for key in ("eval_id", "eval_name", "task_id", "prompt", "configuration", "run_number"))


def _verdict_arms(element: Fields) -> dict[str, ArmName]:
    arms = {}
    for key, value in element.items():
        arm = arm_of_name(_VERDICT_WORD.sub("", key))
        if arm is not None and arm.is_sure and (verdict(value) is not None or mark_of(value) is not None):
            arms[key] = arm
    return arms


def _by_arm(listed: Sequence[Fields], levels: tuple[tuple[str, Fields], ...], place: str) -> Iterator[Grading]:
    for key in _verdict_arms(listed[0]):
        assertions = []
        for element in listed:
            mark = verdict(element.get(key))
            mark = mark_of(element.get(key)) if mark is None else mark
            if mark is not None:
                assertions.append(Assertion(*identity(element), mark))
        ungraded = len(listed) - len(assertions)
        where = f"{place}.{key}" if place else key
        arm = _VERDICT_WORD.sub("", key)
        yield Grading(tuple(assertions), None, ((arm, {}), *levels), where, (listed, key), ungraded)


def _scalar_arms(node: Fields, levels: tuple[tuple[str, Fields], ...], place: str) -> Iterator[Grading]:
    """`{"with_skill": 0.8, "without_skill": 0.5}`: rates or verdicts right under the names of both arms."""
    arms = {
        key: rate
        for key, value in node.items()
        if not isinstance(value, dict | list)
        and (arm := arm_of_name(key)) is not None
        and arm.is_sure
        and (rate := mark_of(value) if isinstance(value, str) and mark_of(value) is not None else scalar_rate(value))
        is not None
    }
    if {arm.meaning for key in arms if (arm := arm_of_name(key)) is not None} == {"use", "skip"}:
        for key, rate in arms.items():
            yield Grading((), rate, ((key, {}), *levels), f"{place}.{key}" if place else key)


def _unflattened(node: Fields) -> Fields:
    """`with_skill_pass_rate` and `baseline_pass_rate` as objects of their arms, where both arms are written so."""
    nested: dict[str, dict[str, Any]] = {}
    for key, value in node.items():
        if len(key) < 8 or isinstance(value, dict | list) or not _FLAT.search(key):
            continue
        plain = plain_words(key)
        for suffix in _FLAT_SUFFIXES:
            stem = plain.removesuffix(f"_{suffix}")
            arm = arm_of_name(stem) if stem != plain else None
            if arm is not None and arm.is_sure:
                nested.setdefault(stem, {})[suffix] = value
    rated = {stem: fields for stem, fields in nested.items() if rate_of(fields) is not None}
    meanings = {arm.meaning for stem in rated if (arm := arm_of_name(stem)) is not None}
    if meanings != {"use", "skip"} or any(stem in node for stem in rated):
        return node
    return {**node, **rated}
