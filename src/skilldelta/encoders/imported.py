"""Vectors that came with an import: looked up by their identity, never made anew.

The paper authors' files bring vectors of a model that may not be at hand. Whoever has the model elsewhere can give the
vector of a new question beside its text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from skilldelta.arrays import Vectors
from skilldelta.encoders import check_texts
from skilldelta.errors import InputError

Lookup = Callable[[Sequence[str]], Vectors]


class ImportedEncoder:
    """Imported vectors under their name. A text that has none, and was given none, is refused."""

    def __init__(
        self, identity: str, *, stored: Lookup | None = None, given: Mapping[str, Vectors] | None = None
    ) -> None:
        self._identity = identity
        self._stored = stored
        self._given = {text: self._checked(vector) for text, vector in (given or {}).items()}

    @property
    def identity(self) -> str:
        """The identity that the import gave its vectors."""
        return self._identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The vectors that were given, then those that are stored; an error for others, because the model is not here."""
        checked = check_texts(texts)
        if not checked:
            return np.empty((0, 0), np.float32)
        wanted = [text for text in checked if text not in self._given]
        found = dict(self._given)
        if wanted and self._stored is not None:
            found.update(zip(wanted, self._stored(wanted), strict=True))
        missing = next((text for text in checked if text not in found), None)
        if missing is not None:
            raise InputError(
                f"{missing[:60]!r} has no imported vector under {self._identity!r}; "
                "give its vector (predict --query-vector FILE), or choose another encoder"
            )
        return np.stack([found[text] for text in checked])

    def _checked(self, vector: Vectors) -> Vectors:
        """The dimension stands before the last slash of the identity; vectors of two dimensions have no cosine."""
        dimension = self._identity.rsplit("/", 2)[-2]
        if dimension.isdecimal() and int(dimension) != len(vector):
            raise InputError(
                f"the query vector has {len(vector)} dimensions, those of {self._identity!r} have {dimension}; "
                "encode the question with the same model"
            )
        return vector
