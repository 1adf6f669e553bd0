"""JSON from outside: one way to read it, so that every fault of a text is a ValueError.

Only the standard library is used, because hooks of agent harnesses read through this file while a person waits.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False  # as `typing` has it, which takes 2 ms to load
if TYPE_CHECKING:
    from typing import Any


def decode_json(text: str | bytes, **options: Any) -> Any:
    """The value; a ValueError for what is no JSON, and for what is nested too deeply to be read."""
    try:
        return json.loads(text, **options)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
