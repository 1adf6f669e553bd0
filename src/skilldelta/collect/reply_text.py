"""Texts of a model that not everything can hold: lone surrogates have no UTF-8, and PostgreSQL stores no NUL."""

from __future__ import annotations

import json
import re

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
