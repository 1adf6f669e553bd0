"""Relevance scores that were computed elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from estimators.panels import panel
from skilldelta.errors import InputError
from skilldelta.estimators.lexical_controls import Relevance
from skilldelta.estimators.relevance_scores import RelevanceScores, read_relevance
from skilldelta.support import Support


def tasks() -> Support:
    """Four tasks t0 to t3 of one skill, of agent `ada` on `toolqa`."""
    four = panel([0, 1, -1, 0], texts=["alpha", "beta", "gamma", "delta"])
    return replace(four, agent="ada", suite="toolqa")


def scores(*values: float, agent: str = "", suite: str = "") -> RelevanceScores:
    names = tasks().task_ids.tolist()
    return RelevanceScores({(agent, suite, name, ""): value for name, value in zip(names, values, strict=False)})


def test_supplied_scores_are_cut_at_their_median() -> None:
    found = Relevance({"s": "alpha"}, scores(0.1, 0.4, 0.2, 0.9)).leave_one_out(tasks())

    assert found.values.tolist() == [0.1, 0.4, 0.2, 0.9]
    assert found.threshold == pytest.approx(0.3)
    assert not found.is_gain
    assert "file" in found.notes[0]


def test_panels_that_the_file_does_not_name_keep_their_own_scores() -> None:
    own = Relevance(dict.fromkeys(tasks().skills.tolist(), "alpha"))
    other = replace(own, supplied=scores(9, 9, 9, 9, agent="bob"))

    assert other.leave_one_out(tasks()).values.tolist() == own.leave_one_out(tasks()).values.tolist()
    assert scores(1, 2, 3, 4, suite="medcalc").of(tasks()) is None
    # A label that ends in a part of a fingerprint is the agent's name all the same.
    assert scores(1, 2, 3, 4, agent="ada").of(replace(tasks(), agent="ada@12345678")) is not None


def test_a_panel_of_which_only_some_tasks_have_a_score_is_refused_by_name() -> None:
    missing = tasks().task_ids.tolist()[3]
    with pytest.raises(InputError, match=f"no relevance score of 1 task of 4 \\({missing}\\)"):
        scores(0.1, 0.2, 0.3).of(tasks())


def test_files_are_csv_or_jsonl(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("task_id,score,agent\nt0,0.5,ada\nt1,1e-3,ada\n")
    (tmp_path / "b.jsonl").write_text(
        '{"task_id": "t0", "score": 0.5, "agent": "ada"}\n{"task_id": "t1", "score": 0.001, "agent": "ada"}\n'
    )

    assert read_relevance(tmp_path / "a.csv") == read_relevance(tmp_path / "b.jsonl")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("task_id,value\nt0,1\n", "columns task_id and score are needed"),
        ("task_id,score\nt0,high\n", ":2: score must be a number, got 'high'"),
        ("task_id,score\nt0,nan\n", "score must be a number"),
        ("task_id,score\n,1\n", "there is no task_id"),
        ("task_id,score\nt0,1\nt0,2\n", "the task 't0' has two scores"),
        ("task_id,score\n", "the file has no rows"),
    ],
)
def test_what_is_no_score_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "relevance.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_relevance(tmp_path / "relevance.csv")
