"""The words of a question as a short vector: TF-IDF of unigrams and bigrams, reduced to its main directions.

Vocabulary, document frequencies and directions come from the support's texts, which hold no outcome. Words that were
never seen are ignored until the stack is fitted anew. One text and many texts go through the same function.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from skilldelta.arrays import Ints, Vectors

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_TOKEN = re.compile(r"\w+|[^\w\s]")
_VOCABULARY = 2**16
_DIRECTIONS = 128
_OVERSAMPLE, _ITERATIONS = 10, 3
_NOISE = 1e-6
"""Directions with a smaller share of the squares than this are rounding errors of single precision."""

_SAMPLE = 20_000
"""The directions of more texts than this are learned from a sample."""


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """A vocabulary and the directions in which its texts differ most."""

    index: Mapping[str, int]
    idf: Vectors  # (vocabulary,)
    directions: Vectors  # (vocabulary, dim)

    @classmethod
    def learn(cls, texts: Sequence[str], order: Ints) -> tuple[Words, Vectors] | None:
        """Terms of at least two texts, and the rows of the texts themselves; None where there are no such terms.

        `order` says which texts a sample takes first.
        """
        terms = [_terms(text) for text in texts]
        # Terms in the order of the texts, not of a set: the same texts give the same vocabulary in every process.
        frequency = Counter(chain.from_iterable(dict.fromkeys(words) for words in terms))
        kept = [term for term, count in frequency.most_common(_VOCABULARY) if count > 1]
        if not kept:
            return None
        index = {term: i for i, term in enumerate(kept)}
        idf = np.array([1 + math.log((1 + len(texts)) / (1 + frequency[term])) for term in kept], np.float32)
        rows = _sparse_rows(terms, index, idf)
        size = min(_DIRECTIONS, *(side - 1 for side in rows.shape))
        if size < 1:
            return None
        words = cls(index, idf, _main_directions(rows[order[:_SAMPLE]], size))
        return words, words._reduced(rows)

    def rows(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) rows of length 1, zero where no word is known."""
        if not len(texts):
            return np.empty((0, self.directions.shape[1]), np.float32)
        return self._reduced(_sparse_rows([_terms(text) for text in texts], self.index, self.idf))

    def row(self, text: str) -> Vectors:
        """(dim,) one text, without the cost of a sparse matrix."""
        columns, values = _weighted(_terms(text), self.index, self.idf)
        reduced = values @ self.directions[columns]
        length = math.sqrt(float(reduced @ reduced))
        return reduced / np.float32(length) if length > 0 else reduced

    def _reduced(self, rows: csr_array) -> Vectors:
        reduced = np.asarray(rows @ self.directions, np.float32)
        lengths = np.sqrt(np.vecdot(reduced, reduced))[:, None]
        unit: Vectors = np.divide(reduced, lengths, out=np.zeros_like(reduced), where=lengths > 0)
        return unit


def _main_directions(rows: csr_array, size: int) -> Vectors:
    """(vocabulary, <= size) the leading right singular vectors, by subspace iteration (Halko, Martinsson and Tropp, 2011).

    Scikit-learn has it too, but importing that takes longer than everything here. A fixed start: the same texts give the
    same directions.
    """
    found = rows @ np.random.default_rng(0).standard_normal((rows.shape[1], size + _OVERSAMPLE), np.float32)
    for _ in range(_ITERATIONS):
        found = rows @ (rows.T @ np.linalg.qr(found)[0])
    spanned = rows.T @ np.linalg.qr(found)[0]
    squares, turns = np.linalg.eigh((spanned.T @ spanned).astype(np.float64))
    largest = np.flatnonzero(squares > _NOISE * squares[-1])[::-1][:size]
    turned = turns[:, largest] / np.sqrt(squares[largest])
    return np.ascontiguousarray(spanned @ turned.astype(np.float32), np.float32)


def _sparse_rows(terms: Sequence[list[str]], index: Mapping[str, int], idf: Vectors) -> csr_array:
    """(n, vocabulary) TF-IDF rows of length 1 with sublinear term frequency."""
    from scipy.sparse import csr_array  # takes longer to import than a prediction; only learning needs it

    parts = [_weighted(words, index, idf) for words in terms]
    ends = np.cumsum([0] + [len(columns) for columns, _ in parts])
    columns = np.concatenate([columns for columns, _ in parts])
    values = np.concatenate([values for _, values in parts])
    return csr_array((values, columns, ends), shape=(len(parts), len(idf)))


def _weighted(terms: list[str], index: Mapping[str, int], idf: Vectors) -> tuple[Ints, Vectors]:
    counts = Counter(map(index.get, terms))
    counts.pop(None, None)
    columns = np.fromiter(counts.keys(), np.int64, len(counts))
    values = np.fromiter(counts.values(), np.float32, len(counts))
    values = (1 + np.log(values)) * idf[columns]
    return columns, values / np.sqrt(values @ values) if len(values) else values


def _terms(text: str) -> list[str]:
    tokens = _TOKEN.findall(text.lower())
    return tokens + [f"{a} {b}" for a, b in pairwise(tokens)]
