from __future__ import annotations

import numpy as np
import pytest

from skilldelta.noise_floor import NoiseFloor, noise_floor, noise_of_executions, same_condition_difference
from skilldelta.records import Agent, Condition, Execution


def test_identical_repetitions_make_no_noise() -> None:
    assert noise_floor([[1, 1, 1]], [[0, 0]]) == NoiseFloor(0.0, 0.0, 0.0, 1)
    assert "never differed (1 repeated task)" in noise_floor([[1, 1, 1]], [[0, 0]]).sentence


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


def test_runs_without_a_result_and_other_skills_are_not_repetitions() -> None:
    def run(skill: str, success: float | None, status: str = "completed", repetition: int = 0) -> Execution:
        return Execution(Agent("a", ""), "s", "t", "use", repetition, success, skill_id=skill, status=status)  # type: ignore[arg-type]

    runs = [run("x", 1.0), run("x", 0.0, repetition=1), run("y", 0.0), run("x", None, "transport_error", 2)]
    found = noise_of_executions(runs)
    assert (found.expected_abs_gain, found.tasks) == (1.0, 1)
    assert "differ by 1.00 on average (1 repeated task)" in found.sentence


def execution(task: str, repetition: int, success: float | None, condition: Condition = "skip") -> Execution:
    return Execution(Agent("a"), "s", task, condition, repetition, success)


def test_an_aa_difference_is_odd_runs_against_even_ones_of_the_same_condition() -> None:
    runs = [
        execution("t0", 0, 1), execution("t0", 1, 0),
        execution("t1", 0, 0), execution("t1", 1, 1),
        execution("t2", 0, 1), execution("t2", 1, 1),
        execution("t3", 0, 0), execution("t3", 1, 1),
    ]  # fmt: skip
    found = same_condition_difference(runs, "skip")
    assert (found.tasks, found.difference, found.flip_rate) == (4, 0.25, 0.75)


def test_tasks_run_once_ungraded_or_under_the_other_condition_do_not_count() -> None:
    runs = [execution("t0", 0, 1), execution("t1", 0, 1), execution("t1", 1, None), execution("t0", 1, 0, "use")]
    assert same_condition_difference(runs, "skip").flip_rate is None
