"""How far the gains of a study depend on its graders: the same replies in exact and in lenient mode.

Replies are in the transcripts of the collections. Where `--both-grades` noted the other grade it is taken; texts are graded
again here, which costs nothing. Code is not run again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders import MODAL_GRADERS, Grader, GraderTools, make_graders
from skilldelta.collect.graders.base import Graded, GradingMode, grading_mode
from skilldelta.collect.manifest import MANIFEST_FILE, read_manifest
from skilldelta.collect.suite import SUITE_FILE, Suite, SuiteTask, load_suite
from skilldelta.collect.transcript import TRANSCRIPT_FILE, read_rows
from skilldelta.paper.study_folder import StudyFolder
from skilldelta.paper.table import PANEL_COLUMNS, Cell, PaperTable, TableColumn
from skilldelta.records import CONDITIONS, Condition

_TEXT_GRADERS = ("short_answer", "clinical_value", "logic_answer")


@dataclass(slots=True)
class _Grades:
    """Both grades of the replies of one arm."""

    own: list[float] = field(default_factory=list)
    other: list[float] = field(default_factory=list)

    @property
    def differing(self) -> int:
        return sum(own != other for own, other in zip(self.own, self.other, strict=True))


def grader_table(study: StudyFolder) -> PaperTable:
    """Gains under the suite's own mode and under the other one, by agent and suite."""
    columns = (
        *PANEL_COLUMNS,
        TableColumn("mode"),
        TableColumn("replies", "count"),
        TableColumn("differ without", "count"),
        TableColumn("differ with", "count"),
        TableColumn("gain", "points"),
        TableColumn("gain in the other mode", "points"),
        TableColumn("difference", "points"),
    )
    rows = [
        row
        for folder in sorted((study.path / "suites").glob(f"*/{SUITE_FILE}"))
        for run in study.runs(folder.parent.name)
        for row in _rows_of(folder.parent, run)
    ]
    note = "gains are success with the skill minus without, over replies that both modes grade"
    return PaperTable("graders", "How far gains depend on the grader's mode", columns, tuple(rows), note)


def _rows_of(folder: Path, run: Path) -> list[tuple[Cell, ...]]:
    suite = load_suite(folder)
    agent = read_manifest(run / MANIFEST_FILE).agent.name
    mode = grading_mode(suite.tasks[0].grader, suite.name)
    other: GradingMode = "lenient" if mode == "exact" else "exact"
    arms = asyncio.run(_both_grades(suite, run / TRANSCRIPT_FILE, other))
    replies = sum(len(arm.own) for arm in arms.values())
    if not all(arm.own for arm in arms.values()):
        return []
    means = {name: (_mean(arm.own), _mean(arm.other)) for name, arm in arms.items()}
    gains = [means["use"][place] - means["skip"][place] for place in (0, 1)]
    differing = [arms[arm].differing for arm in CONDITIONS]
    return [(agent, suite.name, mode, replies, *differing, *gains, gains[1] - gains[0])]


async def _both_grades(suite: Suite, transcript: Path, other: GradingMode) -> dict[Condition, _Grades]:
    arms: dict[Condition, _Grades] = {condition: _Grades() for condition in CONDITIONS}
    tasks = {task.task_id: task for task in suite.tasks if task.grader["type"] in MODAL_GRADERS}
    graders = _other_graders(suite, other)
    # A later row of a sample replaces an earlier one: an error that was run again.
    rows = {str(row["sample"]): row for row in read_rows(transcript)}
    for row in rows.values():
        task, success = tasks.get(str(row.get("task_id"))), row.get("success")
        if task is None or success is None:
            continue
        grade = await _other_grade(row, task, graders, other)
        if grade is not None:
            arm = arms["use" if row["condition"] == "use" else "skip"]
            arm.own.append(float(success))
            arm.other.append(grade)
    return arms


async def _other_grade(
    row: Mapping[str, Any], task: SuiteTask, graders: Mapping[str, Grader], other: GradingMode
) -> float | None:
    noted = (row.get("other_grades") or {}).get(other)
    if noted is not None:
        return float(noted)
    if task.task_id not in graders:
        return None
    try:
        grade = await graders[task.task_id].grade(str(row.get("answer", "")), task, None)
    except GraderError:
        return None
    return grade.success if isinstance(grade, Graded) else grade


def _other_graders(suite: Suite, mode: GradingMode) -> dict[str, Grader]:
    """Graders of texts in the other mode; those of code are not made, since nothing is run here."""
    texts = [
        replace(task, grader={**{k: v for k, v in task.grader.items() if k != "strict"}, "mode": mode})
        for task in suite.tasks
        if task.grader["type"] in _TEXT_GRADERS
    ]
    return make_graders(replace(suite, tasks=tuple(texts)), GraderTools())


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
