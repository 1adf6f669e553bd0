"""Secrets stay inside the process: what is printed, logged or kept passes through here first.

Two ways to know a secret. Its value is known, because it came from the environment or from a command's words: then it is
taken out of everything, data included. Or its place gives it away, such as the password of a URL: then it is taken out
of messages and commands, but not out of data, where a task may be about such an address.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, quote_plus, unquote

MASK = "***"
# Characters of the shortest value that is remembered: shorter ones occur in ordinary words.
_SHORTEST = 6

_WORDS = re.compile(r"[A-Za-z]+(?:[-_ ][A-Za-z]+)*")
# Plain words below this length are no secrets by value: keys such as `ollama` and passwords such as `postgres` stand in
# for none, and masking them everywhere would damage names and data. Where their place gives them away they are masked.
_LONGEST_WORDS = 16

_known: set[str] = set()

_SECRET_WORDS = "api[-_]?key|key|token|secret|password|passwd|pwd|passphrase|credentials?|auth|signature|sig"
_SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)S?$", re.IGNORECASE)

# Each pattern has the secret as its last group. No repetition stands in another, and what is read before a mark that may not
# come is bounded: texts that somebody else wrote pass through here, and must not take more time the longer they are.
_PLACES = (
    re.compile(r"\w://[^:/\s@'\"]{,200}:([^\s'\"]{1,2000})@"),  # user:password@host; a password may hold @ and /
    re.compile(r"https?://([^:/\s@'\"]{1,2000})@"),  # a token in the user's place
    re.compile(rf"[?&;](?:ssl)?(?:access[-_])?(?:{_SECRET_WORDS})=([^&#\s'\"]+)", re.IGNORECASE),
    re.compile(
        rf"(?<![\w-])--?(?:[\w-]*[-_])?(?:{_SECRET_WORDS})(?:=|\s+)('[^']*'|\"[^\"]*\"|[^\s'\"]+)", re.IGNORECASE
    ),
    re.compile(r"\b(?:\w+_)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PWD)\s?=\s?('[^']*'|\"[^\"]*\"|[^\s'\"&;,]+)", re.I),
    re.compile(r"\b(?:bearer|basic)\s+([\w.~+/=-]{8,})", re.IGNORECASE),
    re.compile(r"\b((?:sk-|ghp_|gho_|github_pat_|xox[abps]-|AKIA|AIza|skd_)[\w-]{12,})"),
)


def keep_secret(*values: str | None) -> None:
    """Remember values that must not leave the process, as they are and as URLs and JSON spell them."""
    for value in values:
        if value and len(value) >= _SHORTEST and not _is_plain(value):
            spelled = (value, quote(value), quote(value, safe=""), quote_plus(value), unquote(value), _in_json(value))
            _known.update(form for form in spelled if len(form) >= _SHORTEST)


def keep_secrets_of(environment: Mapping[str, str], words: Iterable[str] = ()) -> None:
    """Remember what an environment and a command's words hold that looks like a secret."""
    keep_secret(*(value for name, value in environment.items() if _SECRET_NAME.search(name)))
    for word in (*words, *environment.values()):
        keep_secret(*_secrets_in(word))


def without_known_secrets(text: str) -> str:
    """Data as it may leave the process: values that are known to be secret are masked."""
    for value in _known:
        if value in text:
            text = text.replace(value, MASK)
    return text


def redacted(text: str) -> str:
    """A message, command or address as it may be shown: known secrets, and whatever stands where secrets stand."""
    text = without_known_secrets(text)
    for pattern in _PLACES:
        text = pattern.sub(_masked, text)
    return text


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Mask known secrets in everything that is printed, whoever prints it: a library's warning, a traceback."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _Guarded(sys.stdout), _Guarded(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class _Guarded:
    """A text stream that masks; everything else is the stream's own."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        written: int = self._stream.write(without_known_secrets(text))
        return written

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _secrets_in(text: str) -> list[str]:
    return [match[1].strip("'\"") for pattern in _PLACES for match in pattern.finditer(text)]


def _masked(match: re.Match[str]) -> str:
    start, end = match.span(1)
    whole, offset = match[0], match.start()
    return whole[: start - offset] + MASK + whole[end - offset :]


def _is_plain(value: str) -> bool:
    return len(value) < _LONGEST_WORDS and _WORDS.fullmatch(value) is not None


def _in_json(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)[1:-1]
