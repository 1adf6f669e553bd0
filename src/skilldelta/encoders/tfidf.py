"""TF-IDF over word 1-2-grams: the lexical encoder, fitted on the task texts it is given.

It knows only the words of its corpus. Its identity carries a digest of the vocabulary and its weights, so vectors of two
corpora never meet.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from skilldelta.arrays import Vectors
from skilldelta.encoders import check_texts
from skilldelta.errors import InputError
from skilldelta.nouns import plural

# Words and pairs of words in the vocabulary: the length of a vector.
MAX_FEATURES = 2048
_BATCH = 1024  # rows made dense at once


class TfidfEncoder:
    """Unit rows over the corpus's most frequent terms, plus one last coordinate for texts with none of them.

    Such a text is the unit vector of that last coordinate: orthogonal to every text with a known term, so that it has no
    similar neighbor rather than a failure.
    """

    def __init__(self, corpus: Sequence[str], *, max_features: int = MAX_FEATURES) -> None:
        if max_features < 1:
            raise InputError(f"max_features must be at least 1, got {max_features}")
        self._vectorizer = _fitted(check_texts(corpus), max_features)
        self.dimension = len(self._vectorizer.vocabulary_) + 1

    @cached_property
    def identity(self) -> str:
        """Such as "tfidf/3f0c91d2ab54/2049/l2": the digest of terms and weights, the dimension."""
        digest = hashlib.sha256()
        for term in self._vectorizer.get_feature_names_out():
            digest.update(f"{term}\n".encode())
        digest.update(np.asarray(self._vectorizer.idf_, "<f8").tobytes())
        return f"tfidf/{digest.hexdigest()[:12]}/{self.dimension}/l2"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension) unit rows; an empty text is refused by its position."""
        checked = check_texts(texts)
        vectors = np.zeros((len(checked), self.dimension), np.float32)
        for start in range(0, len(checked), _BATCH):
            terms = self._vectorizer.transform(checked[start : start + _BATCH])
            rows = vectors[start : start + _BATCH]
            rows[:, :-1] = terms.toarray()
            rows[np.diff(terms.indptr) == 0, -1] = 1.0
        return vectors


def _fitted(corpus: list[str], max_features: int) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    if not corpus:
        raise InputError("the encoder 'tfidf' learns its words from task texts and got none; import tasks first")
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), max_features=max_features, norm="l2", dtype=np.float64)
    try:
        return vectorizer.fit(corpus)
    except ValueError:  # scikit-learn's way to say that no text holds a word of two letters
        raise InputError(
            f"none of the {plural(len(corpus), 'text')} of the tfidf corpus holds a word; choose another encoder"
        ) from None
