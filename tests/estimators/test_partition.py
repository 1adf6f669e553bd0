"""Partitions that were made elsewhere, for both Ridge controls."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skilldelta.arrays import unit_rows
from skilldelta.errors import InputError
from skilldelta.estimators.base import NotApplicableError
from skilldelta.estimators.partition import Partition, read_partition
from skilldelta.estimators.ridge import Ridge
from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.support import Support


def panel(rng: np.random.Generator, n: int = 60) -> Support:
    vectors = unit_rows(rng.normal(size=(n, 4)))
    y1 = (vectors[:, 0] > 0).astype(float)
    return Support(
        task_ids=np.array([f"t{i}" for i in range(n)]),
        families=np.array(["f"] * n),
        skills=np.array(["s"] * n),
        vectors=vectors,
        y0=np.full(n, 0.5),
        y1=y1,
        r0=np.ones(n, np.int64),
        r1=np.ones(n, np.int64),
        tokens0=np.full(n, 100.0),
        tokens1=np.full(n, 200.0),
        agent="ada",
        suite="toolqa",
    )


def parts(n: int) -> Partition:
    names = ("train", "train", "train", "validation", "test")
    return Partition({("", f"t{i}"): names[i % 5] for i in range(n)})  # type: ignore[misc]


@pytest.mark.parametrize("dual", [False, True])
def test_ridge_trains_validates_and_is_tested_where_the_partition_says(rng: np.random.Generator, dual: bool) -> None:
    support = panel(rng)
    scores = Ridge(dual=dual, partition=parts(60)).leave_one_out(support)

    assert np.flatnonzero(np.isfinite(scores.values)).tolist() == list(range(4, 60, 5))
    assert scores.notes[0] == "evaluated on its supplied test split of 12 of 60 pairs"


def test_tasks_in_no_part_are_left_out_and_counted(rng: np.random.Generator) -> None:
    scores = Ridge(partition=parts(50)).leave_one_out(panel(rng))

    assert np.isfinite(scores.values).sum() == 10
    assert scores.notes[0].endswith("; 10 are in no part")


def test_test_outcomes_do_not_move_test_scores(rng: np.random.Generator) -> None:
    from dataclasses import replace

    support = panel(rng)
    test = np.arange(4, 60, 5)
    flipped = support.y1.copy()
    flipped[test] = 1 - flipped[test]
    ridge = Ridge(partition=parts(60))

    before = ridge.leave_one_out(support).values[test]
    np.testing.assert_array_equal(before, ridge.leave_one_out(replace(support, y1=flipped)).values[test])


def test_a_partition_of_another_panel_is_said(rng: np.random.Generator) -> None:
    other = Partition({("bigcode", f"t{i}"): "train" for i in range(60)})

    with pytest.raises(NotApplicableError, match="no training task of this panel"):
        Ridge(partition=other).leave_one_out(panel(rng))
    result = evaluate_panel(panel(rng), rng=rng, resamples=0, partition=other)
    assert "ridge" not in result.policies
    assert any("Ridge: left out, the partition has no training task" in note for note in result.notes)


@pytest.mark.parametrize(
    "content",
    [
        "task_id,split\na,train\nb,Validation\nc,test\n",
        "Split,task_id,suite\ntraining,a,\ndev,b,\ntest,c,\n",
        '{"task_id": "a", "split": "train"}\n{"task_id": "b", "split": "val"}\n{"task_id": "c", "split": "test"}\n',
    ],
)
def test_a_partition_is_read_from_a_table_or_from_jsonl(tmp_path: Path, content: str) -> None:
    (tmp_path / "p").write_text(content)

    assert read_partition(tmp_path / "p").parts == {("", "a"): "train", ("", "b"): "validation", ("", "c"): "test"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "p:1: the columns task_id and split are needed"),
        ("task_id,part\na,train\n", "p:1: the columns task_id and split are needed"),
        ("task_id,split\n", "p: the file has no rows"),
        ("task_id,split\na,train\nb,holdout\n", "p:3: split must be train, validation or test, got 'holdout'"),
        ("task_id,split\na,train\na,test\n", "p:3: the task 'a' is in two parts"),
        ("task_id,split\n,test\n", "p:2: there is no task_id"),
        ('task_id,split\n"a,test\n', "p:2: not valid CSV"),
        ('{"task_id": "a"\n', "p:1: not valid JSON"),
    ],
)
def test_a_bad_partition_is_one_line(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "p").write_text(content)
    with pytest.raises(InputError, match=said) as caught:
        read_partition(tmp_path / "p")
    assert "\n" not in str(caught.value)
