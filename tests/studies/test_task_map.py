"""A map of tasks is the same every time, places new tasks as it places recorded ones, and survives tasks that are all alike."""

from __future__ import annotations

import numpy as np

from skilldelta.arrays import Vectors, unit_rows
from skilldelta.studies.task_map import PLANE_ROWS, TaskPlane, fixed_sample


def test_the_plane_shows_the_two_directions_in_which_tasks_differ_most(rng: np.random.Generator) -> None:
    vectors = _along_two_directions(rng)
    plane = TaskPlane.of(vectors)
    assert sum(plane.shares) > 0.99
    assert plane.shares[0] > plane.shares[1]
    assert plane.places(vectors).var(axis=0)[0] > plane.places(vectors).var(axis=0)[1]


def test_the_same_tasks_give_the_same_plane_in_any_order(rng: np.random.Generator) -> None:
    vectors = _along_two_directions(rng)
    shuffled = vectors[rng.permutation(len(vectors))]
    assert np.allclose(TaskPlane.of(vectors).axes, TaskPlane.of(shuffled).axes, atol=1e-5)


def test_a_task_that_is_asked_stands_where_its_record_stands(rng: np.random.Generator) -> None:
    vectors = _along_two_directions(rng)
    plane = TaskPlane.of(vectors)
    assert np.allclose(plane.places(vectors[3:4])[0], plane.places(vectors)[3])


def test_tasks_that_do_not_differ_stand_on_one_point() -> None:
    for rows in (1, 5):
        plane = TaskPlane.of(unit_rows([[1.0, 2.0, 3.0]] * rows))
        assert plane.shares == (0.0, 0.0)
        assert np.allclose(plane.places(unit_rows([[1.0, 2.0, 3.0]] * rows)), 0.0)


def test_two_tasks_differ_in_one_direction() -> None:
    plane = TaskPlane.of(unit_rows([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]))
    assert np.allclose(plane.shares, (1.0, 0.0))
    assert np.allclose(plane.axes[1], 0.0)


def test_a_sample_keeps_the_order_and_does_not_change() -> None:
    assert fixed_sample(3, 5).tolist() == [0, 1, 2]
    drawn = fixed_sample(10 * PLANE_ROWS, 50)
    assert drawn.tolist() == sorted(set(drawn.tolist()))
    assert drawn.tolist() == fixed_sample(10 * PLANE_ROWS, 50).tolist()


def _along_two_directions(rng: np.random.Generator) -> Vectors:
    angles = rng.normal(size=(60, 2)) * (0.2, 0.08)
    flat = np.column_stack([np.ones(60), angles, rng.normal(scale=0.001, size=(60, 5))])
    return unit_rows(flat)
