"""The help/harm list: the right tasks, cut to size, with what is not listed said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skilldelta.evaluation.results import PanelResult
from skilldelta.report.figures.help_harm import distinct_labels, family_lists, groups, tasks_per_kind
from skilldelta.support import Support

from .toy_panel import panel_of, support_of


def test_the_most_harmed_family_comes_first_with_its_tasks(panel: PanelResult) -> None:
    names, sums = family_lists(panel, "paper", per_kind=12)
    assert (names.label, sums.label) == ("names", "sums")
    assert names.tasks is not None
    assert [row[0].text for row in names.tasks.rows] == ["name/1", "name/3"]
    assert names.tasks.rows[0][-1].text == "skipped: harm avoided"
    assert sums.tasks is not None
    assert [row[-1].text for row in sums.tasks.rows] == ["used: helped"] * 3


def test_what_is_not_listed_is_counted(panel: PanelResult) -> None:
    names, sums = family_lists(panel, "paper", per_kind=1)
    assert names.remark == "Not listed: 1 more harmed, 2 unchanged."
    assert sums.remark == "Not listed: 2 more helped, 1 unchanged."


def test_means_of_repetitions_are_counts_only_where_they_are_none_or_all(panel: PanelResult) -> None:
    repeated = replace(support_of(), r0=np.full(8, 3), r1=np.full(8, 3), y0=np.full(8, 1 / 3), y1=np.ones(8))
    first = family_lists(panel_of(repeated, resamples=0), "paper", per_kind=1)[0]
    assert first.tasks is not None
    assert [cell.text for cell in first.tasks.rows[0][2:4]] == ["0.33", "3 of 3"]


def test_rows_without_a_family_are_grouped_by_their_skill() -> None:
    support = support_of()
    bare = Support.from_arrays(
        task_ids=support.task_ids, vectors=support.vectors, y0=support.y0, y1=support.y1, skills=support.skills
    )
    labels = [group.label for group in groups(panel_of(bare, resamples=0))]
    assert labels == ["no family recorded (skill arithmetic)", "no family recorded (skill naming)"]


def test_labels_that_became_equal_are_told_apart() -> None:
    assert distinct_labels(["a", "b", "a", "a"]) == ["a", "b", "a (2)", "a (3)"]


def test_the_list_keeps_to_its_budget_however_many_panels_there_are(panel: PanelResult) -> None:
    assert tasks_per_kind([panel]) == 12
    assert tasks_per_kind([panel] * 1_000) == 1
