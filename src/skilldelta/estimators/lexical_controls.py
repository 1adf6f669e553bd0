"""The controls that compare words: neighbors by TF-IDF, and relevance, which uses a skill where its text resembles the task's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfVectorizer

from skilldelta.arrays import ROUNDING, Flags, Floats, Ints
from skilldelta.estimators.base import NotApplicableError, Score, Scores, Target
from skilldelta.estimators.paper_rule import RowsByScope
from skilldelta.estimators.relevance_scores import RelevanceScores
from skilldelta.neighbors import Neighbors
from skilldelta.nouns import plural
from skilldelta.support import Scope, Support


class Lexicon:
    """A vocabulary fitted to texts alone; its rows have length 1, or are empty where a text shares no word with it.

    Word unigrams and bigrams, as scikit-learn's defaults read them unless `settings` say otherwise.
    """

    def __init__(self, texts: Sequence[str], **settings: Any) -> None:
        self._vectorizer = TfidfVectorizer(ngram_range=(1, 2), **settings)
        try:
            self.inventory = csr_array(self._vectorizer.fit_transform(texts))
            """(n, vocabulary) the rows of the texts it was fitted to."""
        except ValueError:  # scikit-learn's "empty vocabulary"
            raise NotApplicableError("the task texts hold no words to compare; give texts with words") from None

    def rows(self, texts: Sequence[str]) -> csr_array:
        """(n, vocabulary) sparse TF-IDF rows of other texts."""
        return csr_array(self._vectorizer.transform(texts))


# The authors' vectorizer for relevance (their release, skilldelta/baselines.py), fitted to one document per task.
_RELEVANCE_SETTINGS: Mapping[str, Any] = {"sublinear_tf": True, "max_features": 100_000, "strip_accents": "unicode"}
_BETWEEN = " [SKILL] "
_BLOCK_CELLS = 2**20
# Cosines are compared in steps of 2^-40: finer differences come from the order of a sum, not from the texts.
_TIE_STEPS = 2**40


@dataclass(frozen=True, slots=True)
class TfidfKnn:
    """The paper's rule with words in place of vectors: signed gains of the k tasks in scope with the most similar words.

    Same scope, same k, same clipped-cosine average. Similarities that differ by less than rounding error are ties, and
    ties stand in record order.
    """

    k: int = 6
    scope: Scope = "family"
    name = "tfidf_knn"

    def leave_one_out(self, support: Support) -> Scores:
        """Every row from its scope's other tasks."""
        neighbors = nearest_by_words(support, self.k, self.scope)
        values = _average(neighbors.similarities, neighbors.rows >= 0, support.gains[neighbors.rows])
        return Scores(values, supported=neighbors.rows[:, 0] >= 0)

    def fit(self, support: Support) -> FittedTfidfKnn:
        """The vocabulary and the word rows of the support."""
        return FittedTfidfKnn(_inventory(support), RowsByScope(support, self.scope), self.k)


@dataclass(frozen=True, slots=True)
class FittedTfidfKnn:
    """The support's word rows at hand."""

    lexicon: Lexicon
    rows: RowsByScope
    k: int

    def score(self, target: Target) -> Score:
        """The predicted gain from the target's text, 0 where nothing is in scope."""
        eligible = self.rows.eligible(target)
        if not len(eligible):
            return Score.of_one("tfidf_knn", 0.0)
        similarity = (self.lexicon.rows([target.text]) @ self.lexicon.inventory[eligible].T).toarray()
        nearest = _largest(similarity, np.zeros(similarity.shape, bool), self.k)
        gains = self.rows.support.gains[eligible][nearest]
        means = _average(np.take_along_axis(similarity, nearest, axis=1), np.ones(nearest.shape, bool), gains)
        return Score.of_one("tfidf_knn", float(means[0]))


