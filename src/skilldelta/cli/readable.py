"""Text of others as a terminal may get it: nothing that it obeys, nothing without an end."""

from __future__ import annotations

import re

# Controls that a terminal obeys, marks that turn the direction of text around, and halves of characters.
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def readable(text: str) -> str:
    """The text with what a terminal would obey or cannot show spelled out, such as \\x1b."""
    return _HARMFUL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


_LONGEST_WORD = 300
_LONGEST_LINE = 1_500


def one_line(message: str) -> str:
    """A message on one line; what a file or a flag put into it is cut in its middle where it goes on and on."""
    words = (_cut(word, _LONGEST_WORD) for word in message.split())
    return _cut(readable(" ".join(words)), _LONGEST_LINE)


def _cut(text: str, most: int) -> str:
    half = most // 2 - 1
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"
