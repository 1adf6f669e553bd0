"""The table of prospective panels: predictions that were sealed before their outcomes existed, and what they were worth.

A study's folder keeps one line per audited panel. Panels of one suite and agent form a chain: a pilot, a follow-up, the
remaining population. From the second on they are sequential, because their makers knew the outcomes of the earlier ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilldelta.collect.suite import SuiteTask
from skilldelta.errors import InputError
from skilldelta.evaluation.prospective.auditing import AuditResult
from skilldelta.files import json_document, json_lines, write_text
from skilldelta.paper.study_folder import KnownAndHeldOut, StudyFolder
from skilldelta.paper.suites.authors_protocol import logicbench_panels, medcalc_split
from skilldelta.paper.table import PaperTable, TableColumn

PUBLISHED = "published"
_FIGURES = ("auroc", "balanced_accuracy", "success_gain", "token_saving")


@dataclass(frozen=True, slots=True)
class PanelSplit:
    """Which tasks a prospective panel knows and which it predicts, under a name."""

    name: str
    parts: KnownAndHeldOut


def read_split(source: str, suite: str, tasks: Sequence[SuiteTask]) -> PanelSplit:
    """A split from a JSON file with `known`, `target` and maybe `name`; or the one that the authors' rules publish."""
    ids = {task.task_id for task in tasks}
    if source == PUBLISHED:
        support_ids, target = _published(suite, tasks)
        return PanelSplit(PUBLISHED, KnownAndHeldOut(tuple(support_ids), tuple(target)))
    document = json_document(Path(source))
    parts = [document.get(name) for name in ("known", "target")]
    if not all(isinstance(part, list) and part and all(isinstance(name, str) for name in part) for part in parts):
        raise InputError(f"{source}: expected lists of task ids under known and target")
    support_ids, target = (list[str](part or ()) for part in parts)
    for name in (*support_ids, *target):
        if name not in ids:
            raise InputError(f"{source}: the suite {suite} has no task {name!r}")
    if both := set(support_ids) & set(target):
        raise InputError(f"{source}: the task {min(both)!r} is both known and a target")
    return PanelSplit(
        str(document.get("name") or Path(source).stem), KnownAndHeldOut(tuple(support_ids), tuple(target))
    )


def _published(suite: str, tasks: Sequence[SuiteTask]) -> tuple[list[str], list[str]]:
    if suite == "medcalc":
        return medcalc_split(tasks)
    if suite == "logicbench":
        panels = logicbench_panels(tasks)
        return panels["pilot"] + panels["development"], panels["audit"]
    raise InputError(
        f"the split of {suite} is not published; MedCalc-Bench's and LogicBench's are, and a file can be given for others"
    )


def record_panel(study: StudyFolder, suite: str, agent: str, name: str, result: AuditResult) -> None:
    """Keep what an audited panel came to; the same panel audited again replaces its line."""
    rows = _recorded(study)
    key = {"suite": suite, "agent": agent, "panel": name}
    others = [row for row in rows if {field: row[field] for field in key} != key]
    earlier = [row for row in others if (row["suite"], row["agent"]) == (suite, agent)]
    is_sequential = next((row["sequential"] for row in rows if row not in others), bool(earlier))
    row = {**key, "known": result.known, "target": result.evaluated, "sequential": is_sequential}
    row |= {name: getattr(result, name) for name in _FIGURES}
    write_text(study.prospective, "".join(json.dumps(line) + "\n" for line in [*others, row]))


def prospective_table(study: StudyFolder) -> PaperTable:
    """All audited panels of a study, in the order in which they were made."""
    columns = (
        *(TableColumn(name) for name in ("suite", "agent", "panel", "made")),
        TableColumn("known", "count"),
        TableColumn("target", "count"),
        TableColumn("AUROC", "ratio"),
        TableColumn("balanced accuracy", "ratio"),
        TableColumn("success gain", "points"),
        TableColumn("tokens saved", "percent"),
    )
    rows = [
        (
            *(row[name] for name in ("suite", "agent", "panel")),
            "sequential" if row["sequential"] else "first",
            *(row[name] for name in ("known", "target", *_FIGURES)),
        )
        for row in _recorded(study)
    ]
    note = "predictions were sealed before the targets ran; a sequential panel was made with earlier outcomes known"
    return PaperTable("prospective", "Prospective panels", columns, tuple(rows), note)


def _recorded(study: StudyFolder) -> list[Mapping[str, Any]]:
    return [row for _, row in json_lines(study.prospective)] if study.prospective.is_file() else []