def nearest_by_words(support: Support, k: int, scope: Scope) -> Neighbors:
    """The k rows of other tasks in scope with the most similar words, a block of rows at a time: no n x n matrix."""
    words = _inventory(support).inventory
    groups = list(support.scope_groups(scope))
    width = min(k, max(len(block) for _, block in groups))
    neighbors = Neighbors(np.full((len(support), width), -1, np.int64), np.zeros((len(support), width)))
    for targets, block in groups:
        columns = csr_array(words[block].T)
        codes = support.task_codes[block]
        step = max(1, _BLOCK_CELLS // len(block))
        for start in range(0, len(targets), step):
            part = targets[start : start + step]
            similarity = (words[part] @ columns).toarray()
            barred = codes[None, :] == support.task_codes[part, None]
            nearest = _largest(similarity, barred, k)
            there = ~np.take_along_axis(barred, nearest, axis=1)
            filled = nearest.shape[1]
            neighbors.rows[part, :filled] = np.where(there, block[nearest], -1)
            similar = np.take_along_axis(similarity, nearest, axis=1)
            neighbors.similarities[part, :filled] = np.where(there, similar, 0.0)
    return neighbors


def _inventory(support: Support) -> Lexicon:
    _check_texts(support)
    return Lexicon(support.texts)


def _check_texts(support: Support) -> None:
    if not support.texts:
        raise NotApplicableError("the panel has no task texts; import or collect them with their text")


def _average(similarities: Floats, there: Flags, gains: Floats) -> Floats:
    """Clipped-cosine means of neighbors' gains, each (m, k); 0 where no neighbor is there."""
    shares = np.where(there, similarities, 0.0)
    shares = np.where(shares.sum(axis=1, keepdims=True) > 0, shares, there)
    total = shares.sum(axis=1)
    means = (shares * gains).sum(axis=1) / np.where(total > 0, total, 1.0)
    # Gains that cancel are exactly zero, as in the predictor, so that equality skips.
    return np.where(np.abs(means) > ROUNDING, means, 0.0)


def _largest(similarity: Floats, barred: Flags, k: int) -> Ints:
    """(m, min(k, n)) columns in falling similarity, equals in column order; barred columns come last."""
    n = similarity.shape[1]
    # Similarity and column in one whole number, so that no two are equal and a partial sort is exact.
    keys = np.rint(similarity * _TIE_STEPS).astype(np.int64) * n + np.arange(n - 1, -1, -1)
    keys[barred] -= 2**62
    width = min(k, n)
    nearest = np.argpartition(keys, n - width, axis=1)[:, n - width :] if width < n else np.argsort(keys, axis=1)
    order = np.argsort(-np.take_along_axis(keys, nearest, axis=1), axis=1)
    return np.take_along_axis(nearest, order, axis=1)


@dataclass(frozen=True, slots=True)
class Relevance:
    """The TF-IDF cosine of task and skill text against its median in the inventory; ties with the median skip.

    No outcome is read, not even to set the threshold. Scores from elsewhere take the cosine's place in the panels that
    they name.
    """

    skill_texts: Mapping[str, str] = field(default_factory=dict)
    supplied: RelevanceScores | None = None
    name = "relevance"

    def leave_one_out(self, support: Support) -> Scores:
        """Nothing is left out because nothing is learnt: tasks, skills and the median are all that enters."""
        supplied = None if self.supplied is None else self.supplied.of(support)
        if supplied is not None:
            notes = ("scores from the file that was given, against their median",)
            return Scores(supplied, float(np.median(supplied)), is_gain=False, notes=notes)
        fitted = self.fit(support)
        return Scores(fitted.inventory_scores, fitted.threshold, is_gain=False)

    def fit(self, support: Support) -> FittedRelevance:
        """The vocabulary of tasks and skills, and the median that becomes the threshold."""
        skills = _texts_of(support, self.skill_texts)
        pairs = zip(support.texts, support.skills.tolist(), strict=True)
        lexicon = Lexicon([f"{text}{_BETWEEN}{skills[skill]}" for text, skill in pairs], **_RELEVANCE_SETTINGS)
        vectors = dict(zip(skills, (lexicon.rows([text]) for text in skills.values()), strict=True))
        questions, scores = lexicon.rows(support.texts), np.zeros(len(support))
        for block in support.blocks("skill"):
            skill = str(support.skills[block[0]])
            scores[block] = (questions[block] @ vectors[skill].T).toarray()[:, 0]
        return FittedRelevance(lexicon, vectors, scores, float(np.median(scores)))


@dataclass(frozen=True, slots=True)
class FittedRelevance:
    """The skills' word rows and the fixed threshold."""

    lexicon: Lexicon
    vectors: Mapping[str, csr_array]
    inventory_scores: Floats  # (n,)
    threshold: float

    def score(self, target: Target) -> Score:
        """Similarity of the target's text and its skill's: a level, to be compared with `threshold`."""
        if target.skill not in self.vectors:
            raise NotApplicableError(f"the text of skill {target.skill!r} is unknown; add the skill with its text")
        similarity = (self.lexicon.rows([target.text]) @ self.vectors[target.skill].T).toarray()
        return Score.of_one("relevance", float(similarity[0, 0]))


def _texts_of(support: Support, skill_texts: Mapping[str, str]) -> dict[str, str]:
    _check_texts(support)
    skills = list(dict.fromkeys(support.skills.tolist()))
    missing = [skill for skill in skills if not skill_texts.get(skill)]
    if missing:
        raise NotApplicableError(
            f"the text of {len(missing)} of {plural(len(skills), 'skill')} is unknown ({missing[0]!r}); add the skills with their text"
        )
    return {skill: skill_texts[skill] for skill in skills}
