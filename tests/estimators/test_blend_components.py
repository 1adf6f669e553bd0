"""The blend's components: without held-out folds, and without the task alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from skilldelta.arrays import Flags, Floats
from skilldelta.estimators.base import Target
from skilldelta.estimators.blend import Blend
from skilldelta.estimators.blend.blend_panel import BlendPanel
from skilldelta.estimators.blend.components import (
    COMPONENTS,
    cross_fit,
    departures,
    departures_without_task,
    neighbor_lists,
)
from skilldelta.estimators.blend.group import TargetFeatures, prepare
from skilldelta.estimators.blend.slopes import Landmarks, fit_slopes, held_out_departures
from skilldelta.estimators.blend.views import FeatureExtractor
from skilldelta.estimators.blend.weights import Trust
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.support import Support


def test_neighbors_stay_within_their_block_and_leave_the_task_itself_out() -> None:
    features = np.array([[0.0], [1.0], [1.1], [5.0], [0.9]], np.float32)
    codes = np.array([0, 1, 2, 3, 1])  # the last row is the second row's task again
    lists = neighbor_lists(features, [np.array([0, 1, 2, 4]), np.array([3])], codes, np.arange(5))
    assert lists[1, :3].tolist() == [2, 0, -1]
    assert lists[0, :4].tolist() == [4, 1, 2, -1]
    assert (lists[3] == -1).all()


def test_equal_distances_stand_in_record_order() -> None:
    features = np.array([[0.0], [1.0], [-1.0], [1.0]], np.float32)
    lists = neighbor_lists(features, [np.arange(4)], np.arange(4), np.arange(4))
    assert lists[0, :3].tolist() == [1, 2, 3]


def test_the_nearest_that_remain_are_averaged_when_a_fold_is_held_out() -> None:
    lists = np.array([[1, 2, 3, -1]], np.int32)
    gains, weights, folds = np.array([9.0, 1.0, 0.5, -1.0]), np.array([1.0, 1.0, 3.0, 1.0]), np.array([0, 1, 2, 2])
    family = np.array([0.25])
    assert departures(lists, 2, gains, weights, folds, (), family)[0] == pytest.approx((1 + 1.5) / 4 - 0.25)
    assert departures(lists, 2, gains, weights, folds, (1,), family)[0] == pytest.approx((1.5 - 1) / 4 - 0.25)
    assert departures(lists, 2, gains, weights, folds, (1, 2), family)[0] == 0


def test_held_out_lines_equal_lines_fitted_without_those_rows(rng: np.random.Generator) -> None:
    features, gains = rng.normal(size=(40, 3)), rng.normal(size=40)
    weights, folds = rng.uniform(1, 3, 40), rng.integers(0, 4, 40)
    plain, nested = held_out_departures(features, gains, weights, folds, 5, nested=True)
    assert nested is not None
    kept = (folds != 1) & (folds != 2)
    # The penalty is that of the whole family: rescale so that a fit of the rest alone has the same.
    rest = _ridge(features, gains, weights, kept)
    assert nested[1, folds == 2] == pytest.approx(rest(features[folds == 2]))
    assert nested[2, folds == 1] == pytest.approx(rest(features[folds == 1]))
    assert plain[folds == 3] == pytest.approx(_ridge(features, gains, weights, folds != 3)(features[folds == 3]))
    assert nested[4] == pytest.approx(plain)  # no row lies in fold 4


def test_more_features_than_rows_give_the_same_line(rng: np.random.Generator) -> None:
    features, gains, weights = rng.normal(size=(12, 30)), rng.normal(size=12), np.ones(12)
    found = fit_slopes(features, gains, weights)
    expected = _ridge(features, gains, weights, np.ones(12, bool))
    new = rng.normal(size=30)
    assert found.departure(new) == pytest.approx(float(expected(new[None])[0]))


def test_departures_of_a_constant_gain_are_zero(rng: np.random.Generator) -> None:
    features, folds = rng.normal(size=(30, 4)), rng.integers(0, 10, 30)
    plain, _ = held_out_departures(features, np.full(30, 0.7), np.ones(30), folds, 10, nested=False)
    assert plain == pytest.approx(np.zeros(30))


def test_a_held_out_outcome_enters_no_number(rng: np.random.Generator) -> None:
    features, gains, folds = rng.normal(size=(50, 6)), rng.normal(size=50), rng.integers(0, 10, 50)
    before, nested_before = held_out_departures(features, gains, np.ones(50), folds, 10, nested=True)
    fold = folds[7]
    gains[7] += 1e6
    after, nested_after = held_out_departures(features, gains, np.ones(50), folds, 10, nested=True)
    assert nested_before is not None
    assert nested_after is not None
    own = folds == fold
    assert (before[own] == after[own]).all()
    assert (nested_before[fold] == nested_after[fold]).all()
    assert (before[~own] != after[~own]).any()


def test_curves_over_landmarks_follow_a_bend_that_no_line_can(rng: np.random.Generator) -> None:
    x = rng.uniform(-2, 2, (300, 1))
    gains = np.abs(x[:, 0]) - 1 + 0.2 * rng.normal(size=300)
    landmarks = Landmarks.choose(x, np.arange(300))
    curve = fit_slopes(landmarks.features(x), gains, np.ones(300))
    line = fit_slopes(x, gains, np.ones(300))
    middle, edge = np.array([[0.0]]), np.array([[1.9]])
    assert curve.departure(landmarks.features(edge)[0]) - curve.departure(landmarks.features(middle)[0]) > 1
    assert abs(line.departure(edge[0]) - line.departure(middle[0])) < 0.3


def _ridge(features: Floats, gains: Floats, weights: Floats, kept: Flags) -> Callable[[Floats], Floats]:
    """Weighted ridge with a free intercept on some rows, with the penalty of all of them; returns departures."""
    penalty = (((features - features.mean(axis=0)) ** 2).sum(axis=1)).mean() / 0.3
    x, y, w = features[kept], gains[kept], weights[kept]
    centre, mean = np.average(x, axis=0, weights=w), np.average(y, weights=w)
    left = (x - centre).T @ ((x - centre) * w[:, None]) + penalty * np.eye(x.shape[1])
    direction = np.linalg.solve(left, (x - centre).T @ (w * (y - mean)))
    return lambda rows: (rows - centre) @ direction


def test_tasks_with_the_same_features_have_no_line() -> None:
    features, gains, folds = np.ones((5, 20)), np.array([1.0, 0.0, -1.0, 0.0, 1.0]), np.arange(5)
    plain, nested = held_out_departures(features, gains, np.ones(5), folds, 10, nested=True)
    assert nested is not None
    assert not plain.any()
    assert nested.shape == (10, 5)
    assert fit_slopes(features, gains, np.ones(5)).departure(np.ones(20)) == 0


@pytest.fixture
def small() -> Support:
    return simulate_panel(np.random.default_rng(0), tasks=60, families=4, kind="mixed").support


def test_departures_of_a_task_are_those_of_a_group_without_it(small: Support) -> None:
    extractor, views = FeatureExtractor.learn(small)
    panel = BlendPanel.of(small, views)
    found = departures_without_task(panel, cross_fit(panel, nested=False).plain)
    vectors = [c for c, name in enumerate(COMPONENTS) if name.startswith(("nearest", "vector"))]
    for row in (0, 17, 59):
        others = small.rows(np.arange(60) != row)
        everything = Trust(np.ones(len(COMPONENTS)), belief=1.0)
        group = prepare(
            BlendPanel.of(others, extractor.views(others)), (small.families[row], small.skills[row]), everything
        )
        alone = group.departures(TargetFeatures(Target(small.vectors[row], small.texts[row]), extractor))
        # The penalty of a line is set by all features of the family, which no outcome reaches.
        assert found[row, vectors] == pytest.approx([alone[c] for c in vectors], abs=0.02)


def test_flipping_an_outcome_moves_its_own_departures_nowhere(small: Support) -> None:
    _, views = FeatureExtractor.learn(small)

    def departures_of(support: Support) -> np.ndarray:
        panel = BlendPanel.of(support, views)
        return departures_without_task(panel, cross_fit(panel, nested=False).plain)

    before = departures_of(small)
    for row in range(0, 60, 7):
        flipped = replace(small, y1=np.where(np.arange(60) == row, 1 - small.y1, small.y1))
        assert (departures_of(flipped)[row] == before[row]).all()


@pytest.mark.parametrize("families", [1, 3, 30])
@pytest.mark.parametrize("text", ["", "the same for all"])
def test_panels_of_identical_tasks_are_scored_by_their_means(families: int, text: str) -> None:
    n = 30
    support = Support.from_arrays(
        task_ids=[f"t{i}" for i in range(n)],
        families=[f"f{i % families}" for i in range(n)],
        skills=["s"] * n,
        vectors=np.ones((n, 40)),
        y0=np.zeros(n),
        y1=np.ones(n),
        texts=(text,) * n,
    )
    found = Blend().leave_one_out(support).values
    assert (found > 0.3).all()
    assert found == pytest.approx(np.full(n, found[0]), abs=0.05)
    assert Blend().fit(support).score(Target(np.ones(40, np.float32), text, "f0", "s")).gain > 0.3
