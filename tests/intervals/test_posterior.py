"""The blend's own interval covers the expected gain of new tasks, on simulated panels where that is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from skilldelta.errors import InputError
from skilldelta.estimators.base import Target
from skilldelta.estimators.blend import Blend, FittedBlend
from skilldelta.intervals import Interval, Neighborhood, interval, posterior
from skilldelta.paper.simulation.simulated_panel import KINDS, Kind, SimulatedPanel, simulate_panel
from skilldelta.predictor import predict

NEW = 100


@dataclass(frozen=True)
class Covered:
    """How often intervals held the truth, and how long they were."""

    share: float
    width: float
    neighbors: float
    """Mean width of `exact` over six neighbors of the same tasks."""


def interval_of(blend: FittedBlend, panel: SimulatedPanel, row: int, *, skill: str = "") -> Interval:
    support = panel.support
    family = "" if skill else str(support.families[row])
    score = blend.score(Target(support.vectors[row], support.texts[row], family, skill or str(support.skills[row])))
    assert score.spread is not None
    found = posterior(score.gain, deviation=score.spread.deviation, freedom=score.spread.freedom)
    assert found.low <= score.gain <= found.high
    return found


def neighbor_width(panel: SimulatedPanel, known: np.ndarray, row: int) -> float:
    support = panel.support.rows(known[panel.support.families[known] == panel.support.families[row]])
    near = predict(panel.support.vectors[row], support.vectors, support.gains)
    if near.is_fallback:
        return 2.0
    at = near.rows
    found = interval(
        "exact", Neighborhood(near.weights, support.y0[at], support.y1[at], support.r0[at], support.r1[at])
    )
    return found.high - found.low


def covered(kind: Kind, tasks: int, panels: int, *, unseen: bool = False, seed: int = 0) -> Covered:
    """New tasks of the recorded families or, `unseen`, of a family without any record."""
    held, widths, others = [], [], []
    for i in range(panels):
        rng = np.random.default_rng([seed, tasks, i])
        panel = simulate_panel(rng, tasks=tasks + NEW, kind=kind)
        order = rng.permutation(tasks + NEW)
        is_new = panel.support.families == panel.support.families[order[0]] if unseen else order < NEW
        known, new = np.flatnonzero(~is_new)[:tasks], np.flatnonzero(is_new)[:NEW]
        blend = Blend().fit(panel.support.rows(known))
        found = [interval_of(blend, panel, row) for row in new]
        held += [one.low <= tau <= one.high for one, tau in zip(found, panel.tau[new], strict=True)]
        widths += [one.high - one.low for one in found]
        others += [] if unseen else [neighbor_width(panel, known, row) for row in new[::5]]
    return Covered(float(np.mean(held)), float(np.mean(widths)), float(np.mean(others)) if others else np.nan)


def test_the_interval_covers_what_it_promises_on_middling_panels() -> None:
    for kind in ("family_only", "mixed"):
        found = covered(kind, 200, panels=3)
        assert found.share >= 0.92
        assert found.width < 1.5


def test_tasks_of_unseen_families_have_longer_intervals_that_still_cover() -> None:
    same, unseen = covered("mixed", 200, panels=2), covered("mixed", 200, panels=4, unseen=True)
    assert unseen.share >= 0.92
    assert unseen.width > same.width


@pytest.mark.parametrize("kind", ["family_only", "mixed"])
def test_unlike_tasks_asked_under_a_recorded_skill_are_covered_by_intervals_of_new_families(kind: Kind) -> None:
    held, widths = [], []
    for seed in range(6):
        # Families far from each other, as real ones are: most of a vector says which family it is.
        panel = simulate_panel(np.random.default_rng(seed), tasks=320, kind=kind, local_share=0.2, smoothness=5.0)
        is_new = panel.support.families == panel.support.families[0]
        blend = Blend().fit(panel.support.rows(~is_new))
        skill = str(panel.support.skills[~is_new][0])
        for row in np.flatnonzero(is_new):
            found = interval_of(blend, panel, int(row), skill=skill)
            held.append(found.low <= panel.tau[row] <= found.high)
            widths.append(found.high - found.low)
    assert np.mean(held) >= 0.92
    assert np.mean(widths) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("tasks", "panels"), [(40, 30), (150, 15), (600, 6), (2000, 3)])
def test_the_interval_covers_in_panels_of_every_kind_and_size(kind: Kind, tasks: int, panels: int) -> None:
    found = covered(kind, tasks, panels)
    assert found.share >= 0.93
    assert found.width <= found.neighbors * (1.1 if tasks < 600 else 0.95)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("tasks", "panels"), [(40, 60), (150, 40), (600, 20)])
def test_the_interval_covers_tasks_of_unseen_families(kind: Kind, tasks: int, panels: int) -> None:
    found = covered(kind, tasks, panels, unseen=True)
    assert found.share >= 0.93


def test_the_interval_is_symmetric_within_the_possible_gains_and_grows_with_the_level() -> None:
    wide, narrow = (posterior(0.2, deviation=0.1, freedom=1e6, level=level) for level in (0.95, 0.5))
    assert (wide.low, wide.high) == pytest.approx((0.2 - 0.196, 0.2 + 0.196), abs=1e-3)
    assert narrow.high < wide.high
    assert posterior(0.9, deviation=0.5, freedom=5).high == 1.0
    assert posterior(0.0, deviation=0.1, freedom=4).high > 0.27  # few rows: a t distribution
    with pytest.raises(InputError, match="level must lie between 0 and 1"):
        posterior(0.0, deviation=0.1, freedom=5, level=1.5)
