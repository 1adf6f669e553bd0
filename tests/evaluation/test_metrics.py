"""Ranking, matching, the advantage over random use and its two parts, and reliability bins counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from skilldelta.errors import InputError
from skilldelta.evaluation.metrics import (
    AurocOfDraws,
    DecompositionOfDraws,
    advantage,
    auroc,
    balanced_accuracy,
    decompose,
    regret,
    reliability_curve,
    wilson_interval,
)


def test_auroc_counts_ties_half() -> None:
    assert auroc(np.array([0.2, 0.2, 0.9]), np.array([False, True, True])) == 0.75


def test_auroc_agrees_with_scikit_learn_with_many_ties(rng: np.random.Generator) -> None:
    positive = rng.random(300) < 0.3
    scores = np.round(rng.normal(size=300) + positive, 1)
    assert auroc(scores, positive) == pytest.approx(roc_auc_score(positive, scores), abs=1e-12)


def test_one_class_only_has_no_auroc_and_no_balanced_accuracy() -> None:
    for positive in (np.ones(3, bool), np.zeros(3, bool)):
        assert auroc(np.arange(3.0), positive) is None
        assert balanced_accuracy(np.array([True, False, True]), positive) is None


def test_averages_of_equal_gains_tie_whatever_their_weights() -> None:
    third = 1 / 3
    almost = (0.7 * third + 0.2 * third + 0.1 * third) / (0.7 + 0.2 + 0.1)
    assert auroc(np.array([third, np.nextafter(almost, 1), 0.0]), np.array([True, False, False])) == 0.75


def test_balanced_accuracy_agrees_with_scikit_learn_and_takes_probabilities(rng: np.random.Generator) -> None:
    positive, actions = rng.random(80) < 0.4, rng.random(80) < 0.6
    assert balanced_accuracy(actions, positive) == pytest.approx(balanced_accuracy_score(positive, actions))
    assert balanced_accuracy(np.full(80, 0.37), positive) == pytest.approx(0.5)


def test_regret_is_the_distance_to_the_threshold_where_the_action_is_wrong() -> None:
    truth = np.array([0.4, -0.2, 0.1, 0.4])
    actions = np.array([True, True, False, False])
    assert regret(actions, truth).tolist() == pytest.approx([0.0, 0.2, 0.1, 0.4])
    assert regret(actions, truth, threshold=0.2).tolist() == pytest.approx([0.0, 0.4, 0.0, 0.2])
    assert regret(np.full(1, 0.5), truth[:1]).tolist() == pytest.approx([0.2])


@pytest.mark.parametrize("ties", [False, True])
def test_resampled_auroc_is_scikit_learns_on_the_resampled_tasks(ties: bool, rng: np.random.Generator) -> None:
    n, draws = 60, 40
    positive = rng.random(n) < 0.35
    scores = rng.normal(size=n) + positive
    if ties:
        scores = np.round(scores)
    drawn = rng.integers(0, n, (draws, n))
    counts = np.array([np.bincount(row, minlength=n) for row in drawn], np.int32)
    found = AurocOfDraws(scores, positive)(counts)
    assert found == pytest.approx([roc_auc_score(positive[row], scores[row]) for row in drawn], abs=1e-12)
    assert found == pytest.approx([roc_auc_score(positive, scores, sample_weight=c) for c in counts], abs=1e-12)


def test_a_draw_without_a_class_has_no_auroc() -> None:
    area = AurocOfDraws(np.array([0.1, 0.9]), np.array([False, True]))
    found = area(np.array([[1, 1], [2, 0], [0, 2]], np.int32))
    assert found[0] == 1.0
    assert np.isnan(found[1:]).all()


def test_the_expectation_is_exact_where_coin_flips_only_come_near(rng: np.random.Generator) -> None:
    """A policy's success less its advantage is what coin flips at its use rate come near to."""
    y0, y1, actions = rng.random(50), rng.random(50), np.arange(50) < 15
    success = float(np.where(actions, y1, y0).mean())
    flips = rng.random((20_000, 50)) < 0.3
    simulated = np.where(flips, y1, y0).mean()
    found = advantage(float((actions * (y1 - y0)).mean()), float((y1 - y0).mean()), 0.3)
    assert success - found == pytest.approx(simulated, abs=2e-3)


