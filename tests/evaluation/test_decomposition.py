from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skilldelta.evaluation.decomposition import DecompositionOfDraws, decompose


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
