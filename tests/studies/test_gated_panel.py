"""A gated panel agrees with the evaluation, and a skill's part of it with a count by hand. The plane that its tasks are
drawn on is the same every time, places new tasks as it places recorded ones, and survives tasks that are all alike.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from skilldelta.arrays import Vectors, unit_rows
from skilldelta.bank import Bank
from skilldelta.errors import InputError
from skilldelta.studies import EvaluationSettings, evaluate, load_panel
from skilldelta.studies.gated_panel import PLANE_ROWS, TaskPlane, fixed_sample, gated_panel


def test_the_gate_is_worth_what_the_evaluation_says(bank: Bank) -> None:
    panel = load_panel(bank)
    (result,) = evaluate([panel], EvaluationSettings(resamples=0, shuffles=0)).results
    found, own = gated_panel(panel).rows, result.policies["blend"]
    assert found.value.success == pytest.approx(own.success)
    assert found.value.use_rate == pytest.approx(own.use_rate)
    assert found.value.token_saving == pytest.approx(own.token_saving)
    assert (found.value.off, found.value.on) == (result.off, result.on)
    assert (found.used == own.actions).all()


def test_a_skill_has_its_own_rows_families_sweep_and_plane(bank: Bank) -> None:
    gated = gated_panel(load_panel(bank))
    assert gated.skills == ["units-skill", "dates-skill"]
    units = gated.of_skill("units-skill")
    assert [(one.family, one.help, one.harm, one.tie) for one in units.families] == [("units", 3, 0, 1)]
    assert units.extra_tokens == 50.0
    assert units.sweep.success[0] == 1.0  # always on
    assert units.sweep.success[-1] == 0.25  # always off
    assert units.plane.places(units.support.vectors).shape == (4, 2)
    assert gated.of_skill("units-skill") is units


def test_a_task_is_judged_without_its_own_outcome(bank: Bank) -> None:
    """Turning a task's outcome around moves the scores of others, never its own."""
    panel = load_panel(bank)
    scores = gated_panel(panel).rows.scores
    support = panel.support
    turned = support.with_outcomes(np.where(np.arange(8) == 0, support.y1, support.y0), support.y1)
    again = gated_panel(replace(panel, support=turned)).rows.scores
    assert again[0] == pytest.approx(scores[0])


def test_an_unknown_skill_is_refused_with_the_nearest(bank: Bank) -> None:
    with pytest.raises(InputError, match="did you mean units-skill"):
        gated_panel(load_panel(bank)).of_skill("unit-skill")


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
