"""Counted nouns, for every line that a person reads: 1 task, 2 tasks, 6,511 tasks."""

from __future__ import annotations


def plural(count: float, singular: str, many: str | None = None) -> str:
    """The count with its noun; `many` is for nouns that do not end in s, or for a noun with its verb."""
    number = f"{count:,.0f}"
    return f"{number} {singular if number == '1' else many or singular + 's'}"
