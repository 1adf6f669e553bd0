"""How many tokens a conversation took, from the transcript that its harness keeps.

Cached input counts like other input: it is what the model read. What a transcript does not tell is unknown, not 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from skilldelta.json_text import decode_json
from skilldelta.regular_file import read_regular

if TYPE_CHECKING:
    from skilldelta.harnesses.harness import Dialect

# Bytes of a conversation whose tokens are counted; a larger one has none.
_MOST_BYTES = 128 << 20


def transcript_tokens(dialect: Dialect, path: str) -> int | None:
    """Input and output of all model calls; None where the file is missing, too large or of another shape."""
    try:
        return dialect.tokens(list(_rows(path)))
    except (OSError, ValueError):
        return None


def _rows(path: str) -> Iterator[dict[str, Any]]:
    """The objects of a transcript: one per line, or one document over several lines."""
    content = read_regular(path, _MOST_BYTES)
    whole = _parsed(content)
    for row in [whole] if whole is not None else map(_parsed, content.splitlines()):
        if isinstance(row, dict):
            yield row


def _parsed(content: bytes) -> Any:
    try:
        return decode_json(content.decode("utf-8", "replace"))
    except ValueError:
        return None
