"""The one-method contract of an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from skilldelta.support import Vectors


class Encoder(Protocol):
    """Turns task texts into unit vectors. Only task text is ever encoded: no outcome, no skill text."""

    @property
    def identity(self) -> str:
        """Name, version, dimension and normalisation; vectors of different identities never meet."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32 rows of length 1, in the order of `texts`."""
        ...
