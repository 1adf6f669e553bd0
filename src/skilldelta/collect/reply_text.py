"""Texts of a model: labels in them, and what not everything can hold (lone surrogates have no UTF-8, PostgreSQL no NUL)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = "json:"


def without_surrogates(text: str) -> str:
    """The text as a UTF-8 file or pipe would carry it: U+FFFD stands for each lone surrogate."""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def storable(text: str) -> str:
    """The text as a bank can hold it: as it is, or else `json:` and the text as an ASCII JSON string.

    Nothing is lost: what follows the prefix is JSON. A text that begins like that itself is escaped too.
    """
    if "\x00" in text or _SURROGATE.search(text) or text.startswith(f'{_ESCAPED}"'):
        return _ESCAPED + json.dumps(text)
    return text


def unique_label(reply: str, labels: Sequence[str]) -> str | None:
    """The only one of the labels that stands in the reply as a word, in any case; none or several is None."""
    matches = {label for label in labels if re.search(rf"(?<![\w-]){re.escape(label)}(?![\w-])", reply, re.IGNORECASE)}
    return matches.pop() if len(matches) == 1 else None
