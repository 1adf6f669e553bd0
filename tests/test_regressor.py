"""The scikit-learn interface: its own estimator checks, frames of both libraries, and the same answers as the core."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from skilldelta import SkillGainRegressor, load_encoder, predict
from skilldelta.errors import InputError

ROWS: dict[str, list[Any]] = {
    "task_id": ["a", "b", "c", "d", "e", "f"],
    "text": [
        "convert three miles to metres",
        "convert two miles to feet",
        "convert nine yards to metres",
        "what day follows friday",
        "what day precedes monday",
        "which month follows march",
    ],
    "family": ["units"] * 3 + ["dates"] * 3,
    "y0": [0, 0, 0, 1, 1, 1],
    "y1": [1, 1, 1, 0, 0, 1],
}
NEW = {"text": ["convert five miles to feet", "what day follows sunday"], "family": ["units", "dates"]}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("estimator", ["paper", "blend"])
def test_every_check_of_scikit_learn_that_applies_passes(estimator: Any) -> None:
    found = check_estimator(SkillGainRegressor(estimator=estimator), on_fail=None, on_skip=None)
    left = {(one["check_name"], one["status"]) for one in found if one["status"] != "passed"}
    assert left <= {("check_array_api_input", "skipped")}  # it asks for an experimental mode of SciPy
    assert len(found) > 40


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("estimator", ["paper", "blend"])
def test_a_frame_of_either_library_is_learned_from_and_asked(frame: Any, estimator: Any) -> None:
    model = SkillGainRegressor(estimator=estimator).fit(frame(ROWS))
    gains = model.predict(frame(NEW))
    assert gains[0] > 0 > gains[1]
    assert model.decide(frame(NEW)).tolist() == ["use", "skip"]


def test_the_papers_rule_gives_the_predictors_own_answer() -> None:
    encoder = load_encoder()
    vectors = encoder.encode(ROWS["text"][:3])
    model = SkillGainRegressor(estimator="paper", k=2).fit(pd.DataFrame(ROWS).iloc[:3])
    query = encoder.encode([NEW["text"][0]])[0]
    from skilldelta import Settings

    expected = predict(query, vectors, np.array([1.0, 1.0, 1.0]), settings=Settings(k=2)).gain
    assert model.predict(pd.DataFrame(NEW).iloc[:1])[0] == pytest.approx(expected, abs=1e-12)


def test_a_task_asked_by_its_id_is_scored_without_its_own_outcome() -> None:
    flipped = {**ROWS, "y1": [0, *ROWS["y1"][1:]]}
    first = [
        SkillGainRegressor(estimator="paper").fit(pd.DataFrame(rows)).predict(pd.DataFrame(rows))[0]
        for rows in (ROWS, flipped)
    ]
    assert first[0] == first[1]


def test_a_family_without_evidence_is_skipped_at_any_threshold() -> None:
    model = SkillGainRegressor(estimator="paper", threshold=-0.5).fit(pd.DataFrame(ROWS))
    asked = pd.DataFrame({"text": ["sort these words"], "family": ["sorting"]})
    assert model.predict(asked).tolist() == [0.0]
    assert model.decide(asked).tolist() == ["skip"]


def test_lists_of_repetitions_are_averaged() -> None:
    rows = {"text": ["add two", "add nine"], "y0": [[0, 1], [0, 0]], "y1": [[1, 1], [1]]}
    model = SkillGainRegressor(estimator="paper").fit(pd.DataFrame(rows))
    assert model.support_.gains.tolist() == [0.5, 1.0]


def test_it_works_in_model_selection(rng: np.random.Generator) -> None:
    vectors, gains = rng.normal(size=(60, 4)), rng.choice([-1.0, 0.0, 1.0], 60)
    assert len(cross_val_score(clone(SkillGainRegressor(estimator="paper")), vectors, gains, cv=3)) == 3


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"text": ["a", " "], "y0": [0, 0], "y1": [1, 1]}, "row 1 has no text"),
        ({"text": ["a"]}, "there are no gains; give y, or a frame with the columns y0 and y1"),
        ({"text": ["a"], "y0": [0], "y1": [2]}, "y1 of row 0 is 2"),
        ({"text": ["a"], "y0": [0], "y1": [[]]}, r"y1 of row 0 is \[\]"),
        ({"text": ["a"], "y0": ["x"], "y1": [1]}, "y0 of row 0 is 'x'"),
    ],
)
def test_a_frame_that_cannot_be_taken_is_refused_by_row_and_value(rows: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        SkillGainRegressor().fit(pd.DataFrame(rows))


def test_arrays_and_frames_are_not_mixed_and_nothing_is_predicted_before_fitting() -> None:
    with pytest.raises(NotFittedError):
        SkillGainRegressor().predict([[1.0]])
    model = SkillGainRegressor(estimator="paper").fit(pd.DataFrame(ROWS))
    with pytest.raises(InputError, match="fitted on a data frame with a text column"):
        model.predict(np.ones((1, 256)))
    with pytest.raises(InputError, match="ridge predicts no gain"):
        SkillGainRegressor(estimator="ridge").fit([[1.0], [2.0]], [0, 1])


def test_a_matrix_without_texts_is_decided_as_well() -> None:
    model = SkillGainRegressor(estimator="paper", k=2)
    model.fit(np.array([[1.0, 0.1], [1.0, 0.0], [0.0, 1.0], [0.1, 1.0]]), [1.0, 1.0, -1.0, 0.0])
    assert model.decide([[1.0, 0.05], [0.05, 1.0]]).tolist() == ["use", "skip"]
