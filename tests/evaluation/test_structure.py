"""What panels are made of, and what unlike tasks risk."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.evaluation.results import FamilyCounts, Structure
from skilldelta.evaluation.structure import family_counts, of_panel, panel_familiarity, risk_coverage, structure_of
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.support import Support

PANEL = Support.from_arrays(
    task_ids=["a", "b", "c", "c", "d"],
    families=["late", "early", "late", "late", ""],
    skills=["p", "p", "p", "q", "p"],
    vectors=np.eye(5),
    y0=[0, 1, 1, 0.5, 1],
    y1=[1, 0, 1, 1, 1],
)


def test_help_harm_and_tie_are_counted_by_family_in_order_of_appearance() -> None:
    assert family_counts(PANEL) == (
        FamilyCounts("late", pairs=3, help=2, harm=0, tie=1, off=0.5, on=1.0, both_succeed=1),
        FamilyCounts("early", pairs=1, help=0, harm=1, tie=0, off=1.0, on=0.0),
        FamilyCounts("no family recorded (skill p)", pairs=1, help=0, harm=0, tie=1, off=1.0, on=1.0, both_succeed=1),
    )
    assert family_counts(PANEL)[0].gain == 0.5


def test_structure_counts_tasks_and_not_rows() -> None:
    assert structure_of(PANEL) == Structure(
        groups=3,
        median_group=1.0,
        smallest_group=1,
        largest_group=2,
        singletons=2,
        skills=2,
        families_with_several_skills=1,
        tasks_with_several_skills=1,
        edges=5,
        without_support=2,
        eligible_smallest=0,
        eligible_median=1.0,
        eligible_largest=2,
    )


def test_unlike_tasks_are_skipped_first_and_risk_is_what_the_others_lose() -> None:
    familiarity = np.array([0.01, 0.4, 0.6, 0.8])
    y0, y1 = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0, 1.0])
    always = np.ones(4, bool)  # loses the first and the third
    everything, less = risk_coverage(familiarity, always, y0, y1, shares=(0.0, 0.25))
    assert (everything.coverage, everything.familiarity, everything.risk, everything.success) == (1.0, None, 0.5, 0.5)
    assert (less.coverage, less.familiarity, less.success) == (0.75, 0.4, 0.75)
    assert less.risk == pytest.approx(1 / 3)


def test_tasks_of_unknown_familiarity_are_always_decided() -> None:
    (point,) = risk_coverage(np.array([np.nan, np.nan, 0.2, 0.3]), np.zeros(4), np.zeros(4), np.ones(4), shares=(0.25,))
    assert (point.coverage, point.familiarity) == (0.75, 0.3)


def test_a_panel_has_a_curve_where_its_families_are_large_enough(rng: np.random.Generator) -> None:
    panel = evaluate_panel(simulate_panel(rng, tasks=60, families=3).support, rng=rng, resamples=0)
    points = of_panel(panel)
    assert points[0].success == pytest.approx(panel.policies["blend"].success)
    assert [round(point.coverage, 2) for point in points] == [1.0, 1.0, 0.98, 0.95, 0.9, 0.8]
    small = evaluate_panel(simulate_panel(rng, tasks=6, families=3).support, rng=rng, resamples=0)
    assert of_panel(small) == ()
    assert np.isnan(panel_familiarity(small.support)).all()
