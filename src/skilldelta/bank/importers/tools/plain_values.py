"""Values out of other tools' JSON, where any field may be missing, null, or of another type than it should be.

What is not what it should be is unknown, never a fault and never a zero: a tool's file has much in it that is not ours to
check, and the outcome, which is, is checked where it is read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

_LARGEST = 1e15


def text_of(value: Any) -> str:
    """A name or a text; a whole number is taken as text, anything else is none. What no database stores is replaced."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return ""
    text: str = value.replace("\0", "\ufffd") if "\0" in value else value
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def amount_of(value: Any) -> float | None:
    """A finite number that is not negative."""
    if isinstance(value, (int, float)) and value is not True and value is not False and 0 <= value <= _LARGEST:
        return float(value)
    return None


def spent_of(value: Any) -> float | None:
    """A count that no run can have at 0, such as tokens: a 0 stands for a number that nobody took."""
    return amount_of(value) or None


def share_of(value: Any) -> float | None:
    """A success: a number in [0, 1], true or false. Anything else is none."""
    if isinstance(value, (int, float)) and 0 <= value <= 1:
        return float(value)
    return None


def object_of(value: Any) -> Mapping[str, Any]:
    """A JSON object, or an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """A JSON array, or an empty one."""
    return value if isinstance(value, list) else []


def objects_of(value: Any) -> list[Mapping[str, Any]]:
    """The objects of a JSON array."""
    return [one for one in list_of(value) if isinstance(one, dict)]


def first_of(row: Mapping[str, Any], *names: str) -> Any:
    """The first of several fields that is there and not null."""
    for name in names:
        value = row.get(name)
        if value is not None:
            return value
    return None


def sum_of(*values: Any) -> float | None:
    """The sum of counts, unknown where one of them is or all are 0."""
    amounts = [amount_of(value) for value in values]
    if any(amount is None for amount in amounts):
        return None
    return math.fsum(amount for amount in amounts if amount is not None) or None


def seconds_between(start: Any, end: Any) -> float | None:
    """The time between two ISO dates, where both are there and in order."""
    try:
        begin, finish = (datetime.fromisoformat(str(one).replace("Z", "+00:00")) for one in (start, end))
        return amount_of((finish - begin).total_seconds())
    except (ValueError, TypeError):
        return None
