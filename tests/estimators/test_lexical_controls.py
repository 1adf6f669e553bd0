"""The controls that compare words."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from skilldelta.estimators.base import NotApplicableError, Target
from skilldelta.estimators.lexical_controls import Relevance, TfidfKnn
from skilldelta.support import Support

from .panels import panel, random_panel, skill_texts


def test_the_nearest_task_by_words_decides() -> None:
    texts = ["count the red apples", "count the green apples", "name a capital city", "name a capital river"]
    support = panel([1, 1, -1, -1], texts=texts)
    assert TfidfKnn(k=1).leave_one_out(support).values.tolist() == [1.0, 1.0, -1.0, -1.0]


def test_equal_similarity_goes_to_the_earlier_record() -> None:
    support = panel([0, 1, -1], texts=["alpha beta", "alpha gamma", "alpha delta"])
    assert TfidfKnn(k=1).leave_one_out(support).values[0] == 1.0


def test_tasks_that_share_no_word_weigh_alike() -> None:
    support = panel([0, 1, -1, -1], texts=["alpha", "beta", "gamma", "delta"])
    assert TfidfKnn(k=3).leave_one_out(support).values[0] == pytest.approx(-1 / 3)


def test_a_single_task_has_no_support_and_scores_zero() -> None:
    support = panel([1, 1], families=["a", "b"], texts=["alpha", "alpha"])
    assert TfidfKnn().leave_one_out(support).values.tolist() == [0.0, 0.0]
    assert TfidfKnn().fit(support).score(Target(support.vectors[0], "alpha", "c")).gain == 0.0


def test_without_texts_it_says_what_is_missing() -> None:
    with pytest.raises(NotApplicableError, match="no task texts"):
        TfidfKnn().leave_one_out(panel([1, 0]))


def test_texts_without_words_are_said_to_have_none() -> None:
    with pytest.raises(NotApplicableError, match="no words"):
        TfidfKnn().leave_one_out(panel([1, 0], texts=["?", "!"]))


@pytest.mark.parametrize("scope", ["family", "global"])
def test_it_agrees_with_a_plain_loop(scope: str, rng: np.random.Generator) -> None:
    support = random_panel(rng)
    assert TfidfKnn(scope=scope).leave_one_out(support).values == pytest.approx(  # type: ignore[arg-type]
        _plain(support, k=6, everywhere=scope == "global"), abs=1e-9
    )


def _plain(support: Support, *, k: int, everywhere: bool) -> list[float]:
    grams = [_grams(text) for text in support.texts]
    containing = Counter(gram for bag in grams for gram in bag)
    n = len(grams)
    rows = []
    for bag in grams:
        row = {gram: count * (math.log((1 + n) / (1 + containing[gram])) + 1) for gram, count in bag.items()}
        length = math.sqrt(sum(value * value for value in row.values()))
        rows.append({gram: value / length for gram, value in row.items()})
    scores = []
    for i in range(n):
        near = []
        for j in range(n):
            if support.task_ids[j] == support.task_ids[i]:
                continue
            if not everywhere and support.families[j] != support.families[i]:
                continue
            cosine = sum(value * rows[j].get(gram, 0.0) for gram, value in rows[i].items())
            near.append((-round(cosine, 11), j, cosine))
        near.sort()
        weights = [cosine for _, _, cosine in near[:k]]
        if near and sum(weights) == 0:
            weights = [1.0] * len(weights)
        gains = [float(support.y1[j] - support.y0[j]) for _, j, _ in near[:k]]
        scores.append(sum(w * d for w, d in zip(weights, gains, strict=True)) / sum(weights) if near else 0.0)
    return scores


def _grams(text: str) -> Counter[str]:
    words = text.lower().split()
    return Counter(words + [f"{a} {b}" for a, b in itertools.pairwise(words)])


TEXTS = ["convert a date", "convert a price", "write a poem", "date arithmetic"]


def test_tasks_that_resemble_the_skills_text_score_higher() -> None:
    scores = Relevance({"s": "how to convert a date"}).leave_one_out(panel([0, 0, 0, 0], texts=TEXTS))
    assert scores.values[0] == scores.values.max()
    assert scores.values[2] == 0.0
    assert not scores.is_gain


def test_the_threshold_is_the_median_of_the_scores_and_no_outcome_moves_it(rng: np.random.Generator) -> None:
    support = random_panel(rng)
    scores = Relevance(skill_texts(support)).leave_one_out(support)
    assert scores.threshold == np.median(scores.values)
    others = support.with_outcomes(1 - support.y0, rng.random(len(support)))
    again = Relevance(skill_texts(support)).leave_one_out(others)
    assert again.threshold == scores.threshold
    assert (again.values == scores.values).all()


def test_each_task_is_compared_with_its_own_skill() -> None:
    support = panel([0, 0], texts=["alpha beta", "alpha beta"], skills=["near", "far"])
    scores = Relevance({"near": "alpha beta", "far": "gamma"}).leave_one_out(support).values
    assert scores[0] == pytest.approx(1.0)
    assert scores[1] == 0.0


def test_a_missing_skill_text_is_named() -> None:
    support = panel([0, 0], texts=["alpha", "beta"], skills=["known", "unknown"])
    with pytest.raises(NotApplicableError, match=r"1 of 2 skills is unknown \('unknown'\)"):
        Relevance({"known": "alpha"}).leave_one_out(support)


def test_a_new_target_needs_a_known_skill() -> None:
    support = panel([0, 0], texts=["alpha", "beta"])
    fitted = Relevance({"s": "alpha"}).fit(support)
    with pytest.raises(NotApplicableError, match="'other'"):
        fitted.score(Target(support.vectors[0], "alpha", skill="other"))


def test_relevance_is_scored_with_the_authors_vectorizer() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = ("café prices in june", "june june june flights", "convert a date", "the date of a flight")
    skill = "How to read a date: café and june"
    settings = {"ngram_range": (1, 2), "sublinear_tf": True, "max_features": 100_000, "strip_accents": "unicode"}
    vectorizer = TfidfVectorizer(**settings).fit([f"{text} [SKILL] {skill}" for text in texts])
    expected = (vectorizer.transform(texts) @ vectorizer.transform([skill]).T).toarray()[:, 0]
    scores = Relevance({"s": skill}).leave_one_out(panel([0, 0, 0, 0], texts=texts))
    np.testing.assert_allclose(scores.values, expected)
    assert scores.threshold == np.median(expected)
