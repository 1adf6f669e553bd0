from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from skilldelta.evaluation.metrics import AurocOfDraws, auroc, balanced_accuracy, regret


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
