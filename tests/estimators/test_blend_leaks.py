"""No way for a task's own outcome into its own score: every row of a panel of everything, one by one."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.estimators.base import Target
from skilldelta.estimators.blend import Blend
from skilldelta.estimators.blend.blend import stepped
from skilldelta.evaluation.metrics import auroc
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.support import Support

from .panels import random_panel


def flipped(support: Support, row: int) -> Support:
    """The outcomes of a row's task turned around, under every skill."""
    own = support.task_ids == support.task_ids[row]
    return support.with_outcomes(np.where(own, 1 - support.y0, support.y0), np.where(own, 1 - support.y1, support.y1))


def recorded(support: Support, row: int) -> Target:
    return Target(
        support.vectors[row],
        support.texts[row],
        str(support.families[row]),
        str(support.skills[row]),
        str(support.task_ids[row]),
    )


def test_no_rows_own_outcome_moves_its_score(rng: np.random.Generator) -> None:
    support = random_panel(rng)  # with singletons, a task under two skills, repetitions
    before = Blend().leave_one_out(support)
    for row in range(0, len(support), 3):
        after = Blend().leave_one_out(flipped(support, row))
        own = support.task_ids == support.task_ids[row]
        assert (after.values[own] == before.values[own]).all()
        assert after.threshold == before.threshold == 0


def test_the_last_task_of_a_family_is_scored_like_one_of_a_new_family(rng: np.random.Generator) -> None:
    support = random_panel(rng, repeated=False)
    alone = int(np.flatnonzero(support.families == "alone")[0])
    before = Blend().leave_one_out(support).values
    assert before[alone] == Blend().leave_one_out(flipped(support, alone)).values[alone]
    assert abs(before[alone]) < 0.3


@pytest.mark.parametrize("tasks", [120, 450])
def test_a_recorded_task_asked_about_by_name_is_scored_without_its_outcome(tasks: int) -> None:
    support = simulate_panel(np.random.default_rng(3), tasks=tasks, families=4, kind="mixed").support
    for row in (0, tasks // 2):
        one = Blend().fit(support).score(recorded(support, row))
        assert one == Blend().fit(flipped(support, row)).score(recorded(support, row))


def test_where_nothing_local_is_known_the_tasks_of_a_large_family_tie() -> None:
    levels = np.array([0.301, 0.299, 0.3])
    rows = np.array([250, 250, 250])
    weak, strong = stepped(levels, rows, np.zeros(3)), stepped(levels, rows, np.full(3, 0.2))
    assert len(set(weak.tolist())) == 1
    assert (strong == levels).all()
    assert (stepped(levels, np.array([20, 20, 20]), np.zeros(3)) == levels).all()
    assert (np.sign(stepped(np.array([0.001, -0.001]), np.array([250, 250]), np.zeros(2))) == [1, -1]).all()


def test_gains_shuffled_within_families_cannot_be_ranked_within_them() -> None:
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        support = simulate_panel(rng, tasks=1200, families=6, kind="family_only").support
        order = np.arange(len(support))
        for block in support.blocks("family"):
            order[block] = rng.permutation(block)
        shuffled = support.with_outcomes(support.y0[order], support.y1[order])
        scores = Blend().leave_one_out(shuffled).values
        found += [auroc(scores[block], shuffled.gains[block] > 0) for block in support.blocks("family")]
    assert np.mean([value for value in found if value is not None]) == pytest.approx(0.5, abs=0.03)


def test_without_evidence_the_gain_is_zero(rng: np.random.Generator) -> None:
    support = random_panel(rng)
    empty = support.rows(np.zeros(len(support), bool))
    assert Blend().fit(empty).score(recorded(support, 0)).gain == 0
    assert len(Blend().leave_one_out(empty).values) == 0
    assert Blend().fit(empty).grown(support).score(recorded(support, 0)).components
