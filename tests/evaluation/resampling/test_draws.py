from __future__ import annotations

import numpy as np
import pytest

from skilldelta.evaluation.resampling import draws
from skilldelta.evaluation.resampling.draws import Design, Inventory, count_draws
from skilldelta.support import Support


def _panel(task_ids: list[str], families: list[str], agent: str = "a") -> Support:
    n = len(task_ids)
    return Support.from_arrays(
        task_ids=task_ids, families=families, vectors=np.eye(n), y0=np.zeros(n), y1=np.ones(n), agent=agent
    )


def _all(design: Design, number: int, seed: int = 1) -> np.ndarray:
    return np.concatenate(list(count_draws(design, number, np.random.default_rng(seed))))


PANEL = _panel(["a", "b", "c", "a", "d"], ["f", "f", "g", "f", "g"])
INVENTORY = Inventory.of([PANEL])


def test_a_task_is_drawn_with_all_its_rows_and_as_often_as_there_are_tasks() -> None:
    counts = _all(Design.tasks(PANEL.task_ids, INVENTORY), 200)
    assert (counts[:, 0] == counts[:, 3]).all()
    assert (counts[:, [0, 1, 2, 4]].sum(axis=1) == 4).all()
    assert counts.mean() == pytest.approx(1.0, abs=0.1)


def test_drawing_within_families_keeps_their_sizes() -> None:
    counts = _all(Design.tasks_within_families(PANEL.task_ids, INVENTORY), 200)
    assert (counts[:, [0, 1]].sum(axis=1) == 2).all()  # tasks a and b
    assert (counts[:, [2, 4]].sum(axis=1) == 2).all()
    assert len(np.unique(counts, axis=0)) > 4


def test_a_family_is_drawn_whole() -> None:
    counts = _all(Design.families(PANEL.families, INVENTORY), 100)
    assert (counts[:, [0, 1, 3]] == counts[:, [0]]).all()
    assert (counts[:, 0] + counts[:, 2] == 2).all()


def test_groups_of_any_kind_are_drawn_whole() -> None:
    counts = _all(Design.groups(np.array(["x", "y", "x"])), 50)
    assert (counts[:, 0] == counts[:, 2]).all()
    assert (counts[:, 0] + counts[:, 1] == 2).all()


@pytest.mark.parametrize("within", [False, True])
def test_the_same_seed_gives_the_same_draws_in_any_chunks(within: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Design.tasks_within_families if within else Design.tasks
    whole = _all(make(PANEL.task_ids, INVENTORY), 60)
    monkeypatch.setattr(draws, "_CHUNK_CELLS", 35)
    assert (_all(make(PANEL.task_ids, INVENTORY), 60) == whole).all()
    assert len(next(iter(count_draws(make(PANEL.task_ids, INVENTORY), 60, np.random.default_rng(1))))) == 7


def test_agents_of_a_suite_see_the_same_draws_of_the_tasks_they_share() -> None:
    other = _panel(["d", "c", "b", "e"], ["g", "g", "f", "h"], agent="b")
    inventory = Inventory.of([PANEL, other])
    first = _all(Design.tasks(PANEL.task_ids, inventory), 80)
    second = _all(Design.tasks(other.task_ids, inventory), 80)
    for task in ("b", "c", "d"):
        column = np.flatnonzero(PANEL.task_ids == task)[0]
        other_column = np.flatnonzero(other.task_ids == task)[0]
        assert (first[:, column] == second[:, other_column]).all()
