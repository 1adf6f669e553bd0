"""The help/harm list: every family with the tasks behind its numbers, and what the gate did with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Ints
from skilldelta.evaluation.results import FamilyCounts, PanelResult
from skilldelta.nouns import plural
from skilldelta.report.content import Cell, Column, Table
from skilldelta.report.numbers import cell, shorten, signed, words_cell

TEXT_WIDTH = 180
"""Characters of a task text that the list shows."""
ROW_BUDGET = 2_000
"""Tasks that a whole report lists, so that its size stays small however large the banks are."""


@dataclass(frozen=True, slots=True)
class FamilyList:
    """One family: its counts, the tasks that the skill helped or harmed, and how many are not listed."""

    label: str
    counts: FamilyCounts
    tasks: Table | None
    remark: str


def family_lists(panel: PanelResult, gate: str, *, per_kind: int) -> list[FamilyList]:
    """Families from the most harmed to the most helped; within one, harmed tasks first, then helped ones."""
    ordered = sorted(groups(panel), key=lambda group: (group.counts.gain, group.label))
    return [_family(panel, gate, group, per_kind) for group in ordered]


def tasks_per_kind(panels: Sequence[PanelResult]) -> int:
    """How many helped, and how many harmed, tasks of a family fit the report: between 1 and 12."""
    families = sum(len(panel.counts) for panel in panels)
    return max(1, min(12, ROW_BUDGET // max(1, 2 * families)))


def _family(panel: PanelResult, gate: str, group: FamilyRows, per_kind: int) -> FamilyList:
    gains = panel.support.gains[group.rows]
    harmed, helped = (_strongest(group.rows, gains, sign, per_kind) for sign in (-1, 1))
    listed = np.concatenate([harmed, helped])
    tasks = _table(panel, gate, listed) if len(listed) else None
    return FamilyList(group.label, group.counts, tasks, _remark(group.counts, len(harmed), len(helped)))


def _strongest(rows: Ints, gains: Floats, sign: int, limit: int) -> Ints:
    """The rows with the largest gain of one sign, in record order where equal."""
    of_sign = np.flatnonzero(sign * gains > 0)
    return rows[of_sign[np.argsort(-sign * gains[of_sign], kind="stable")][:limit]]


def _table(panel: PanelResult, gate: str, rows: Ints) -> Table:
    several_skills = panel.structure.tasks_with_several_skills > 0
    columns = [Column("Task", numeric=False), Column("Question", numeric=False)]
    columns += [Column("Skill", numeric=False)] if several_skills else []
    columns += [Column("Without"), Column("With"), Column("Predicted gain"), Column("The gate", numeric=False)]
    return Table(columns, [_task(panel, gate, int(row), several_skills) for row in rows])


def _task(panel: PanelResult, gate: str, row: int, several_skills: bool) -> list[Cell]:
    support = panel.support
    text = shorten(support.texts[row], TEXT_WIDTH) if support.texts else "(text not kept)"
    cells = [words_cell(str(support.task_ids[row])), words_cell(text)]
    cells += [words_cell(str(support.skills[row]))] if several_skills else []
    cells += [
        _success(float(support.y0[row]), int(support.r0[row])),
        _success(float(support.y1[row]), int(support.r1[row])),
    ]
    return [*cells, *_gate_cells(panel, gate, row)]


def _success(mean: float, repetitions: int) -> Cell:
    """How often a task was solved: `2 of 3` where outcomes are whole, else the mean."""
    solved = mean * repetitions
    if abs(solved - round(solved)) < 1e-9:
        return cell(f"{round(solved)} of {repetitions}", mean)
    return cell(f"{mean:.2f}", mean)


def _gate_cells(panel: PanelResult, gate: str, row: int) -> list[Cell]:
    policy = panel.policies.get(gate)
    if policy is None or row not in policy.rows:
        return [Cell("–"), Cell("–")]
    score = None if policy.scores is None else float(policy.scores[row])
    return [cell(signed(score, 2), score), _deed(bool(policy.actions[row]), float(panel.support.gains[row]))]


def _deed(used: bool, gain: float) -> Cell:
    if used:
        return words_cell("used: helped", "good") if gain > 0 else words_cell("used: harmed", "bad")
    return words_cell("skipped: help missed", "bad") if gain > 0 else words_cell("skipped: harm avoided", "good")


def _remark(counts: FamilyCounts, harmed: int, helped: int) -> str:
    if not harmed and not helped:
        return f"The skill changed nothing in {plural(counts.tie, 'pair')}."
    left_out = []
    if counts.harm > harmed:
        left_out.append(f"{counts.harm - harmed} more harmed")
    if counts.help > helped:
        left_out.append(f"{counts.help - helped} more helped")
    if counts.tie:
        left_out.append(f"{counts.tie} unchanged")
    return f"Not listed: {', '.join(left_out)}." if left_out else ""


LABEL_WIDTH = 60
NO_FAMILY = "no family recorded"


@dataclass(frozen=True, slots=True, eq=False)
class FamilyRows:
    """One family: its counts, its rows of the panel, its name in plots and lists."""

    counts: FamilyCounts
    rows: Ints
    label: str


def groups(panel: PanelResult) -> list[FamilyRows]:
    """Families in order of first appearance, as the evaluation counts them; rows without a family group by skill."""
    blocks = sorted(panel.support.blocks("family"), key=lambda block: int(block[0]))
    labels = distinct_labels([shorten(counts.family or NO_FAMILY, LABEL_WIDTH) for counts in panel.counts])
    return [FamilyRows(counts, block, label) for counts, block, label in zip(panel.counts, blocks, labels, strict=True)]


def distinct_labels(labels: Sequence[str]) -> list[str]:
    """Labels that shortening made equal get a number, so that they stay separate rows."""
    seen: dict[str, int] = {}
    distinct = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        distinct.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return distinct
