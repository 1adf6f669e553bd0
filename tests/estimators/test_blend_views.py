"""What the blend sees of a task: words, shape, and vectors on their main directions."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.estimators.blend.blend_panel import FOLDS, fold_of, folds_of
from skilldelta.estimators.blend.views import FEATURES, FeatureExtractor, Shape, Words, hash_order

from .panels import panel

TEXTS = (
    "count the rows of the table",
    "count the columns of the table",
    "parse the date of the invoice",
    "parse the date of the letter",
)


def test_one_text_and_many_texts_give_the_same_words() -> None:
    learned = Words.learn(TEXTS, np.arange(4))
    assert learned is not None
    words, rows = learned
    assert words.rows(TEXTS) == pytest.approx(rows)
    for text, row in zip(TEXTS, rows, strict=True):
        assert words.row(text) == pytest.approx(row, abs=1e-6)
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


def test_a_text_without_a_known_word_has_no_direction() -> None:
    learned = Words.learn(TEXTS, np.arange(4))
    assert learned is not None
    assert not learned[0].row("zzz").any()
    assert not learned[0].rows(["", "zzz"]).any()


def test_texts_that_share_nothing_have_no_words() -> None:
    assert Words.learn(("alpha", "beta"), np.arange(2)) is None


def test_shape_counts_what_a_question_is_made_of() -> None:
    shape = Shape.learn(("a b", "a b c 12!\nd d"))
    short, long = shape.rows(("a b", "a b c 12!\nd d"))
    assert dict(zip(FEATURES, long - short, strict=True))["digits"] > 0
    assert (long > short).all()
    assert shape.rows(["a b"])[0] == pytest.approx(short)


def test_long_vectors_are_seen_on_their_main_directions(rng: np.random.Generator) -> None:
    support = panel([0.0] * 20, vectors=rng.normal(size=(20, 300)).tolist())
    extractor, views = FeatureExtractor.learn(support)
    assert views.slopes.shape == (20, 256)
    assert views.words is None
    assert views.shape is None
    assert extractor.project(support.vectors[3]) == pytest.approx(views.slopes[3], abs=1e-5)
    distances = np.linalg.norm(views.slopes[0] - views.slopes[1:], axis=1)
    assert distances == pytest.approx(np.linalg.norm(support.vectors[0] - support.vectors[1:], axis=1), abs=1e-4)


def test_a_new_task_moves_no_other_task_to_another_fold() -> None:
    names = np.array([f"task-{i}" for i in range(1000)])
    assert folds_of(names).tolist() == [fold_of(name) for name in names]
    assert np.bincount(folds_of(names), minlength=FOLDS).min() > 60
    assert sorted(hash_order(names).tolist()) == list(range(1000))
