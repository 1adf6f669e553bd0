"""Algorithm 1, line by line: a transcription in plain Python, and the numbers that the paper states."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilldelta.arrays import unit_rows
from skilldelta.estimators.base import Target
from skilldelta.estimators.paper_rule import PaperRule
from skilldelta.gate import decide
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.predictor import Settings, predict, predict_each
from skilldelta.support import Support

Runs = Sequence[Sequence[float]]


def transcription(
    query: Sequence[float], vectors: Sequence[Sequence[float]], y0: Runs, y1: Runs, k: int, eta: float
) -> tuple[float, int]:
    """The paper's listing with lists and loops: support outcomes per repetition, the target excluded by the caller."""
    if not vectors:  # line 2
        return 0.0, 0
    gains = [
        math.fsum(a - b for a, b in zip(one, zero, strict=True)) / len(one) for zero, one in zip(y0, y1, strict=True)
    ]

    def cosine(v: Sequence[float]) -> float:
        return math.sumprod(query, v) if hasattr(math, "sumprod") else sum(a * b for a, b in zip(query, v, strict=True))

    order = sorted(range(len(vectors)), key=lambda i: -cosine(vectors[i]))  # stable: ties keep input order
    nearest = order[: min(k, len(order))]  # line 4
    q = [max(0.0, cosine(vectors[i])) for i in nearest]  # line 5
    w = [x / sum(q) for x in q] if sum(q) > 0 else [1 / len(nearest)] * len(nearest)  # line 6
    estimate = sum(weight * gains[i] for weight, i in zip(w, nearest, strict=True))  # line 7
    return estimate, int(estimate > eta)


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 100_000), st.integers(0, 12), st.integers(1, 8), st.sampled_from([-0.3, 0.0, 0.25]))
def test_prediction_and_action_equal_the_listing(seed: int, count: int, k: int, eta: float) -> None:
    drawn = np.random.default_rng(seed)
    vectors = drawn.standard_normal((count, 5))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query = drawn.standard_normal(5)
    query /= np.linalg.norm(query)
    y0, y1 = drawn.integers(0, 2, (count, 3)).astype(float), drawn.integers(0, 2, (count, 3)).astype(float)
    estimate, action = transcription(query.tolist(), vectors.tolist(), y0.tolist(), y1.tolist(), k, eta)

    stored = unit_rows(vectors) if count else np.empty((0, 5), np.float32)
    gains = y1.mean(axis=1) - y0.mean(axis=1) if count else np.empty(0)
    found = predict(unit_rows([query])[0], stored, gains, settings=Settings(k=k))
    assert found.gain == pytest.approx(estimate, abs=2e-6)  # stored vectors are float32
    if abs(estimate - eta) > 1e-5:
        decided = decide(found.gain, threshold=eta, eligible=found.eligible).action
        assert decided == ("use" if action and count else "skip")


def test_leave_one_task_out_over_a_panel_equals_the_listing(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=90, families=5, r0=3, r1=3, dimension=16)
    support = panel.support
    scores = predict_each(support, "family").gains
    for target in range(len(support)):
        eligible = [i for i in range(len(support)) if support.families[i] == support.families[target] and i != target]
        estimate, _ = transcription(
            support.vectors[target].tolist(),
            support.vectors[eligible].tolist(),
            panel.successes0[eligible].tolist(),
            panel.successes1[eligible].tolist(),
            6,
            0.0,
        )
        assert scores[target] == pytest.approx(estimate, abs=1e-6)


def test_the_worked_example_gives_three_tenths() -> None:
    """Gains +1, 0, -1 with weights .5, .3, .2. Cosines proportional to the weights make them."""
    cosines = np.array([0.5, 0.3, 0.2])
    vectors = unit_rows(np.column_stack([cosines, np.sqrt(1 - cosines**2)]))
    found = predict(unit_rows([[1, 0]])[0], vectors, np.array([1.0, 0.0, -1.0]))
    np.testing.assert_allclose(found.weights, [0.5, 0.3, 0.2], atol=1e-7)
    assert found.gain == pytest.approx(0.3, abs=1e-7)


def test_the_estimate_is_the_difference_of_both_arms_under_shared_weights(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=60, families=2, r0=2, r1=4).support
    found = predict_each(support, "family")
    with_skill = (found.weights * support.y1[found.rows]).sum(axis=1)
    without = (found.weights * support.y0[found.rows]).sum(axis=1)
    np.testing.assert_allclose(found.gains, with_skill - without, atol=1e-12)


def test_equal_success_with_the_skill_hides_unequal_gains() -> None:
    """The paper's 80% example: no-skill success of 80% and 40% means gains of 0 and 40 points."""
    support = Support.from_arrays(task_ids=["a", "b"], vectors=np.eye(2), y0=[0.8, 0.4], y1=[0.8, 0.8])
    np.testing.assert_allclose(support.gains, [0.0, 0.4])


def test_each_prediction_traces_to_its_records(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=40, families=2).support
    found = predict_each(support, "family")
    for target in range(len(support)):
        rows, weights = found.rows[target], found.weights[target]
        assert target not in rows
        assert (support.families[rows] == support.families[target]).all()
        assert weights.sum() == pytest.approx(1)
        assert found.gains[target] == pytest.approx(weights @ support.gains[rows], abs=1e-12)


def test_outcomes_never_choose_neighbors_or_weights(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=60, families=3)
    one, two = (predict_each(p.support, "family") for p in (panel, panel.redraw(rng)))
    np.testing.assert_array_equal(one.rows, two.rows)
    np.testing.assert_array_equal(one.weights, two.weights)
    assert (one.gains != two.gains).any()


def test_a_skill_bundle_is_one_intervention() -> None:
    """Rows of the bundle a+b inform each other and neither a alone nor b alone."""
    support = Support.from_arrays(
        task_ids=list("pqrs"),
        skills=["a+b", "a+b", "a", "b"],
        vectors=[[1, 0]] * 4,
        y0=[0, 0, 1, 1],
        y1=[1, 1, 0, 0],
    )
    rule = PaperRule(scope="skill").fit(support)
    new = Target(unit_rows([[1, 0]])[0], skill="a+b", task_id="new")
    assert rule.score(new).gain == 1.0
    assert predict_each(support, "skill").gains.tolist() == [1, 1, 0, 0]


def test_averaging_settings_of_the_paper_exist() -> None:
    """Main: k=6 cosine; the sensitivity analysis: k=3; the plugin: uniform averaging."""
    vectors = unit_rows([[1.0, 0.0], [1.0, 0.5], [1.0, 2.0], [0.0, 1.0]])
    gains, query = np.array([1.0, 0.0, -1.0, -1.0]), unit_rows([[1, 0]])[0]
    assert predict(query, vectors, gains, settings=Settings(k=3, weighting="uniform")).gain == 0.0
    cosine = predict(query, vectors, gains, settings=Settings(k=3))
    assert cosine.gain == pytest.approx((1 - 1 / math.sqrt(5)) / (1 + 2 / math.sqrt(5) + 1 / math.sqrt(5)), abs=1e-6)
