from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from skilldelta.estimators.base import NotApplicableError, Target
from skilldelta.estimators.ridge import Ridge, split_groups, task_groups
from skilldelta.support import Support

from .panels import random_panel


def _linear_panel(rng: np.random.Generator, n: int = 400) -> Support:
    """The skill helps on one side of the first axis and is wasted on the other; it costs more along the second."""
    vectors = rng.normal(size=(n, 5))
    helps = vectors[:, 0] > 0
    return Support.from_arrays(
        task_ids=[f"t{i}" for i in range(n)],
        vectors=vectors,
        y0=np.zeros(n),
        y1=np.where(helps, 1.0, 0.0),
        tokens0=np.full(n, 500.0),
        tokens1=500.0 + 1000 * (vectors[:, 1] > 0),
    )


def test_the_three_parts_cover_all_rows_and_no_group_lies_in_two(rng: np.random.Generator) -> None:
    groups = np.array([f"g{i}" for i in rng.integers(50, size=200)])
    split = split_groups(groups, 0.2, 0.2, seed=0)
    parts = [split.train, split.validation, split.test]
    assert sorted(np.concatenate(parts).tolist()) == list(range(200))
    names = [set(groups[part].tolist()) for part in parts]
    assert [len(name) for name in names] == [len(set(groups)) - 20, 10, 10]
    assert not names[0] & names[1] | names[0] & names[2] | names[1] & names[2]


def test_the_split_depends_on_the_inventory_and_not_on_its_order(rng: np.random.Generator) -> None:
    groups = np.array([f"g{i}" for i in range(60)])
    order = rng.permutation(60)
    test = set(groups[split_groups(groups, 0.2, 0.2, seed=0).test].tolist())
    assert set(groups[order][split_groups(groups[order], 0.2, 0.2, seed=0).test].tolist()) == test
    assert set(groups[split_groups(groups, 0.2, 0.2, seed=1).test].tolist()) != test


def test_tasks_with_the_same_question_stay_together(rng: np.random.Generator) -> None:
    support = random_panel(rng)
    groups = task_groups(replace(support, texts=("same",) * len(support)))
    assert len(set(groups.tolist())) == 1


@pytest.mark.parametrize("dual", [False, True])
def test_test_rows_alone_are_scored_and_the_policy_learns_a_linear_gain(dual: bool, rng: np.random.Generator) -> None:
    support = _linear_panel(rng)
    scores = Ridge(dual=dual).leave_one_out(support)
    tested = np.isfinite(scores.values)
    assert tested.sum() == 80
    used = scores.values[tested] > scores.threshold
    assert ((support.gains[tested] > 0) == used).mean() > 0.85
    assert scores.notes[0] == "evaluated on its test split of 80 of 400 pairs"


def test_the_token_head_is_in_thousands_and_a_known_task_is_fitted_without_itself(rng: np.random.Generator) -> None:
    support = _linear_panel(rng)
    fitted = Ridge(dual=True).fit(support)
    dear, cheap = (Target(v, task_id="new") for v in np.array([[0, 1, 0, 0, 0], [0, -1, 0, 0, 0]], np.float32))
    difference = fitted.score(dear).components["thousand_tokens"] - fitted.score(cheap).components["thousand_tokens"]
    assert 0.8 < difference < 2.5
    own = Target(support.vectors[7], task_id="t7")
    flipped = support.with_outcomes(
        np.where(support.task_ids == "t7", 1 - support.y0, support.y0),
        np.where(support.task_ids == "t7", 1 - support.y1, support.y1),
    )
    assert Ridge().fit(flipped).score(own).gain == Ridge().fit(support).score(own).gain


def test_without_tokens_there_is_no_least_token_policy(rng: np.random.Generator) -> None:
    support = _linear_panel(rng)
    unpriced = replace(support, tokens1=np.where(np.arange(400) < 3, np.nan, support.tokens1))
    with pytest.raises(NotApplicableError, match="no tokens for 3 of 400 pairs"):
        Ridge().leave_one_out(unpriced)


def test_fewer_tasks_than_folds_are_refused_in_words(rng: np.random.Generator) -> None:
    with pytest.raises(NotApplicableError, match="4 task groups for 5 folds"):
        Ridge().leave_one_out(_linear_panel(rng, n=6))
