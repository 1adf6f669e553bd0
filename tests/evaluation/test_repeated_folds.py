"""The value of a gate on held-out fifths of a small panel, and how often its verdict holds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from skilldelta.encoders import load_encoder
from skilldelta.estimators.base import Score, Scores, Target
from skilldelta.estimators.blend import Blend
from skilldelta.estimators.paper_rule import FamilyMean
from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.evaluation.repeated_folds import divided_by_family, repeated_folds
from skilldelta.paper.simulation.simulated_panel import Kind, simulate_panel
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


def _truth(bank: Support, others: Support, gains: np.ndarray) -> float:
    """What the gate fitted to a bank is worth on other tasks, against the constant that the bank favors."""
    fitted = Blend().fit(bank)
    uses = [
        fitted.score(Target(vector, text, family, skill)).gain > 0
        for vector, text, family, skill in zip(
            others.vectors, others.texts, others.families.tolist(), others.skills.tolist(), strict=True
        )
    ]
    return float(((np.array(uses, float) - (bank.gains.mean() > 0)) * gains).mean())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "families", "tasks"), [("no_effect", 3, 60), ("mixed", 4, 60), ("family_only", 5, 100)]
)
def test_on_simulated_truth_verdicts_hold_and_twice_the_spread_covers(kind: Kind, families: int, tasks: int) -> None:
    banks, covered, reversed_ = 40, 0, 0
    for seed in range(banks):
        rng = np.random.default_rng([seed, tasks])
        panel = simulate_panel(rng, tasks=tasks + 400, families=families, kind=kind)
        order = rng.permutation(tasks + 400)
        bank, others = panel.support.rows(order[:tasks]), panel.support.rows(order[tasks:])
        folds = repeated_folds(bank, {"blend": Blend()}, rng=rng)
        assert folds is not None
        value, truth = folds.policies["blend"], _truth(bank, others, panel.tau[order[tasks:]])
        covered += abs(value.difference - truth) <= 2 * value.spread + 1e-9
        reversed_ += abs(value.difference) > 2 * value.spread and value.difference * truth < -1e-9
    assert covered / banks >= 0.9
    assert reversed_ / banks <= 0.05


@pytest.mark.slow
def test_in_small_real_banks_no_verdict_is_reversed_more_often_than_it_says(shared_data: Path) -> None:
    rows = [json.loads(line) for line in (shared_data / "bbh_cot" / "pairs.jsonl").read_text().splitlines()]
    texts = [row["question"] for row in rows]
    support = Support.from_arrays(
        task_ids=[row["task_id"] for row in rows],
        families=[row["family"] for row in rows],
        skills=[row["skill"] for row in rows],
        vectors=load_encoder().encode(texts),
        y0=[float(row["y0"][0]) for row in rows],
        y1=[float(row["y1"][0]) for row in rows],
        texts=tuple(texts),
        agent="a",
        suite="x",
    )
    names, called, reversed_ = np.unique(support.families), 0, 0
    for seed in range(30):  # three draws of each of ten kinds of bank
        rng = np.random.default_rng([seed % 10, 11])
        chosen = rng.choice(names, int(rng.integers(1, 7)), replace=False)
        order = np.random.default_rng(seed).permutation(np.flatnonzero(np.isin(support.families, chosen)))
        tasks = min(int(rng.integers(30, 160)), len(order) - 90)
        bank, others = support.rows(order[:tasks]), support.rows(order[tasks : tasks + 500])
        folds = repeated_folds(bank, {"blend": Blend()}, rng=np.random.default_rng(seed))
        assert folds is not None
        value = folds.policies["blend"]
        if abs(value.difference) > 2 * value.spread:
            called += 1
            reversed_ += value.difference * _truth(bank, others, others.gains) < 0
    assert reversed_ <= max(1, 0.05 * called)
