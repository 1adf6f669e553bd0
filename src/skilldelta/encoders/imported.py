"""Vectors that came with an import: looked up in the bank by their identity, never made anew.

The paper authors' files bring vectors of a model that may not be at hand. An evaluation of such a panel needs no encoder,
only the vectors' name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skilldelta.encoders.base import check_texts
from skilldelta.errors import InputError
from skilldelta.support import Vectors

PREFIX = "imported/"


class ImportedEncoder:
    """The name of imported vectors. A text whose vector is not in the bank is refused."""

    def __init__(self, identity: str) -> None:
        self._identity = identity

    @property
    def identity(self) -> str:
        """The identity that the import gave its vectors."""
        return self._identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Nothing for no text; otherwise an error, because the model is not here."""
        checked = check_texts(texts)
        if checked:
            raise InputError(
                f"{checked[0][:60]!r} has no imported vector under {self._identity!r}; "
                "import its vector, or choose another encoder"
            )
        return np.empty((0, 0), np.float32)
