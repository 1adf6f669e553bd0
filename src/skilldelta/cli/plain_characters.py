"""Streams whose encoding lacks characters, such as a pipe on Windows: the nearest plain one is written instead.

A replacement is as wide as what it replaces, so that tables stay aligned. What has none is spelled out, such as \\u4e2d.
"""

from __future__ import annotations

import codecs
from io import TextIOWrapper
from typing import Any

_NAME = "skilldelta.plain"
_PLAIN = {"→": ">", "…": "~", "–": "-", "−": "-", "×": "x", "·": ".", "≤": "<", "≥": ">", "“": '"', "”": '"', "’": "'"}


def spell_out(stream: Any) -> None:
    """Let a stream write whatever it is given; one that has every character stays as it is."""
    if isinstance(stream, TextIOWrapper) and not has_every_character(stream):
        codecs.register_error(_NAME, _spelled)
        stream.reconfigure(errors=_NAME)


def has_every_character(stream: Any) -> bool:
    """Whether a stream's encoding is one of Unicode."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return encoding.lower().replace("_", "-").startswith("utf")


def _spelled(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    plain = (_PLAIN.get(one) or one.encode("ascii", "backslashreplace").decode() for one in missing)
    return "".join(plain), error.end
