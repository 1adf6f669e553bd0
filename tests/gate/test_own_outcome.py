"""A recorded task is answered as if it had never been run: its own outcomes change nothing in the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from skilldelta import Gate, intervals
from skilldelta.estimators.base import target_of
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.support import Support

ESTIMATORS = ("blend", "paper", "tfidf_knn", "family_mean", "shrunk_mean")
METHODS = [(estimator, method) for estimator in ESTIMATORS for method in intervals.NAMES if method != "blend"]


@pytest.fixture
def support(rng: np.random.Generator) -> Support:
    """36 tasks in four families, of which one has a single task; the first task is recorded under two skills."""
    tasks, words = 36, np.array(["sum", "table", "count", "rows", "date", "email", "parse", "graph"])
    families = [*(f"f{i % 3}" for i in range(tasks - 1)), "alone", "f0"]
    texts = [" ".join(rng.choice(words, size=5)) for _ in range(tasks)]
    vectors = rng.normal(size=(tasks, 12))
    return Support.from_arrays(
        task_ids=[*(f"t{i}" for i in range(tasks)), "t0"],
        families=families,
        skills=[*(f"skill-{family}" for family in families[:-1]), "skill-f1"],
        vectors=[*vectors, vectors[0]],
        y0=rng.integers(4, size=tasks + 1) / 3,
        y1=rng.integers(4, size=tasks + 1) / 3,
        r0=np.full(tasks + 1, 3),
        r1=np.full(tasks + 1, 3),
        tokens0=rng.integers(100, 900, size=tasks + 1),
        tokens1=rng.integers(500, 1900, size=tasks + 1),
        texts=[*texts, texts[0]],
    )


def with_turned_outcomes(support: Support, task_id: str) -> Support:
    """Every outcome of a task turned around, its tokens multiplied."""
    own = support.task_ids == task_id
    turned = support.with_outcomes(np.where(own, 1 - support.y0, support.y0), np.where(own, 1 - support.y1, support.y1))
    return replace(turned, tokens0=np.where(own, 9_000.0, support.tokens0), tokens1=np.where(own, 1.0, support.tokens1))


def answers_and_evaluation(gate: Gate, support: Support, row: int) -> tuple[dict[str, Any], list[Any]]:
    """The answer about a recorded task, and what an evaluation says of its rows."""
    answer = gate.fit(support).decide(target_of(support, row), explain=True).to_dict()
    decisions, own = gate.leave_one_out(support), support.task_ids == support.task_ids[row]
    ends = [] if decisions.low is None or decisions.high is None else [*decisions.low[own], *decisions.high[own]]
    evaluated = [*decisions.scores.values[own], *decisions.thresholds[own], *decisions.uses[own], *ends]
    return answer, [*evaluated, *decisions.abstains[own]]


@pytest.mark.usefixtures("shrunk_mean")
@pytest.mark.parametrize(("estimator", "method"), [("blend", "blend"), *METHODS])
def test_own_outcomes_change_neither_the_answer_nor_the_evaluation(
    estimator: str, method: str, support: Support
) -> None:
    gate = Gate(estimator=estimator, interval=method, rule="three-way", level=0.6)
    other = with_turned_outcomes(support, "t0")
    assert answers_and_evaluation(gate, support, 0) == answers_and_evaluation(gate, other, 0)


@pytest.mark.parametrize(
    "settings",
    [
        {"rule": "plain"},
        {"rule": "conservative", "interval": "conformal", "level": 0.7},
        {"rule": "conservative", "interval": "conformal", "level": 0.7, "prior_gain": 0.1},
        {"success_worth": 0.05, "price": 10.0},
        {"estimator": "paper", "scope": "global", "interval": "conformal", "rule": "three-way"},
        {"paper": True},
        {"estimator": "paper", "success_worth": 0.05, "price": 10.0},
    ],
)
def test_own_outcomes_change_nothing_under_other_rules(settings: dict[str, Any], support: Support) -> None:
    gate, row = Gate.from_settings(settings), 20
    other = with_turned_outcomes(support, str(support.task_ids[row]))
    assert answers_and_evaluation(gate, support, row) == answers_and_evaluation(gate, other, row)


@pytest.mark.parametrize("estimator", ["blend", "paper"])
def test_own_outcomes_change_nothing_in_a_large_panel(estimator: str) -> None:
    support = simulate_panel(np.random.default_rng(3), tasks=450, families=4, kind="mixed").support
    gate, target = Gate(estimator=estimator, interval="conformal"), target_of(support, 7)
    other = with_turned_outcomes(support, target.task_id)
    answer = gate.fit(support).decide(target, explain=True)
    assert answer.to_dict() == gate.fit(other).decide(target, explain=True).to_dict()
    assert answer.interval is not None
    assert answer.interval.high - answer.interval.low < 2
