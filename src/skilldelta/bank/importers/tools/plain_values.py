"""Values out of other tools' JSON, where any field may be missing, null, or of another type than it should be.

What is not what it should be is unknown, never a fault and never a zero: a tool's file has much in it that is not ours to
check, and the outcome, which is, is checked where it is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.errors import InputError

_LARGEST = 1e15


class JsonFields:
    """The fields of a JSON object; anything else has none. Of several names, the first that is there and not null counts."""

    __slots__ = ("raw",)

    def __init__(self, value: Any) -> None:
        self.raw: dict[str, Any] = value if isinstance(value, dict) else {}

    def __bool__(self) -> bool:
        return bool(self.raw)

    def __contains__(self, name: str) -> bool:
        return name in self.raw

    def get(self, name: str, *others: str) -> Any:
        """The value as it is; None where there is none."""
        value = self.raw.get(name)
        return self.get(*others) if value is None and others else value

    def text(self, *names: str) -> str:
        """A name or a text, see `text_of`."""
        return text_of(self.get(*names))

    def amount(self, *names: str) -> float | None:
        """A finite number that is not negative."""
        return amount_of(self.get(*names))

    def spent(self, *names: str) -> float | None:
        """A count that no run can have at 0, such as tokens: a 0 stands for a number that nobody took."""
        return amount_of(self.get(*names)) or None

    def seconds(self, *names: str) -> float | None:
        """A time that the file gives in milliseconds."""
        milliseconds = self.spent(*names)
        return milliseconds / 1000 if milliseconds else None

    def share(self, *names: str) -> float | None:
        """A success, see `share_of`."""
        return share_of(self.get(*names))

    def total(self, *names: str) -> float | None:
        """The sum of several counts, unknown where one of them is or all are 0."""
        return sum_of(*(self.raw.get(name) for name in names))

    def inner(self, *names: str) -> JsonFields:
        """The fields of an object in this one."""
        return JsonFields(self.get(*names))

    def values(self, *names: str) -> list[Any]:
        """A JSON array, or an empty one."""
        value = self.get(*names)
        return value if isinstance(value, list) else []

    def rows(self, *names: str) -> list[JsonFields]:
        """The objects of a JSON array."""
        return rows_of(self.get(*names))


def rows_of(value: Any) -> list[JsonFields]:
    """The objects of a JSON array."""
    return [JsonFields(row) for row in value if isinstance(row, dict)] if isinstance(value, list) else []


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


def share_of(value: Any) -> float | None:
    """A success: a number in [0, 1], true or false. Anything else is none."""
    if isinstance(value, (int, float)) and 0 <= value <= 1:
        return float(value)
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
        begin, finish = (datetime.fromisoformat(str(text).replace("Z", "+00:00")) for text in (start, end))
        return amount_of((finish - begin).total_seconds())
    except (ValueError, TypeError):
        return None


def fields_in(tree: ResultTree, name: str) -> JsonFields:
    """The object in a file; without fields where the file is not there, is damaged, or holds something else."""
    try:
        return JsonFields(tree.json(name) if name in tree else None)
    except InputError:
        return JsonFields(None)


def documents_where(tree: ResultTree, is_wanted: Callable[[JsonFields], object]) -> Iterator[tuple[str, JsonFields]]:
    """The JSON documents of a source that are of one kind, with their names."""
    for name, document in tree.documents():
        fields = JsonFields(document)
        if is_wanted(fields):
            yield name, fields


def found_where(tree: ResultTree, is_wanted: Callable[[JsonFields], object], what: str) -> str:
    """What the first document of a kind is recognized by; "" where there is none."""
    return next((f"{name} {what}" for name, _ in documents_where(tree, is_wanted)), "")


def check_score(tree: ResultTree, defaults: Defaults, names: tuple[str, ...]) -> None:
    """Refuse a score that the tool does not have."""
    if defaults.score and defaults.score not in names:
        raise InputError(f"{tree.root}: the score is one of {', '.join(names)}, got {defaults.score!r}")
