"""Values out of the JSON that harnesses print and keep. Other people's documents: every field may be missing or odd."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from skilldelta.json_text import decode_json

ANY_PROVIDER = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY")


def json_events(printed: str) -> Iterator[dict[str, Any]]:
    """The lines of an output that are JSON objects; harnesses print warnings between them."""
    for line in printed.splitlines():
        try:
            event = decode_json(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            yield event


def object_of(value: object) -> dict[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def count(value: object) -> int | None:
    """The value where it is a count that a float can hold."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None


def sum_of(documents: Iterable[Any], *names: str) -> float | None:
    """The sum of the counts of these names that the documents have; None where there is none."""
    values: list[Any] = [document.get(name) for document in documents if isinstance(document, dict) for name in names]
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    counts = [float(number) for number in numbers if 0 <= number < 1e15]
    return sum(counts) if counts else None
