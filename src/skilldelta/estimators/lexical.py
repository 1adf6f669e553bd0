"""Words instead of vectors: the TF-IDF matrix that the two lexical controls share.

Word unigrams and bigrams, as scikit-learn's defaults read them; the vocabulary and the document frequencies come from
the given texts alone, which hold no outcome.
"""

from __future__ import annotations

from collections.abc import Sequence

from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer

from skilldelta.estimators.base import NotApplicableError


class Lexicon:
    """A vocabulary fitted to texts; rows it makes have length 1, or are empty where a text shares no word with it."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._vectorizer = TfidfVectorizer(ngram_range=(1, 2))
        try:
            self.inventory = csr_array(self._vectorizer.fit_transform(texts))
            """(n, vocabulary) the rows of the texts it was fitted to."""
        except ValueError:  # scikit-learn's "empty vocabulary"
            raise NotApplicableError("the task texts hold no words to compare; give texts with words") from None

    def rows(self, texts: Sequence[str]) -> csr_array:
        """(n, vocabulary) sparse TF-IDF rows of other texts."""
        return csr_array(self._vectorizer.transform(texts))
