"""The default encoder: static word vectors that lie inside the installed `wordllama` package.

Weights and tokenizer are read straight from the package's files. The vectors equal those of the package's own `embed`
(a test holds them to it), without importing its modules: that halves the cold start, needs no network, and leaves the
root logger alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skilldelta.arrays import Vectors
from skilldelta.encoders import check_texts
from skilldelta.errors import InputError

MODEL = "l2_supercat"
DIMENSION = 256
_BATCH = 256  # texts tokenized at once: bounds the memory of their token lists


class WordLlamaEncoder:
    """Mean of static token vectors, scaled to length 1. The same text gives the same bits, alone or among others."""

    @cached_property
    def identity(self) -> str:
        """Such as "wordllama/l2_supercat-256/0.4.0.post1/256/l2"; reads no weights."""
        from importlib.metadata import version

        return f"wordllama/{MODEL}-{DIMENSION}/{version('wordllama')}/{DIMENSION}/l2"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n, 256) unit rows; an empty text is refused by its position."""
        checked = check_texts(texts)
        vectors = np.empty((len(checked), DIMENSION), np.float32)
        for start in range(0, len(checked), _BATCH):
            batch = checked[start : start + _BATCH]
            for offset, vector in enumerate(self._pooled(batch)):
                vectors[start + offset] = _unit(vector, batch[offset])
        return vectors

    def _pooled(self, texts: list[str]) -> list[NDArray[np.float64]]:
        """The sum of each text's token vectors; its direction is that of their mean.

        Half-precision weights add up exactly in float64, so neither order nor batch can change a bit.
        """
        encodings = self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)
        tokens = [np.asarray(encoding.ids, np.int64) for encoding in encodings]
        used, position = np.unique(np.concatenate(tokens), return_inverse=True)
        rows = self._weights[np.minimum(used, len(self._weights) - 1)].astype(np.float64)
        cuts = np.cumsum([len(ids) for ids in tokens])[:-1]
        return [_row_sum(rows, indices) for indices in np.split(position, cuts)]

    @cached_property
    def _weights(self) -> NDArray[np.float16]:
        """(vocabulary, 256), mapped from the file: only the rows that are asked for are read."""
        # The library `safetensors` reads a whole tensor; its place in the file is all that mapping needs.
        path = _package_folder() / "weights" / f"{MODEL}_{DIMENSION}.safetensors"
        with _open(path) as file:
            header_size = int.from_bytes(file.read(8), "little")
            tensor = json.loads(file.read(header_size))["embedding.weight"]
        if tensor["dtype"] != "F16" or tensor["shape"][1] != DIMENSION:
            raise InputError(f"{path} holds {tensor['dtype']} {tensor['shape']}; install wordllama 0.4")
        offset = 8 + header_size + tensor["data_offsets"][0]
        return np.memmap(path, dtype="<f2", mode="r", offset=offset, shape=tuple(tensor["shape"]))

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        path = _package_folder() / "tokenizers" / f"{MODEL}_tokenizer_config.json"
        _open(path).close()
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return tokenizer


def _row_sum(rows: NDArray[np.float64], indices: NDArray[np.int64]) -> NDArray[np.float64]:
    """The sum of chosen rows, in blocks so that a book-length text does not copy a gigabyte."""
    total = np.zeros(rows.shape[1])
    for start in range(0, len(indices), 8192):
        total += rows[indices[start : start + 8192]].sum(axis=0)
    return total


def _unit(vector: NDArray[np.float64], text: str) -> NDArray[np.float64]:
    length = np.sqrt((vector * vector).sum())
    if length == 0:
        raise InputError(f"the text {text[:40]!r} has no direction under wordllama; add words to it")
    unit: NDArray[np.float64] = vector / length
    return unit


def _package_folder() -> Path:
    """Where the package lies, found without importing it."""
    from importlib.util import find_spec

    spec = find_spec("wordllama")
    if spec is None or not spec.submodule_search_locations:
        raise InputError("the encoder 'wordllama' needs its package; install it with: pip install 'wordllama>=0.4'")
    return Path(spec.submodule_search_locations[0])


def _open(path: Path) -> Any:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"cannot read {path} ({error.strerror}); install wordllama 0.4 again") from None
