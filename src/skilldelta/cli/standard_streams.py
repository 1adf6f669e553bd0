"""Standard input, output and errors: closed streams, encodings that lack characters, text that a terminal would obey."""

from __future__ import annotations

import codecs
import os
import re
import sys
from io import TextIOWrapper
from typing import Any

from skilldelta.errors import InputError
from skilldelta.files import MOST_DOCUMENT, MOST_TEXT


def open_closed_streams() -> None:
    """Give a closed stream (`<&-`) the null device. Otherwise the next file that is opened gets its number, and a bank
    would be where the system looks for the standard output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for as long as the process


def text_from_stdin() -> str:
    """Standard input as text."""
    try:
        text = sys.stdin.read(MOST_TEXT + 1)
        text.encode()
    except UnicodeError:
        raise InputError("standard input is not UTF-8 text; write it in UTF-8") from None
    if len(text) > MOST_TEXT:
        raise InputError(f"standard input has more than {MOST_TEXT >> 20} MiB; give a shorter text")
    return text


def bytes_from_stdin() -> bytes:
    """Standard input as it comes."""
    content = sys.stdin.buffer.read(MOST_DOCUMENT + 1)
    if len(content) > MOST_DOCUMENT:
        raise InputError(f"standard input has more than {MOST_DOCUMENT >> 20} MiB; save it to a file and name that")
    return content


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
