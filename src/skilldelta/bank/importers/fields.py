"""The values of one row: what is accepted, what is missing, what is refused.

Missing is null, absent or an empty cell, and never a failure. Words such as pass and fail are successes; a number out of
range is refused, whatever it was meant to be.
"""

from __future__ import annotations

import sys
from typing import Any, Literal, NamedTuple

from skilldelta.bank.importers.messy_tables import plain_number
from skilldelta.bank.importers.source import Row, RowError
from skilldelta.bank.importers.vocabulary import FAILED, MISSING, PASSED
from skilldelta.errors import shown
from skilldelta.json_text import decode_json
from skilldelta.records import bundle_name

_LARGEST = sys.float_info.max
Remark = Literal["", "ragged tokens", "means of unknown spread"]


class ArmRuns(NamedTuple):
    """The repetitions of one arm of a pair, and what of its row could not be used."""

    successes: list[float | None]
    """By repetition; None is a missing one."""
    tokens: list[float | None]
    remark: Remark = ""
    """Tokens of another length than the successes are unknown; a mean that no successes and failures have stands for
    every repetition."""


def word(row: Row, name: str) -> str:
    """A name such as an id, a family or an agent, or "" where the row has none. Whole numbers are taken as text."""
    value = row.get(name)
    if value is None:
        return ""
    if type(value) is int:
        return str(value)
    if type(value) is not str:
        raise RowError(f"{name} must be a string, got {shown(value)}; put it in quotes")
    return _storable(value, name) if value.strip() else ""


def skill_name(row: Row, name: str = "skill") -> str:
    """A skill, or a bundle: a list of skills, or several joined by "+", is one name in whatever order it is written."""
    value = row.get(name)
    if type(value) is str and "+" not in value:
        return word(row, name)
    parts = value if isinstance(value, list) else [value]
    return bundle_name([word({name: part}, name) for part in parts])


def task_text(row: Row) -> str:
    """The task's text, under either of its two names, or "" where the row has none."""
    text, question = _text(row, "text"), _text(row, "question")
    if text and question and text != question:
        raise RowError(f"text {shown(text)} and question {shown(question)} differ; keep one with --map text=COLUMN")
    return text or question


def success(value: Any, name: str) -> float | None:
    """A success in [0, 1], true or false, pass or fail, or a percentage with its sign; None where it is missing."""
    if value is None:
        return None
    if isinstance(value, (bool, int, float)) and 0 <= value <= 1:  # NaN fails the comparison
        return float(value)
    if isinstance(value, str):
        return _success_in_words(value, name)
    if isinstance(value, (int, float)):
        raise RowError(f"{name} must lie in [0, 1], got {shown(value)}; scale it, or write null for a missing run")
    raise RowError(f"{name} must be a number in [0, 1], got {shown(value)}")


def amount(value: Any, name: str) -> float | None:
    """Tokens, seconds or money: finite and not negative; None where it is unknown."""
    number = _read_number(value) if isinstance(value, str) else value
    if number is None:
        return None
    if isinstance(number, (int, float)) and number is not True and number is not False and 0 <= number <= _LARGEST:
        return float(number)
    raise RowError(f"{name} must be a finite number of at least 0, got {shown(value)}; write null where it is unknown")


def whole(value: Any, name: str) -> int | None:
    """A count from 0; None where it is missing. 1.0 is 1, because tables often store counts so."""
    number = _read_number(value) if isinstance(value, str) else value
    if number is None:
        return None
    if isinstance(number, int | float) and not isinstance(number, bool) and 0 <= number < 2**31 and number % 1 == 0:
        return int(number)
    raise RowError(f"{name} must be a whole number from 0, got {shown(value)}; leave the column out with --map {name}=")


