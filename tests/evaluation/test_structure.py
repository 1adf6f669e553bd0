from __future__ import annotations

import numpy as np

from skilldelta.evaluation.results import FamilyCounts, Structure
from skilldelta.evaluation.structure import family_counts, structure_of
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
