"""How many tokens a conversation took, from the transcript that its harness keeps.

Cached input counts like other input: it is what the model read. What a transcript does not tell is unknown, not 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from skilldelta.regular_file import read_regular
from skilldelta.serve.hooks.hook_event import Host

_MOST_BYTES = 128 << 20
_CLAUDE_USAGE = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def transcript_tokens(host: Host, path: str) -> int | None:
    """Input and output of all model calls; None where the file is missing, too large or of another shape."""
    try:
        rows = list(_rows(path))
    except (OSError, ValueError):
        return None
    if host == "codex":
        return _codex(rows)
    return _sum(_claude(rows) if host == "claude-code" else _gemini(rows))


def _rows(path: str) -> Iterator[dict[str, Any]]:
    """The objects of a transcript: one per line, or one document over several lines."""
    content = read_regular(path, _MOST_BYTES)
    whole = _parsed(content)
    for row in [whole] if whole is not None else map(_parsed, content.splitlines()):
        if isinstance(row, dict):
            yield row


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def _claude(rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    """By message: each of its blocks is a line that repeats the usage."""
    found: dict[str, int] = {}
    for number, row in enumerate(rows):
        message = _object(row.get("message"))
        usage = _object(message.get("usage"))
        if row.get("type") == "assistant" and usage:
            call = f"{message.get('id') or number} {row.get('requestId')}"
            found[call] = sum(_count(usage.get(name)) or 0 for name in _CLAUDE_USAGE)
    return found


def _gemini(rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in rows:
        several = row.get("messages")
        for number, message in enumerate(several if isinstance(several, list) else [row]):
            total = _count(_object(_object(message).get("tokens")).get("total"))
            if total is not None:
                found[str(_object(message).get("id") or number)] = total
    return found


def _codex(rows: Iterable[dict[str, Any]]) -> int | None:
    """The last running total."""
    last: int | None = None
    for row in rows:
        payload = _object(row.get("payload"))
        if payload.get("type") == "token_count":
            total = _count(_object(_object(payload.get("info")).get("total_token_usage")).get("total_tokens"))
            last = last if total is None else total
    return last


def _sum(by_message: dict[str, int]) -> int | None:
    return sum(by_message.values()) if by_message else None


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53 else None
