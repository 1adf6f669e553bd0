"""The values of one row, read strictly: what is accepted, what is missing, what is refused.

Missing is null or absent and never a failure. Numbers in quotes are refused; true and false are 1 and 0.
"""

from __future__ import annotations

import difflib
import reprlib
import sys
from collections.abc import Collection
from typing import Any, NamedTuple

from skilldelta.bank.importers.source import Row, RowError
from skilldelta.nouns import plural

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


class Outcome(NamedTuple):
    """One repetition of one arm."""

    repetition: int
    success: float
    tokens: float | None


def shown(value: object) -> str:
    """A value for a message: one line, and never long."""
    return _SHORT.repr(value)


def check_columns(row: Collection[str], known: frozenset[str], *, ignored: frozenset[str] = frozenset()) -> None:
    """Refuse a column that no reader knows, naming the nearest that one does: a misspelled column would be lost."""
    for name in row:
        if name not in known and name not in ignored:
            near = difflib.get_close_matches(name.lower(), sorted(known), n=1)
            remedy = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known))}"
            raise RowError(f"unknown column {shown(name)}; {remedy}")


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


def task_text(row: Row) -> str:
    """The task's text, under either of its two names, or "" where the row has none."""
    text, question = _text(row, "text"), _text(row, "question")
    if text and question and text != question:
        raise RowError(f"text {shown(text)} and question {shown(question)} differ; keep one of them")
    return text or question


def success(value: Any, name: str) -> float | None:
    """A success in [0, 1], true or false; None where it is missing."""
    if value is None:
        return None
    if isinstance(value, bool | int | float) and 0 <= value <= 1:  # NaN fails the comparison
        return float(value)
    if isinstance(value, str):
        raise RowError(f"{name} holds the string {shown(value)}; write a number in [0, 1] without quotes")
    if isinstance(value, int | float):
        raise RowError(f"{name} must lie in [0, 1], got {shown(value)}; scale it, or write null for a missing run")
    raise RowError(f"{name} must be a number in [0, 1], got {shown(value)}")


def amount(value: Any, name: str) -> float | None:
    """Tokens, seconds or money: finite and not negative; None where it is unknown."""
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= sys.float_info.max:
        return float(value)
    raise RowError(f"{name} must be a finite number of at least 0, got {shown(value)}; write null where it is unknown")


def whole(value: Any, name: str) -> int | None:
    """A count from 0; None where it is missing. 1.0 is 1, because tables often store counts so."""
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**31 and value == int(value):
        return int(value)
    raise RowError(f"{name} must be a whole number from 0, got {shown(value)}")


def arm(row: Row, y: str, tokens: str) -> list[Outcome]:
    """The repetitions of one arm of a pair, numbered from 0 by their position; an empty list is a missing arm.

    A single number is one repetition. A null keeps its position and is a missing repetition.
    """
    if y not in row:
        raise RowError(f"there is no {y}; write [] for an arm that was not run")
    successes = _listed(row[y])
    costs = _listed(row.get(tokens))
    if row.get(tokens) is not None and len(costs) != len(successes):
        raise RowError(
            f"{tokens} has {plural(len(costs), 'entry', 'entries')} for {len(successes)} in {y}; give one for each "
            f"(null where it is unknown), or leave {tokens} out"
        )
    outcomes = []
    for repetition, value in enumerate(successes):
        result = success(value, y)
        spent = amount(costs[repetition], tokens) if costs else None
        if result is not None:
            outcomes.append(Outcome(repetition, result, spent))
    return outcomes


def _listed(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
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
