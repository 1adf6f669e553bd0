"""A recorded task of a small family is scored from all others: its departures see everything but its own outcome."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from skilldelta.estimators.base import Target
from skilldelta.estimators.stack import Stack
from skilldelta.estimators.stack.components import COMPONENTS, cross_fit
from skilldelta.estimators.stack.group import Seen, prepare
from skilldelta.estimators.stack.stack_panel import StackPanel
from skilldelta.estimators.stack.views import Lens
from skilldelta.estimators.stack.weights import Trust
from skilldelta.estimators.stack.without_task import departures_without_task
from skilldelta.evaluation.simulation.simulated_panel import simulate_panel
from skilldelta.support import Support


@pytest.fixture
def small() -> Support:
    return simulate_panel(np.random.default_rng(0), tasks=60, families=4, kind="mixed").support


def test_departures_of_a_task_are_those_of_a_group_without_it(small: Support) -> None:
    lens, views = Lens.learn(small)
    panel = StackPanel.of(small, views)
    found = departures_without_task(panel, cross_fit(panel, nested=False).plain)
    vectors = [c for c, name in enumerate(COMPONENTS) if name.startswith(("nearest", "vector"))]
    for row in (0, 17, 59):
        others = small.rows(np.arange(60) != row)
        everything = Trust(np.ones(len(COMPONENTS)), belief=1.0)
        group = prepare(StackPanel.of(others, lens.views(others)), (small.families[row], small.skills[row]), everything)
        alone = group.departures(Seen(Target(small.vectors[row], small.texts[row]), lens))
        # The penalty of a line is set by all features of the family, which no outcome reaches.
        assert found[row, vectors] == pytest.approx([alone[c] for c in vectors], abs=0.02)


def test_flipping_an_outcome_moves_its_own_departures_nowhere(small: Support) -> None:
    _, views = Lens.learn(small)

    def departures_of(support: Support) -> np.ndarray:
        panel = StackPanel.of(support, views)
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
    found = Stack().leave_one_out(support).values
    assert (found > 0.3).all()
    assert found == pytest.approx(np.full(n, found[0]), abs=0.05)
    assert Stack().fit(support).score(Target(np.ones(40, np.float32), text, "f0", "s")).gain > 0.3
