"""Text of others as a terminal may get it."""

from __future__ import annotations

import re

# Controls that a terminal obeys, marks that turn the direction of text around, and halves of characters.
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def readable(text: str) -> str:
    """The text with what a terminal would obey or cannot show spelled out, such as \\x1b."""
    return _HARMFUL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)
