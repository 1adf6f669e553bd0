"""Standard input, output and errors as a command finds them, whatever they were started with."""

from __future__ import annotations

import os
import sys

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