def arm(row: Row, y: str, tokens: str, count: int | None = None) -> ArmRuns:
    """The repetitions of one arm of a pair, numbered from 0 by their position; an empty list is a missing arm.

    A single number is one repetition, or with `count` the mean of so many. A null keeps its position and is a missing
    repetition. Tokens of another length than the successes are unknown.
    """
    if y not in row:
        raise RowError(f"there is no {y}; write [] for an arm that was not run, or say --map {y}=COLUMN")
    outcomes, spent = row[y], row.get(tokens)
    successes = outcomes if type(outcomes) is list else _listed(outcomes)
    costs = spent if type(spent) is list else _listed(spent)
    if count is not None and not (count == 1 and len(successes) <= 1):
        return _mean_of(outcomes, costs, count, y, tokens)
    differ = len(costs) != len(successes)
    remark: Remark = "ragged tokens" if differ and spent is not None and successes else ""
    if differ:  # tokens of an arm that was not run are nobody's
        costs = [None] * len(successes)
    return ArmRuns([success(value, y) for value in successes], [amount(cost, tokens) for cost in costs], remark)


def repetition_count(row: Row, own: str, default: int | None) -> int | None:
    """How many runs stand behind a mean: the arm's column, the pair's, or what the import says."""
    for name in (own, "repetitions"):
        count = whole(row.get(name), name)
        if count is not None:
            if not 1 <= count <= _MOST_REPETITIONS:
                raise RowError(f"{name} must lie between 1 and {_MOST_REPETITIONS}, got {count}")
            return count
    return default


_MOST_REPETITIONS = 1000
# How far a mean that was written with two digits may lie from the mean itself.
_ROUNDED = 0.005


def _mean_of(value: Any, costs: list[Any], count: int, y: str, tokens: str) -> ArmRuns:
    """As many runs as a mean was taken over, with that mean: successes and failures where it can be theirs."""
    listed = _listed(value)
    if not listed:
        return ArmRuns([], [])
    if len(listed) > 1:
        if len(listed) != count:
            raise RowError(
                f"{y} has {len(listed)} repetitions, but {count} are said to stand behind it; say one of them"
            )
        return arm({y: value, tokens: costs or None}, y, tokens)
    mean = success(listed[0], y)
    if mean is None:
        return ArmRuns([], [])
    spent = amount(costs[0], tokens) if len(costs) == 1 else None
    passed = round(mean * count)
    is_binary = abs(mean * count - passed) <= min(_ROUNDED * count, 0.05) + 1e-9
    values: list[float | None] = [*([1.0] * passed), *([0.0] * (count - passed))] if is_binary else [mean] * count
    ragged: Remark = "ragged tokens" if len(costs) > 1 else ""
    return ArmRuns(values, [spent] * count, ragged if is_binary else "means of unknown spread")


def _success_in_words(value: str, name: str) -> float | None:
    bare = value.strip().lower()
    if bare in PASSED or bare in FAILED:
        return 1.0 if bare in PASSED else 0.0
    number = _read_number(bare.removesuffix("%").rstrip())
    if number is None:
        return None
    if isinstance(number, str):
        raise RowError(
            f"{name} must be a number in [0, 1] or a word such as pass or fail, got {shown(value)}; "
            "leave it empty where the run is missing"
        )
    scaled = number / 100 if bare.endswith("%") else number
    if 0 <= scaled <= 1:
        return float(scaled)
    raise RowError(
        f"{name} must lie in [0, 1], got {shown(value)[1:-1]}; scale it, or leave it empty for a missing run"
    )


def _read_number(text: str) -> int | float | str | None:
    """A number that was written as text, None for a cell that stands for nothing, and the text itself for any other."""
    bare = text.strip()
    if bare.lower() in MISSING:
        return None
    if "_" in bare:  # Python would read 1_0 as ten
        return text
    bare = plain_number(bare)
    try:
        return int(bare) if bare.isdecimal() and len(bare) < 20 else float(bare)
    except ValueError:
        return text


def _listed(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, str) and value.lstrip().startswith("["):  # a list that a table wrote into one cell
        try:
            items = decode_json(value)
        except ValueError:
            return [value]
        return items if isinstance(items, list) else [value]
    return [] if value is None else [value]


def _text(row: Row, name: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if type(value) is not str:
        raise RowError(f"{name} must be a string, got {shown(value)}; put it in quotes")
    if not value.strip():
        raise RowError(f"{name} is empty; give the task's question, or leave the task out")
    return _storable(value, name)


def _storable(value: str, name: str) -> str:
    """Refuse what no database stores: a NUL, half a surrogate pair."""
    if "\0" in value:
        raise RowError(f"{name} {shown(value)} has a NUL character; remove it")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise RowError(f"{name} {shown(value)} has half a surrogate pair; remove that character") from None
    return value
