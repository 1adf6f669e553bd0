"""JSON as language models write it: raw control characters, `+0.1`, trailing commas and code fences are read all the same.

Only what has one possible meaning is repaired, and the reader says so. Everything else is a fault with its line.
"""

from __future__ import annotations

import json
import re
from typing import Any

from skilldelta.errors import InputError
from skilldelta.json_text import decode_json

_LFS = b"version https://git-lfs.github.com/spec/"
_FENCE = re.compile(r"\A\s*```[a-z]*\s*\n(.*)\n\s*```\s*\Z", re.DOTALL)
# More faults than this in one file are no slips of a pen.
_MOST_REPAIRS = 500


class DamagedFileError(InputError):
    """A file that holds no JSON document; the message is the reason alone."""


def parse_loosely(content: bytes) -> tuple[Any, str]:
    """The document in a file, and what had to be repaired to read it; "" where it is valid JSON."""
    try:
        return decode_json(content), ""
    except ValueError:
        return _repaired(content)


def _repaired(content: bytes) -> tuple[Any, str]:
    if content.startswith(_LFS):
        raise DamagedFileError("a Git LFS pointer, not the file itself; run git lfs pull")
    if not content.strip():
        raise DamagedFileError("the file is empty")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DamagedFileError(f"not UTF-8 at byte {error.start:,}") from None
    repairs: dict[str, None] = {}
    if fenced := _FENCE.match(text):
        text = fenced[1]
        repairs["a code fence around it"] = None
    for _ in range(_MOST_REPAIRS):
        try:
            document = decode_json(text)
        except json.JSONDecodeError as error:
            text, repair = _one_repair(text, error)
            repairs[repair] = None
        except ValueError as error:  # nested too deeply, or an integer of thousands of digits
            raise DamagedFileError(str(error)[:80]) from None
        else:
            return document, ", ".join(repairs)
    raise DamagedFileError("not valid JSON in hundreds of places")


def _one_repair(text: str, error: json.JSONDecodeError) -> tuple[str, str]:
    """The text without the fault that stopped the parser, where there is only one way to mend it."""
    at = error.pos
    if error.msg.startswith("Invalid control character"):
        return text[:at] + json.dumps(text[at])[1:-1] + text[at + 1 :], "a raw control character"
    if text[at : at + 1] == "+" and text[at + 1 : at + 2].isdigit():
        return text[:at] + text[at + 1 :], "a number with a plus sign"
    before = text[:at].rstrip()
    # Python up to 3.12 stops behind a trailing comma, 3.13 at the comma itself.
    comma = at if text[at : at + 1] == "," else len(before) - 1 if before.endswith(",") else -1
    if comma >= 0 and re.match(r",\s*[\]}]", text[comma:]):
        return text[:comma] + text[comma + 1 :], "a trailing comma"
    cut_off = "; the file seems cut off" if not text[at:].strip() else ""
    reason = f"not valid JSON (line {error.lineno}, column {error.colno}: {error.msg.removesuffix(' at')}){cut_off}"
    raise DamagedFileError(reason)
