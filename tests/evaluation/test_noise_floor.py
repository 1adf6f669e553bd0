from __future__ import annotations

import numpy as np
import pytest

from skilldelta.evaluation.noise_floor import NoiseFloor, noise_floor


def test_identical_repetitions_make_no_noise() -> None:
    assert noise_floor([[1, 1, 1]], [[0, 0]]) == NoiseFloor(0.0, 0.0, 0.0, 1)


def test_a_coin_flipped_twice_each_way() -> None:
    found = noise_floor([[0, 1], [1, 1]], [[1], []])
    assert found.sd0 == pytest.approx(0.5)  # squares 1/2 over two degrees of freedom
    assert found.sd1 is None
    assert found.expected_abs_gain == pytest.approx(0.5)
    assert found.tasks == 2


def test_without_repetitions_nothing_is_known() -> None:
    assert noise_floor([[1], [0]], [[1], []]) == NoiseFloor(None, None, None, 0)


def test_it_recovers_the_noise_of_a_known_coin(rng: np.random.Generator) -> None:
    runs = (rng.random((4_000, 3)) < 0.3).astype(float)
    found = noise_floor(runs.tolist(), runs[:, :1].tolist())
    assert found.sd0 == pytest.approx(np.sqrt(0.21), abs=0.01)
    assert found.expected_abs_gain == pytest.approx(2 * 0.21, abs=0.01)  # E|A - A'| of a coin is 2p(1-p)


def test_a_task_repeated_in_rows_of_its_own_for_each_arm_counts_once() -> None:
    assert noise_floor([[1, 1], [], [0]], [[], [0, 0], [1]], ["a", "a", "b"]) == NoiseFloor(0.0, 0.0, 0.0, 1)
