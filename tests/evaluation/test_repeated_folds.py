"""The value of a gate on held-out fifths of a small panel, and how often its verdict holds."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.estimators.base import Score, Scores, Target
from skilldelta.estimators.paper_rule import FamilyMean
from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.evaluation.repeated_folds import divided_by_family, repeated_folds
from skilldelta.support import Support


def _panel(gains: list[float], families: list[str] | None = None, task_ids: list[str] | None = None) -> Support:
    n = len(gains)
    return Support.from_arrays(
        task_ids=task_ids or [f"t{i}" for i in range(n)],
        families=families or ["f"] * n,
        skills=["s"] * n,
        vectors=np.eye(n),
        y0=[0.0 if gain > 0 else 1.0 for gain in gains],
        y1=[0.0 if gain < 0 else 1.0 for gain in gains],
        agent="a",
        suite="x",
    )


class _Watcher:
    """An estimator that writes down what it was shown, and always answers the same."""

    name = "watcher"

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain
        self.trained_on: list[set[str]] = []
        self.asked: list[tuple[int, Target]] = []

    def leave_one_out(self, support: Support) -> Scores:
        return Scores(np.full(len(support), self.gain))

    def fit(self, support: Support) -> _Watcher:
        self.trained_on.append(set(support.task_ids.tolist()))
        return self

    def score(self, target: Target) -> Score:
        self.asked.append((len(self.trained_on) - 1, target))
        return Score(self.gain)


def test_no_task_is_decided_by_a_fit_that_saw_it_even_under_another_skill(rng: np.random.Generator) -> None:
    tasks = [f"t{i // 2}" for i in range(24)]  # twelve tasks, each recorded twice
    support = _panel([1, 0] * 12, task_ids=tasks)
    vectors = {support.vectors[row].tobytes(): tasks[row] for row in range(24)}
    watcher = _Watcher()
    repeated_folds(support, {"watcher": watcher}, rng=rng, repeats=4)
    assert len(watcher.asked) == 4 * 24
    assert all(vectors[target.vector.tobytes()] not in watcher.trained_on[fit] for fit, target in watcher.asked)


def test_every_family_is_dealt_out_over_the_folds(rng: np.random.Generator) -> None:
    support = _panel([0.0] * 40, families=["large"] * 30 + ["small"] * 10)
    fold_of = divided_by_family(support, 5, rng)
    assert [int((fold_of[:30] == fold).sum()) for fold in range(5)] == [6] * 5
    assert [int((fold_of[30:] == fold).sum()) for fold in range(5)] == [2] * 5


def test_where_gains_cancel_leaving_one_out_turns_every_sign_and_repeated_folds_do_not(
    rng: np.random.Generator,
) -> None:
    support = _panel([1.0] * 5 + [-1.0] * 5)
    panel = evaluate_panel(support, rng=rng, policies=["family_mean"], resamples=0, shuffles=0)
    assert panel.policies["family_mean"].success == 0.0  # both constants reach one half
    value = repeated_folds(support, {"family_mean": FamilyMean()}, rng=rng)
    assert value is not None
    assert value.policies["family_mean"].difference == 0.0
    assert value.policies["family_mean"].is_same


def test_the_constant_to_beat_is_chosen_without_the_tasks_that_judge_it(rng: np.random.Generator) -> None:
    # Over all tasks the constants are level. One that is chosen without a fifth does worse on that fifth.
    value = repeated_folds(_panel([1.0, -1.0] * 20), {"on": _Watcher(1.0)}, rng=rng, repeats=20)
    assert value is not None
    assert 0.2 < value.always_on < 0.8
    assert value.constant < 0.5
    assert value.policies["on"].success == 0.5
    assert value.policies["on"].difference == pytest.approx(0.5 - value.constant)


def test_a_panel_of_fewer_tasks_than_folds_has_no_repeated_folds(rng: np.random.Generator) -> None:
    assert repeated_folds(_panel([1.0] * 4), {"family_mean": FamilyMean()}, rng=rng) is None


def test_the_same_seed_gives_the_same_numbers() -> None:
    support = _panel([1.0, 0.0, -1.0] * 10)
    first, second = (
        repeated_folds(support, {"family_mean": FamilyMean()}, rng=np.random.default_rng(3)) for _ in range(2)
    )
    assert first == second