def test_the_advantage_is_the_covariance_of_actions_and_gains(rng: np.random.Generator) -> None:
    actions, gains = rng.random(40) < 0.5, rng.normal(size=40)
    found = advantage(float((actions * gains).mean()), float(gains.mean()), float(actions.mean()))
    assert found == pytest.approx(np.cov(actions.astype(float), gains, bias=True)[0, 1])


def test_a_constant_policy_has_no_advantage() -> None:
    assert advantage(0.2, 0.2, 1.0) == 0.0
    assert advantage(0.0, 0.2, 0.0) == 0.0


def test_the_parts_add_up_to_the_advantage_exactly(rng: np.random.Generator) -> None:
    for _ in range(20):
        gains, actions = rng.choice([-1.0, 0.0, 1.0], 70), rng.random(70) < 0.6
        parts = decompose(actions, gains, rng.integers(12, size=70))
        whole = ((actions - actions.mean()) * gains).mean()
        assert parts.within_group + parts.between_group == pytest.approx(whole, abs=1e-14)


def test_a_hand_worked_panel() -> None:
    # Group a uses one of two (rate 1/2), group b both (rate 1); the panel's rate is 3/4.
    actions, gains = np.array([True, False, True, True]), np.array([1.0, -1.0, 1.0, 0.0])
    parts = decompose(actions, gains, np.array(["a", "a", "b", "b"]))
    assert parts.within_group == pytest.approx((0.5 * 1 + -0.5 * -1) / 4)
    assert parts.between_group == pytest.approx((-0.25 * 0 + 0.25 * 1) / 4)


def test_singletons_and_groups_of_equal_actions_contribute_nothing_within(rng: np.random.Generator) -> None:
    gains = rng.normal(size=10)
    assert decompose(rng.random(10) < 0.5, gains, np.arange(10)).within_group == pytest.approx(0.0, abs=1e-16)
    equal = np.repeat([True, False], 5)
    assert decompose(equal, gains, np.repeat(["a", "b"], 5)).within_group == 0.0


def test_probabilities_decompose_too() -> None:
    parts = decompose(np.full(4, 0.3), np.array([1.0, 0.0, -1.0, 1.0]), np.array(["a", "a", "b", "b"]))
    assert (parts.within_group, parts.between_group) == pytest.approx((0.0, 0.0), abs=1e-16)


def test_each_draw_is_the_identity_on_the_resampled_rows(rng: np.random.Generator) -> None:
    n = 40
    gains, groups = rng.normal(size=n), np.array([f"g{i}" for i in rng.integers(7, size=n)])
    policies: list[np.ndarray[Any, Any]] = [rng.random(n) < 0.5, rng.random(n)]
    drawn = rng.integers(0, n, (25, n))
    counts = np.array([np.bincount(row, minlength=n) for row in drawn], np.int32)
    found = DecompositionOfDraws(policies, gains, groups)(counts)
    for i, actions in enumerate(policies):
        for j, row in enumerate(drawn):
            expected = decompose(actions[row], gains[row], groups[row])
            assert found.within_group[i, j] == pytest.approx(expected.within_group, abs=1e-12)
            assert found.between_group[i, j] == pytest.approx(expected.between_group, abs=1e-12)


def test_bins_hold_the_mean_chance_the_share_and_the_count() -> None:
    predicted = np.array([0.1, 0.2, 0.8, 0.9])
    low, high = reliability_curve(predicted, np.array([False, False, True, False]), bins=2)
    assert (low.predicted, low.observed, low.count) == pytest.approx((0.15, 0.0, 2))
    assert (high.predicted, high.observed, high.count) == pytest.approx((0.85, 0.5, 2))
    assert high.low <= 0.5 <= high.high
    assert low.holds


def test_equal_chances_share_a_bin_and_unknown_ones_are_left_out() -> None:
    bins = reliability_curve(np.array([0.3, 0.3, 0.3, 0.3, np.nan]), np.array([1, 0, 0, 1, 1], bool), bins=4)
    assert [(b.count, b.observed) for b in bins] == [(4, 0.5)]
    assert reliability_curve(np.array([np.nan]), np.array([True])) == ()


def test_wilsons_interval_is_the_published_one() -> None:
    assert wilson_interval(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson_interval(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_no_bins_are_refused() -> None:
    with pytest.raises(InputError, match="at least 1, got 0"):
        reliability_curve(np.array([0.5]), np.array([True]), bins=0)
