"""Vectors that came with an import: looked up by their identity, never made anew.

The paper authors' files bring vectors of a model that may not be at hand. Whoever has the model elsewhere can give the
vector of a new question beside its text, in a file.
"""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skilldelta.arrays import Vectors, unit_rows
from skilldelta.encoders import check_texts
from skilldelta.errors import InputError
from skilldelta.files import parse_json, read_bytes

# Bytes of a file with one vector.
_MOST_BYTES = 16 << 20
_NUMPY = b"\x93NUMPY"


class ImportedEncoder:
    """Imported vectors under their name. A text that has none, and was given none, is refused."""

    def __init__(
        self,
        identity: str,
        *,
        stored: Callable[[Sequence[str]], Vectors] | None = None,
        given: Mapping[str, Vectors] | None = None,
    ) -> None:
        self.identity = identity
        self._stored = stored
        self._given = {text: self._checked(vector) for text, vector in (given or {}).items()}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The vectors that were given, then those that are stored; an error for others, because the model is not here."""
        checked = check_texts(texts)
        if not checked:
            return np.empty((0, 0), np.float32)
        lacking = [text for text in checked if text not in self._given]
        vectors = dict(self._given)
        if lacking and self._stored is not None:
            vectors.update(zip(lacking, self._stored(lacking), strict=True))
        missing = next((text for text in checked if text not in vectors), None)
        if missing is not None:
            raise InputError(
                f"{missing[:60]!r} has no imported vector under {self.identity!r}; "
                "give its vector (predict --query-vector FILE), or choose another encoder"
            )
        return np.stack([vectors[text] for text in checked])

    def _checked(self, vector: Vectors) -> Vectors:
        """The dimension stands before the last slash of the identity; vectors of two dimensions have no cosine."""
        dimension = self.identity.rsplit("/", 2)[-2]
        if dimension.isdecimal() and int(dimension) != len(vector):
            raise InputError(
                f"the query vector has {len(vector)} dimensions, those of {self.identity!r} have {dimension}; "
                "encode the question with the same model"
            )
        return vector


def read_query_vector(path: Path) -> Vectors:
    """(dim,) of length 1, from a file with a JSON list or a NumPy array."""
    content = read_bytes(path, most=_MOST_BYTES)
    values = _array(path, content) if content.startswith(_NUMPY) else _listed(path, content)
    vector = np.atleast_1d(np.squeeze(values))
    if vector.ndim != 1 or not vector.size:
        raise InputError(f"{path}: expected one vector, got shape {np.shape(values)}; write a list of numbers")
    try:
        row: Vectors = unit_rows(vector[None, :])[0]
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return row


def _array(path: Path, content: bytes) -> Any:
    file = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        if dtype.kind not in "fiu" or math.prod(shape) * dtype.itemsize > len(content):
            raise ValueError(f"{dtype} of shape {shape} in {len(content)} bytes")
        file.seek(0)
        return np.asarray(np.load(file, allow_pickle=False), np.float64)
    except Exception as error:  # whatever numpy's parsers raise
        reason = " ".join(str(error).split())[:120]
        raise InputError(f"{path}: not a readable NumPy array ({reason}); write it with numpy.save") from None


def _listed(path: Path, content: bytes) -> Any:
    try:
        values = parse_json(content.decode("utf-8"), path)
    except UnicodeDecodeError:
        raise InputError(f"{path}: neither JSON nor a NumPy array; write a JSON list of numbers") from None
    values = values[0] if isinstance(values, list) and len(values) == 1 and isinstance(values[0], list) else values
    if not isinstance(values, list) or not all(type(v) in (int, float) and abs(v) <= 1e300 for v in values):
        raise InputError(f"{path}: expected a JSON list of finite numbers, such as [0.1, -0.2]")
    return np.array(values, np.float64)
