"""Support: checked arrays, scopes as sets of rows in record order."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.arrays import unit_rows
from skilldelta.errors import InputError
from skilldelta.records import Agent, Pair
from skilldelta.support import Support, scope_label


def small(**changes: object) -> Support:
    """Four pairs of two families and two skills."""
    arrays: dict[str, object] = {
        "task_ids": ["a", "b", "c", "a"],
        "families": ["f", "g", "f", "f"],
        "skills": ["s", "s", "s", "t"],
        "vectors": [[1, 0], [0, 2], [3, 4], [1, 0]],
        "y0": [0, 1, 0.5, 0],
        "y1": [1, 0, 0.5, 0.25],
    }
    return Support.from_arrays(**(arrays | changes))  # type: ignore[arg-type]


def test_gains_are_outcome_with_minus_outcome_without_the_skill() -> None:
    assert small().gains.tolist() == [1, -1, 0, 0.25]


def test_vectors_are_scaled_to_length_one_as_contiguous_float32() -> None:
    vectors = small().vectors
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    np.testing.assert_allclose(vectors, [[1.0, 0.0], [0.0, 1.0], [0.6, 0.8], [1.0, 0.0]], rtol=1e-6)


def test_absent_repetitions_are_one_and_absent_tokens_unknown() -> None:
    support = small()
    assert support.r0.tolist() == [1, 1, 1, 1]
    assert np.isnan(support.tokens1).all()


@pytest.mark.parametrize(
    ("scope", "expected"),
    [("family", [[0, 2, 3], [1]]), ("skill", [[0, 1, 2], [3]]), ("global", [[0, 1, 2, 3]])],
)
def test_scopes_partition_the_rows_and_keep_record_order(scope: str, expected: list[list[int]]) -> None:
    assert [block.tolist() for block in small().blocks(scope)] == expected  # type: ignore[arg-type]


def test_rows_without_a_family_fall_back_to_their_skill_and_never_pool_skills() -> None:
    support = small(families=["", "", "f", ""])
    assert sorted(block.tolist() for block in support.blocks("family")) == [[0, 1], [2], [3]]


def test_a_skill_that_bears_a_familys_name_stays_apart_from_it() -> None:
    support = small(families=["s", "", "", "s"])
    assert sorted(block.tolist() for block in support.blocks("family")) == [[0, 3], [1, 2]]


def test_one_task_under_two_skills_has_one_code() -> None:
    codes = small().task_codes
    assert codes[0] == codes[3]
    assert len(set(codes.tolist())) == 3


def test_rows_selects_by_mask_and_by_index_with_texts() -> None:
    support = small(texts=["ta", "tb", "tc", "td"])
    by_mask = support.rows(np.array([False, True, True, False]))
    by_index = support.rows([1, 2])
    assert by_mask.task_ids.tolist() == by_index.task_ids.tolist() == ["b", "c"]
    assert by_mask.texts == by_index.texts == ("tb", "tc")
    assert by_mask.gains.tolist() == [-1, 0]


def test_an_empty_support_has_no_scope() -> None:
    empty = Support.from_arrays(task_ids=[], vectors=np.empty((0, 3)), y0=[], y1=[])
    assert len(empty) == 0
    assert list(empty.blocks("family")) == list(empty.blocks("global")) == []


def test_pairs_become_rows_in_their_order() -> None:
    agent = Agent("m")
    pairs = [
        Pair(agent, "u", "a", "f", "s", "", y0=0.0, y1=1.0, r0=1, r1=3, tokens0=10.0, tokens1=None),
        Pair(agent, "u", "b", "f", "s", "", y0=0.5, y1=0.25, r0=2, r1=4),
    ]
    support = Support.from_pairs(pairs, [[1, 0], [0, 1]])
    assert support.gains.tolist() == [1, -0.25]
    assert support.r1.tolist() == [3, 4]
    assert support.tokens0[0] == 10
    assert np.isnan(support.tokens1[0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y0": [0, 1, 0.5]}, "y0 has 3 rows for 4 tasks"),
        ({"y1": [0, 1, 0.5, 1.5]}, r"y1 must lie in \[0, 1\], got 1.5"),
        ({"y1": [0, 1, 0.5, np.nan]}, r"y1 must lie in \[0, 1\], got nan"),
        ({"r0": [1, 1, 0, 1]}, "r0 must be at least 1 for every pair, got 0"),
        ({"texts": ["one"]}, "texts has 1 row for 4 tasks"),
        ({"vectors": [[1, 0], [0, 0], [1, 1], [1, 0]]}, "vector 1 is zero"),
        ({"vectors": [[1, 0], [0, np.inf], [1, 1], [1, 0]]}, "vector 1 has a value that is not finite"),
        ({"vectors": [[1, 0], [0, 1, 2], [1, 1], [1, 0]]}, "unequal dimensions"),
        ({"vectors": [1, 2, 3, 4]}, "must be a matrix"),
    ],
)
def test_bad_rows_are_refused_with_the_value(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        small(**changes)


def test_with_outcomes_changes_nothing_else() -> None:
    support = small()
    other = support.with_outcomes(np.ones(4), np.zeros(4))
    assert other.gains.tolist() == [-1, -1, -1, -1]
    assert other.vectors is support.vectors
    assert support.gains.tolist() == [1, -1, 0, 0.25]


def test_unit_rows_are_unit_to_float32_rounding(rng: np.random.Generator) -> None:
    rows = unit_rows(rng.standard_normal((50, 384)) * 1000)
    np.testing.assert_allclose(np.linalg.norm(rows.astype(float), axis=1), 1, atol=3e-7)


@pytest.mark.parametrize("scope", ["family", "skill", "global"])
def test_a_new_target_has_the_label_of_the_rows_in_its_scope(scope: str) -> None:
    support = small(families=["f", "", "s", ""])
    labels = support.scope_labels(scope)  # type: ignore[arg-type]
    for family, skill, label in zip(support.families, support.skills, labels, strict=True):
        assert scope_label(scope, family=str(family), skill=str(skill)) == label  # type: ignore[arg-type]


def test_a_support_that_grows_knows_the_rows_of_old_and_new_tasks() -> None:
    one = Support.from_arrays(task_ids=["a", "b"], vectors=np.eye(2), y0=[0, 1], y1=[1, 1], texts=["A", "B"])
    more = Support.from_arrays(task_ids=["b", "c"], vectors=np.eye(2), y0=[0, 0], y1=[0, 1], texts=["B", "C"])
    assert {task: rows.tolist() for task, rows in one.row_of_task.items()} == {"a": [0], "b": [1]}
    grown = one.followed_by(more)
    assert {task: rows.tolist() for task, rows in grown.row_of_task.items()} == {"a": [0], "b": [1, 2], "c": [3]}
    assert (grown.texts, grown.gains.tolist()) == (("A", "B", "B", "C"), [1, 0, 0, 1])
    assert list(one.row_of_task) == ["a", "b"]


def test_a_support_that_others_hold_refuses_to_be_written_to() -> None:
    held = Support.from_arrays(task_ids=["a"], vectors=np.eye(1), y0=[0], y1=[1]).read_only()
    for array in (held.y0, held.gains, held.vectors):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
