"""The one-method contract of an encoder, and what every encoder refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from skilldelta.arrays import Vectors
from skilldelta.errors import InputError, SkillDeltaError


class EncoderError(SkillDeltaError):
    """An encoder that cannot do its work now, such as an endpoint that does not answer."""


class Encoder(Protocol):
    """Turns task texts into unit vectors. Only task text is ever encoded: no outcome, no skill text."""

    @property
    def identity(self) -> str:
        """Name, version, dimension and normalisation; vectors of different identities never meet."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32 rows of length 1, in the order of `texts`."""
        ...


def check_texts(texts: Sequence[str]) -> list[str]:
    """The texts as a list, refused by position where one has nothing to encode or cannot be written as UTF-8."""
    if isinstance(texts, str):
        raise InputError(f"texts must be a list of texts, got the single text {texts[:40]!r}; put it into a list")
    checked = list(texts)
    for position, text in enumerate(checked):
        if not isinstance(text, str):
            raise InputError(f"text {position} must be a string, got {type(text).__name__}")
        if not text.strip():
            raise InputError(f"text {position} is empty and has no direction; give every task a text")
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InputError(
                f"text {position} has half a surrogate pair at character {error.start}; remove that character"
            ) from None
    return checked
