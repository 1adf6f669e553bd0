"""The views a blend has of a task: its vector, its words, its shape. No outcome is an argument here."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from skilldelta.arrays import Floats, Ints, Strings, Vectors
from skilldelta.support import Support

if TYPE_CHECKING:
    from scipy.sparse import csr_array

View = Literal["vectors", "words", "shape"]

# Slopes are fitted on at most so many directions of the vectors; the rest hardly varies.
_LARGEST = 256


@dataclass(frozen=True, slots=True, eq=False)
class FeatureExtractor:
    """How a text and its vector become features, learned from the support's texts and vectors."""

    projection: Vectors | None  # (dim, 256), None where vectors are short enough as they are
    words: Words | None
    shape: Shape | None

    @classmethod
    def learn(cls, support: Support) -> tuple[FeatureExtractor, Views]:
        """An extractor, and the support's own rows as seen by it. Texts may be absent: then vectors are the only view."""
        texts = support.texts
        words, rows = Words.learn(texts, hash_order(support.task_ids)) or (None, None) if texts else (None, None)
        extractor = cls(_main_directions(support.vectors), words, Shape.learn(texts) if texts else None)
        return extractor, extractor.views(support, rows)

    def views(self, support: Support, words: Vectors | None = None) -> Views:
        """Every row of a support as seen by this extractor; `words` are given where they are known already."""
        texts = support.texts
        if words is None and self.words and texts:
            words = self.words.rows(texts)
        shape = self.shape.rows(texts) if self.shape and texts else None
        return Views(support.vectors, self.project(support.vectors), words, shape)

    def grown(self, views: Views, before: Support, support: Support) -> Views:
        """The views of a support that has grown: only what is new is looked at, where old rows are still the first."""
        n = len(before)
        same = (support.task_ids[:n] == before.task_ids).all() if len(support) >= n else False
        if not same or bool(support.texts) != bool(before.texts) or support.texts[:n] != before.texts:
            return self.views(support)
        return views.joined(self.views(support.rows(np.arange(n, len(support)))), support.vectors)

    def project(self, vectors: Vectors) -> Vectors:
        """Vectors on their main directions."""
        return vectors if self.projection is None else vectors @ self.projection


@dataclass(frozen=True, slots=True, eq=False)
class Views:
    """Features of rows, one row per task; words and shape are None without texts."""

    vectors: Vectors  # (n, dim)
    slopes: Vectors  # (n, <= 256)
    words: Vectors | None  # (n, <= 128), rows of length 1 or 0
    shape: Floats | None  # (n, 6)

    @property
    def known(self) -> dict[View, Vectors | Floats]:
        """The views that there are, by name."""
        views: dict[View, Vectors | Floats | None] = {"vectors": self.vectors, "words": self.words, "shape": self.shape}
        return {name: features for name, features in views.items() if features is not None}

    def joined(self, more: Views, vectors: Vectors) -> Views:
        """These rows and more; `vectors` are those of all rows."""
        return Views(
            vectors=vectors,
            slopes=np.concatenate([self.slopes, more.slopes]),
            words=None if self.words is None or more.words is None else np.concatenate([self.words, more.words]),
            shape=None if self.shape is None or more.shape is None else np.concatenate([self.shape, more.shape]),
        )


def hash_order(task_ids: Strings) -> Ints:
    """(n,) rows in an order that neither outcomes nor record order decide, for samples of a large support."""
    keys = np.fromiter((zlib.crc32(f"order:{task_id}".encode()) for task_id in task_ids), np.int64, len(task_ids))
    return np.argsort(keys, kind="stable")


def _main_directions(vectors: Vectors) -> Vectors | None:
    if vectors.shape[1] <= _LARGEST:
        return None
    centred = vectors - vectors.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    return np.ascontiguousarray(directions[:, -_LARGEST:], np.float32)


_TOKEN = re.compile(r"\w+|[^\w\s]")
_VOCABULARY = 2**16
_DIRECTIONS = 128
_OVERSAMPLE, _ITERATIONS = 10, 3
# Directions with a smaller share of the squares than this are rounding errors of single precision.
_NOISE = 1e-6

# The directions of more texts than this are learned from a sample.
_SAMPLE = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """The words of a question as a short vector: TF-IDF of unigrams and bigrams, reduced to its main directions.

    Vocabulary, document frequencies and directions come from the support's texts, which hold no outcome. Words that were
    never seen are ignored until the blend is fitted anew. One text and many texts go through the same function.
    """

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
        vocabulary = [term for term, count in frequency.most_common(_VOCABULARY) if count > 1]
        if not vocabulary:
            return None
        index = {term: i for i, term in enumerate(vocabulary)}
        idf = np.array([1 + math.log((1 + len(texts)) / (1 + frequency[term])) for term in vocabulary], np.float32)
        rows = _sparse_rows(terms, index, idf)
        size = min(_DIRECTIONS, *(side - 1 for side in rows.shape))
        if size < 1:
            return None
        words = cls(index, idf, _leading_directions(rows[order[:_SAMPLE]], size))
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


def _leading_directions(rows: csr_array, size: int) -> Vectors:
    """(vocabulary, <= size) the leading right singular vectors, by subspace iteration (Halko, Martinsson and Tropp, 2011).

    Scikit-learn has it too, but importing that takes longer than everything here. A fixed start: the same texts give the
    same directions.
    """
    sketch = rows @ np.random.default_rng(0).standard_normal((rows.shape[1], size + _OVERSAMPLE), np.float32)
    for _ in range(_ITERATIONS):
        sketch = rows @ (rows.T @ np.linalg.qr(sketch)[0])
    spanned = rows.T @ np.linalg.qr(sketch)[0]
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


FEATURES = ("characters", "words", "digits", "distinct words", "punctuation", "lines")
_DIGIT = re.compile(r"\d")
_MARK = re.compile(r"[^\w\s]")
_SMALLEST_SPREAD = 0.05  # on the log scale: a count that hardly varies is no evidence


@dataclass(frozen=True, slots=True)
class Shape:
    """How long a question is and what it is made of: log counts on the scale of the suite's questions.

    Long questions, many numbers or many options often decide whether a procedure pays. Encoders and TF-IDF divide length
    out; these few counts put it back.
    """

    centre: Floats  # (6,)
    spread: Floats  # (6,)

    @classmethod
    def learn(cls, texts: Sequence[str]) -> Shape:
        """Centre and spread of the given texts, which hold no outcome."""
        counts = _counts(texts)
        return cls(counts.mean(axis=0), np.maximum(counts.std(axis=0), _SMALLEST_SPREAD))

    def rows(self, texts: Sequence[str]) -> Floats:
        """(n, 6) standardized log counts."""
        scaled: Floats = (_counts(texts) - self.centre) / self.spread
        return scaled


def _counts(texts: Sequence[str]) -> Floats:
    return np.log1p(np.array([_count(text) for text in texts], np.float64).reshape(len(texts), len(FEATURES)))


def _count(text: str) -> tuple[int, int, int, int, int, int]:
    words = text.lower().split()
    digits = len(_DIGIT.findall(text))
    marks = len(_MARK.findall(text))
    return len(text), len(words), digits, len(set(words)), marks, text.count("\n")
