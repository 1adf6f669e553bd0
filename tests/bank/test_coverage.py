"""The structure of a panel: group sizes, groups of one task, bundles and edges."""

from __future__ import annotations

from skilldelta.bank.coverage import Coverage, coverage_of
from skilldelta.records import Agent, Pair


def pair(task_id: str, family: str, skill_id: str) -> Pair:
    return Pair(Agent("a"), "s", task_id, family, skill_id, "", y0=0.0, y1=1.0, r0=1, r1=1)


def test_groups_singletons_bundles_and_edges_are_counted() -> None:
    found = coverage_of(
        [
            pair("t1", "plots", "numpy+pandas"),
            pair("t2", "plots", "pandas+re+json"),
            pair("t3", "plots", "numpy+pandas"),
            pair("t4", "dates", "dates"),
            pair("t5", "", "lonely"),
            pair("t4", "dates", "other-dates"),
        ]
    )
    assert (found.groups, found.smallest, found.median, found.largest) == (3, 1, 1.0, 3)
    assert (found.singletons, found.supported) == (2, 1)
    assert (found.skills, found.bundles, found.edges) == (5, 2, 10)


def test_no_pairs_have_no_groups() -> None:
    assert coverage_of([]) == Coverage()
