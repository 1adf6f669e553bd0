"""The rule of a frozen panel, its thresholds from evidence, and the paper's settings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilldelta.arrays import unit_rows
from skilldelta.errors import InputError
from skilldelta.estimators.base import Target
from skilldelta.evaluation.metrics import balanced_accuracy
from skilldelta.evaluation.prospective.frozen_rule import (
    HISTORICAL,
    FrozenRule,
    best_balanced_accuracy,
    positive_prevalence,
)
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.predictor import Settings, predict_each
from skilldelta.support import Support


def support_with(gains: list[float], **columns: object) -> Support:
    n = len(gains)
    return Support.from_arrays(
        task_ids=[f"t{i}" for i in range(n)],
        vectors=columns.pop("vectors", [[1, 0]] * n),  # type: ignore[arg-type]
        y0=[max(0.0, -g) for g in gains],
        y1=[max(0.0, g) for g in gains],
        **columns,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(
    ("positives", "pairs", "panel"), [(24, 96, "toolqa"), (150, 440, "medcalc"), (21, 200, "bigcode_scale")]
)
def test_the_papers_thresholds_are_prevalences_of_their_supports(positives: int, pairs: int, panel: str) -> None:
    support = support_with([1.0] * positives + [0.0] * (pairs - positives))
    assert positive_prevalence(support) == pytest.approx(HISTORICAL[panel].threshold)
    assert FrozenRule(threshold="prevalence").resolve_threshold(support) == positives / pairs


def test_balanced_accuracy_is_maximised_with_ties_toward_fewer_uses() -> None:
    scores = np.array([0.1, 0.2, 0.3, 0.4])
    assert best_balanced_accuracy(scores, np.array([0.0, 0.0, 1.0, 1.0])) == 0.2
    # Cutting above 0.1 or above 0.3 is right on the same share of both classes: the higher cut uses less.
    assert best_balanced_accuracy(scores, np.array([0.0, 1.0, 0.0, 1.0])) == 0.3


def test_with_one_class_balanced_accuracy_chooses_nothing() -> None:
    with pytest.raises(InputError, match="every gain is not positive"):
        best_balanced_accuracy(np.array([0.1, 0.2]), np.array([0.0, -1.0]))
    with pytest.raises(InputError, match="every gain is positive"):
        best_balanced_accuracy(np.array([0.1, 0.2]), np.array([1.0, 0.5]))


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000))
def test_no_other_threshold_has_a_higher_balanced_accuracy(seed: int) -> None:
    drawn = np.random.default_rng(seed)
    scores, gains = drawn.integers(-4, 5, 30) / 4, drawn.integers(-1, 2, 30).astype(float)
    gains[:2] = [1.0, 0.0]
    chosen = best_balanced_accuracy(scores, gains)
    found = balanced_accuracy(scores > chosen, gains > 0)
    assert found is not None
    for other in np.linspace(-1.2, 1.2, 97):
        value = balanced_accuracy(scores > other, gains > 0)
        assert value is not None
        assert value <= found + 1e-12
        if abs(value - found) < 1e-12:
            assert (scores > chosen).sum() <= (scores > other).sum()


def test_a_rule_with_k_predicts_like_the_predictor(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=60, families=3, dimension=16).support
    rule = FrozenRule(k=3)
    expected = predict_each(support, "family", settings=Settings(k=3)).gains
    np.testing.assert_array_equal(rule.leave_one_out(support), expected)
    for row in range(60):
        target = Target(support.vectors[row], family=str(support.families[row]), task_id=str(support.task_ids[row]))
        (found,) = rule.predict(support, [target])
        assert found.gain == expected[row]
        assert row not in found.rows
        assert (support.families[found.rows] == target.family).all()


def test_all_support_of_a_family_is_averaged_where_k_is_none(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=40, families=2, dimension=16).support
    (found,) = FrozenRule(k=None).predict(support, [Target(support.vectors[0], family=str(support.families[0]))])
    assert len(found.rows) == 20


def test_a_family_without_support_looks_elsewhere_only_if_told_to() -> None:
    support = support_with([1.0, 1.0, -1.0], vectors=[[1, 0], [1, 1], [0, 1]], families=["f", "f", "g"])
    target = Target(unit_rows([[1, 0]])[0], family="new")
    assert FrozenRule().predict(support, [target])[0].is_fallback
    (found,) = FrozenRule(k=None, elsewhere=2).predict(support, [target])
    assert found.rows.tolist() == [0, 1]
    assert found.gain == 1.0
    # The one row of family g has no support in its family, so its own score comes from elsewhere too.
    assert FrozenRule(k=None, elsewhere=2).leave_one_out(support).tolist() == [1.0, 1.0, 1.0]
    assert FrozenRule(k=None).leave_one_out(support).tolist() == [1.0, 1.0, 0.0]


def test_the_natural_panel_is_the_papers() -> None:
    rule = HISTORICAL["bigcode_natural"]
    assert (rule.k, rule.elsewhere, rule.threshold, rule.scope) == (None, 240, -0.0258794, "family")
    assert (HISTORICAL["toolqa"].k, HISTORICAL["medcalc"].k) == (3, 3)
    assert HISTORICAL["main"] == FrozenRule(k=6, threshold=0.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 0}, "k must be at least 1, got 0"),
        ({"elsewhere": 0}, "elsewhere must be at least 1, got 0"),
        ({"threshold": float("nan")}, "threshold must be a finite number"),
        ({"threshold": "median"}, "unknown threshold rule 'median'"),
    ],
)
def test_rules_that_mean_nothing_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        FrozenRule(**change)  # type: ignore[arg-type]
