"""What a study leaves out, or grades differently from the record: excluded tasks with their reasons, and corrections.

A grader that misread an answer, or a test case that was wrong, changes what a run was worth, not that it ran. Executions
stay as they were recorded; corrections are a list beside them, and an evaluation flags every record that it corrects.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from skilldelta.errors import InputError, unknown_name
from skilldelta.pairing import is_counted, pair_executions
from skilldelta.records import Condition, Execution, Pair
from skilldelta.support import Support


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A task that is left out, and why."""

    task_id: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.task_id} ({self.reason})" if self.reason else self.task_id


def exclusions_in(support: Support, exclusions: Iterable[Exclusion]) -> tuple[Exclusion, ...]:
    """Those whose task the panel has."""
    present = set(support.task_ids.tolist())
    return tuple(exclusion for exclusion in exclusions if exclusion.task_id in present)


def without_excluded(support: Support, exclusions: Collection[Exclusion]) -> Support:
    """The panel without the excluded tasks; excluding every task is refused."""
    if not exclusions:
        return support
    is_kept = ~np.isin(support.task_ids, [exclusion.task_id for exclusion in exclusions])
    if not is_kept.any():
        raise InputError("every task is excluded; leave at least one")
    return support.rows(is_kept)


def check_exclusions(exclusions: Sequence[Exclusion], task_ids: Collection[str]) -> None:
    """Refuse a task that is excluded twice, or that nothing has: a mistyped name would exclude nothing in silence."""
    excluded: set[str] = set()
    for exclusion in exclusions:
        if exclusion.task_id in excluded:
            raise InputError(f"task {exclusion.task_id!r} is excluded twice; name it once")
        excluded.add(exclusion.task_id)
        if exclusion.task_id not in task_ids:
            raise unknown_name("task to exclude", exclusion.task_id, task_ids)


@dataclass(frozen=True, slots=True)
class Correction:
    """What one execution should have been graded; skill and repetition are needed where a task has several."""

    task_id: str
    condition: Condition
    success: float
    reason: str = ""
    skill: str | None = None
    repetition: int | None = None


@dataclass(frozen=True, slots=True)
class CorrectedRecord:
    """One flagged execution: what was recorded, and what it counts as."""

    task_id: str
    skill: str
    condition: Condition
    repetition: int
    original: float
    corrected: float
    reason: str

    def __str__(self) -> str:
        why = f", {self.reason}" if self.reason else ""
        return f"{self.task_id} ({self.condition}: {self.original:g} counts as {self.corrected:g}{why})"


@dataclass(frozen=True, slots=True, eq=False)
class CorrectedPanel:
    """A panel whose outcomes are the corrected ones, and every record that was."""

    support: Support
    records: tuple[CorrectedRecord, ...]


def corrected_panel(
    support: Support, pairs: Sequence[Pair], executions: Iterable[Execution], corrections: Sequence[Correction]
) -> CorrectedPanel:
    """Apply those corrections whose task is in the panel; `pairs` are the support's rows, `executions` their records."""
    present = set(support.task_ids.tolist())
    relevant = [correction for correction in corrections if correction.task_id in present]
    if not relevant:
        return CorrectedPanel(support, ())
    held = list(executions)
    places = [_place(correction, held) for correction in relevant]
    records = tuple(_record(correction, held[place]) for correction, place in zip(relevant, places, strict=True))
    for correction, place in zip(relevant, places, strict=True):
        held[place] = replace(held[place], success=correction.success)
    families = {(pair.suite, pair.task_id): pair.family for pair in pairs}
    corrected = {_key(pair): pair for pair in pair_executions(held, families=families).pairs}
    again = [corrected[_key(pair)] for pair in pairs]
    outcomes = np.array([pair.y0 for pair in again]), np.array([pair.y1 for pair in again])
    return CorrectedPanel(support.with_outcomes(*outcomes), records)


def check_corrections(corrections: Sequence[Correction], task_ids: Iterable[str]) -> None:
    """Refuse a correction of a task that nothing has, and two of the same record."""
    tasks, corrected = set(task_ids), set()
    for correction in corrections:
        if correction.task_id not in tasks:
            raise InputError(f"task {correction.task_id!r} of the corrections has no pair here; check its id")
        if not 0 <= correction.success <= 1:
            raise InputError(
                f"the corrected success of task {correction.task_id!r} must lie in [0, 1], got {correction.success:g}"
            )
        record = (correction.task_id, correction.condition, correction.skill, correction.repetition)
        if record in corrected:
            raise InputError(f"task {correction.task_id!r} ({correction.condition}) is corrected twice; keep one line")
        corrected.add(record)


def _place(correction: Correction, executions: Sequence[Execution]) -> int:
    places = [
        place
        for place, execution in enumerate(executions)
        if execution.task_id == correction.task_id
        and execution.condition == correction.condition
        and correction.skill in (None, execution.skill_id)
        and correction.repetition in (None, execution.repetition)
        and is_counted(execution)
    ]
    about = f"the correction of task {correction.task_id!r} ({correction.condition})"
    if not places:
        raise InputError(f"{about} fits no counted execution; check its condition, skill and repetition")
    if len(places) > 1:
        raise InputError(f"{about} fits {len(places)} executions; say which repetition, or which skill")
    return places[0]


def _record(correction: Correction, execution: Execution) -> CorrectedRecord:
    assert execution.success is not None
    where = execution.task_id, execution.skill_id, execution.condition, execution.repetition
    return CorrectedRecord(*where, execution.success, correction.success, correction.reason)


def _key(pair: Pair) -> tuple[str, str, str, str]:
    return (pair.suite, pair.task_id, pair.skill_id, pair.skill_digest)
