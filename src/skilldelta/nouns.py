"""Counted nouns, for every line that a person reads: 1 task, 2 tasks, 6,511 tasks; and long lists of names."""

from __future__ import annotations

from collections.abc import Sequence


def plural(count: float, singular: str, many: str | None = None) -> str:
    """The count with its noun; `many` is for nouns that do not end in s, or for a noun with its verb."""
    number = f"{count:,.0f}"
    return f"{number} {singular if number == '1' else many or singular + 's'}"


def listed(names: Sequence[str], most: int) -> str:
    """The first names, and how many others there are: `a, b and 3 more`."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
