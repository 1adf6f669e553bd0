"""TF-IDF kNN control: the paper's rule with words in place of vectors.

Same scope, same k, same clipped-cosine average; the similarity is between sparse word rows. Similarities that differ by
less than rounding error are ties, and ties stand in record order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skilldelta.arrays import Floats, Ints
from skilldelta.estimators.base import NotApplicableError, Score, Scores, Target
from skilldelta.estimators.lexical import Lexicon
from skilldelta.estimators.paper_rule import RowsByScope
from skilldelta.neighbors import Neighbors
from skilldelta.support import Scope, Support
from skilldelta.ties import ROUNDING

_BLOCK_CELLS = 2**20
_TIE_STEPS = 2**40
"""Cosines are compared in steps of 2^-40: finer differences come from the order of a sum, not from the texts."""


@dataclass(frozen=True, slots=True)
class TfidfKnn:
    """Signed gains of the k tasks with the most similar words in scope."""

    k: int = 6
    scope: Scope = "family"

    @property
    def name(self) -> str:
        """The policy name."""
        return "tfidf_knn"

    def leave_one_out(self, support: Support) -> Scores:
        """Every row from its scope's other tasks."""
        found = nearest_by_words(support, self.k, self.scope)
        values = _average(found.similarities, found.rows >= 0, support.gains[found.rows])
        return Scores(values, supported=found.rows[:, 0] >= 0)

    def fit(self, support: Support) -> FittedTfidfKnn:
        """The vocabulary and the word rows of the support."""
        lexicon = _inventory(support)
        return FittedTfidfKnn(lexicon, lexicon.inventory, RowsByScope.of(support, self.scope), self.k)


@dataclass(frozen=True, slots=True)
class FittedTfidfKnn:
    """The support's word rows at hand."""

    lexicon: Lexicon
    words: csr_array
    rows: RowsByScope
    k: int

    def score(self, target: Target) -> Score:
        """The predicted gain from the target's text, 0 where nothing is in scope."""
        eligible = self.rows.eligible(target)
        if not len(eligible):
            return Score(0.0, {"tfidf_knn": 0.0}, {"tfidf_knn": 1.0})
        similarity = (self.lexicon.rows([target.text]) @ self.words[eligible].T).toarray()
        barred = np.zeros(similarity.shape, bool)
        gain = float(_local_average(similarity, barred, self.rows.support.gains[eligible], self.k)[0])
        return Score(gain, {"tfidf_knn": gain}, {"tfidf_knn": 1.0})


def nearest_by_words(support: Support, k: int, scope: Scope) -> Neighbors:
    """The k rows of other tasks in scope with the most similar words, a block of rows at a time: no n x n matrix."""
    words = _inventory(support).inventory
    blocks = list(support.blocks(scope))
    width = min(k, max(len(block) for block in blocks))
    found = Neighbors(np.full((len(support), width), -1, np.int64), np.zeros((len(support), width)))
    for block in blocks:
        inside = words[block]
        columns = csr_array(inside.T)
        codes = support.task_codes[block]
        step = max(1, _BLOCK_CELLS // len(block))
        for start in range(0, len(block), step):
            part = slice(start, start + step)
            similarity = (inside[part] @ columns).toarray()
            barred = codes[None, :] == codes[part, None]
            nearest = _largest(similarity, barred, k)
            there = ~np.take_along_axis(barred, nearest, axis=1)
            filled = nearest.shape[1]
            found.rows[block[part], :filled] = np.where(there, block[nearest], -1)
            similar = np.take_along_axis(similarity, nearest, axis=1)
            found.similarities[block[part], :filled] = np.where(there, similar, 0.0)
    return found


def _inventory(support: Support) -> Lexicon:
    if not support.texts:
        raise NotApplicableError("the panel has no task texts; import or collect them with their text")
    return Lexicon(support.texts)


def _local_average(similarity: Floats, barred: NDArray[np.bool_], gains: Floats, k: int) -> Floats:
    """Per row of `similarity`, the clipped-cosine mean gain of its k largest columns that are not barred."""
    nearest = _largest(similarity, barred, k)
    there = ~np.take_along_axis(barred, nearest, axis=1)
    return _average(np.take_along_axis(similarity, nearest, axis=1), there, gains[nearest])


def _average(similarities: Floats, there: NDArray[np.bool_], gains: Floats) -> Floats:
    """Clipped-cosine means of neighbours' gains, each (m, k); 0 where no neighbour is there."""
    shares = np.where(there, similarities, 0.0)
    shares = np.where(shares.sum(axis=1, keepdims=True) > 0, shares, there)
    total = shares.sum(axis=1)
    means = (shares * gains).sum(axis=1) / np.where(total > 0, total, 1.0)
    # Gains that cancel are exactly zero, as in the predictor, so that equality skips.
    return np.where(np.abs(means) > ROUNDING, means, 0.0)


def _largest(similarity: Floats, barred: NDArray[np.bool_], k: int) -> Ints:
    """(m, min(k, n)) columns in falling similarity, equals in column order; barred columns come last."""
    n = similarity.shape[1]
    # Similarity and column in one whole number, so that no two are equal and a partial sort is exact.
    keys = np.rint(similarity * _TIE_STEPS).astype(np.int64) * n + np.arange(n - 1, -1, -1)
    keys[barred] -= 2**62
    width = min(k, n)
    nearest = np.argpartition(keys, n - width, axis=1)[:, n - width :] if width < n else np.argsort(keys, axis=1)
    order = np.argsort(-np.take_along_axis(keys, nearest, axis=1), axis=1)
    return np.take_along_axis(nearest, order, axis=1)
