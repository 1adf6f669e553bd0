from __future__ import annotations

from skilldelta.collect.noise import noise_floor
from skilldelta.records import Agent, Condition, Execution


def execution(task: str, repetition: int, success: float | None, condition: Condition = "skip") -> Execution:
    return Execution(Agent("a"), "s", task, condition, repetition, success)


def test_the_noise_floor_is_odd_runs_against_even_ones_of_the_same_condition() -> None:
    runs = [
        execution("t0", 0, 1), execution("t0", 1, 0),
        execution("t1", 0, 0), execution("t1", 1, 1),
        execution("t2", 0, 1), execution("t2", 1, 1),
        execution("t3", 0, 0), execution("t3", 1, 1),
    ]  # fmt: skip
    floor = noise_floor(runs, "skip")
    assert (floor.tasks, floor.difference, floor.flip_rate) == (4, 0.25, 0.75)


def test_tasks_run_once_ungraded_or_under_the_other_condition_do_not_count() -> None:
    runs = [execution("t0", 0, 1), execution("t1", 0, 1), execution("t1", 1, None), execution("t0", 1, 0, "use")]
    assert noise_floor(runs, "skip").flip_rate is None
