"""Sentence-transformers models, for those who have the optional extra installed.

The model is a name or a folder; a name that is not on disk yet is downloaded by the library itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from skilldelta.arrays import Vectors, unit_rows
from skilldelta.encoders import check_texts
from skilldelta.errors import InputError, MissingExtraError

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"


class SentenceTransformersEncoder:
    """A transformer encoder. Padding may change the last bits of a vector with the batch; the bank stores each once."""

    def __init__(self, model: str | None = None, *, batch_size: int = 32) -> None:
        self._name = model or DEFAULT_MODEL
        self._batch_size = batch_size
        _library()  # a missing extra is said now, not after a long set-up

    @cached_property
    def identity(self) -> str:
        """Such as "sentence-transformers/all-MiniLM-L6-v2/5.1.0/384/l2"; loads the model for its dimension."""
        name = self._name.rstrip("/").rsplit("/", 1)[-1]
        return f"sentence-transformers/{name}/{_library().__version__}/{self._dimension}/l2"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) unit rows; an empty text is refused by its position."""
        checked = check_texts(texts)
        if not checked:
            return np.empty((0, self._dimension), np.float32)
        return unit_rows(
            self._model.encode(checked, batch_size=self._batch_size, convert_to_numpy=True, show_progress_bar=False)
        )

    @cached_property
    def _dimension(self) -> int:
        return len(self._model.encode(["dimension"], convert_to_numpy=True, show_progress_bar=False)[0])

    @cached_property
    def _model(self) -> Any:
        try:
            return _library().SentenceTransformer(self._name)
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split())[:160]
            raise InputError(
                f"cannot load the sentence-transformers model {self._name!r} ({reason}); give a model name or a folder"
            ) from None


def _library() -> Any:
    try:
        import sentence_transformers
    except ImportError:
        raise MissingExtraError("the encoder 'sentence-transformers'", "sentence-transformers") from None
    return sentence_transformers
