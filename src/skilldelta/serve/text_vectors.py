"""Vectors of the texts that were asked about last, so that a text that comes again is not encoded again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

from skilldelta.arrays import Vectors
from skilldelta.encoders import Encoder

_MOST_BYTES = 32 << 20
"""Of texts and vectors together; the ones that were not asked about for longest make room."""


class RememberingEncoder:
    """An encoder that remembers single texts. Threads may share it; several texts at once pass through."""

    def __init__(self, encoder: Encoder, *, most_bytes: int = _MOST_BYTES) -> None:
        self._encoder = encoder
        self._most_bytes = most_bytes
        self._bytes = 0
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def identity(self) -> str:
        """That of the encoder."""
        return self._encoder.identity

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) as the encoder has it."""
        if len(texts) != 1 or not isinstance(texts[0], str):
            return self._encoder.encode(texts)
        text = texts[0]
        with self._lock:
            known = self._known.get(text)
            if known is not None:
                self._known.move_to_end(text)
                return known
        vectors = self._encoder.encode(texts)
        vectors.setflags(write=False)
        self._remember(text, vectors)
        return vectors

    def _remember(self, text: str, vectors: Vectors) -> None:
        with self._lock:
            if text in self._known:
                return
            self._known[text] = vectors
            self._bytes += _size(text, vectors)
            while self._bytes > self._most_bytes:
                self._bytes -= _size(*self._known.popitem(last=False))


def _size(text: str, vectors: Vectors) -> int:
    return 4 * len(text) + vectors.nbytes + 200  # what the dictionary adds
