"""Vally results: one trial per line of `results.jsonl`, below a folder per variant.

The outcome is the grade's score, or with the score `passed` its verdict. A trial that did not end well has none: a judge
that ran out of time is no loss. Lines that are no trials, such as the summary at the end, are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.tool_run import ToolFormat, ToolResults, ToolRun
from skilldelta.bank.importers.tools.arm_leaks import leak_note, leaks_the_arm
from skilldelta.bank.importers.tools.plain_values import (
    amount_of,
    first_of,
    object_of,
    objects_of,
    share_of,
    spent_of,
    sum_of,
    text_of,
)
from skilldelta.bank.importers.vocabulary import condition_of
from skilldelta.errors import InputError

SCORES = ("score", "passed")
_TRIAL = "trial-result"
_WELL = frozenset(("success", "completed", "passed", "failed", "ok", ""))
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d")


def found(tree: ResultTree) -> str:
    """By a line of the type trial-result."""
    for name in _files(tree)[:200]:
        if _is_trial(tree.first_row(name)):
            return f"{name} has a trial-result per line"
    return ""


def read(tree: ResultTree, said: Defaults) -> ToolResults:
    """Every trial of every file."""
    if said.score and said.score not in SCORES:
        raise InputError(f"{tree.root}: the score is one of {', '.join(SCORES)}, got {said.score!r}")
    results = ToolResults([])
    rows = [(name, number, row) for name in _files(tree) for number, row in tree.json_lines(name) if _is_trial(row)]
    variants = {text_of(row.get("variant")) for _, _, row in rows}
    by_variant = "" not in variants and (len(variants) > 1 or len({name for name, _, _ in rows}) == 1)
    leaking = 0
    for name, number, row in rows:
        run, is_leaking = _run(f"{name}:{number}", row, said.score)
        leaking += is_leaking
        results.runs.append(run._replace(arm=text_of(row.get("variant")) if by_variant else _folder(tree, name)))
    results.notes += leak_note(leaking)
    return results


def _run(place: str, row: Mapping[str, Any], score: str) -> tuple[ToolRun, bool]:
    trajectory = object_of(row.get("trajectory"))
    metrics = object_of(trajectory.get("metrics"))
    stimulus = object_of(row.get("stimulus")) or object_of(trajectory.get("stimulus"))
    grade = object_of(row.get("gradeResult"))
    outcome, reason, is_leaking = _outcome(row, grade, score)
    usage = object_of(metrics.get("tokenUsage"))
    milliseconds = spent_of(row.get("durationMs")) or spent_of(metrics.get("wallTimeMs"))
    task = text_of(row.get("stimulus")) or text_of(first_of(row, "stimulusName")) or text_of(grade.get("stimulusName"))
    run = ToolRun(
        task or text_of(stimulus.get("name")) or text_of(row.get("itemId")),
        "",
        outcome,
        status="completed" if outcome is not None else "transport_error" if "ended" in reason else "grader_error",
        reason=reason,
        repeat=_trial_index(row),
        text=text_of(first_of(stimulus, "prompt", "text", "input")),
        suite=text_of(row.get("evalName")),
        model=text_of(row.get("model")) or text_of(trajectory.get("model")),
        tokens=spent_of(first_of(usage, "totalTokens", "total"))
        or sum_of(first_of(usage, "inputTokens", "input"), first_of(usage, "outputTokens", "output")),
        seconds=milliseconds / 1000 if milliseconds else None,
        place=place,
    )
    return run, is_leaking


def _outcome(row: Mapping[str, Any], grade: Mapping[str, Any], score: str) -> tuple[float | None, str, bool]:
    status = text_of(row.get("status")).lower()
    if status not in _WELL or row.get("error"):
        return None, f"the trial ended with the status {status or 'error'}", False
    details = objects_of(grade.get("details"))
    fair = [one for one in details if not leaks_the_arm(text_of(first_of(one, "kind", "type", "name")))]
    field = "passed" if score == "passed" else "score"
    if len(fair) < len(details):
        values = [share_of(one.get(field)) for one in fair]
        known = [value for value in values if value is not None]
        if not known or len(known) < len(values):
            return None, "only the use of the skill was graded", True
        return (float(all(known)) if field == "passed" else sum(known) / len(known)), "", True
    outcome = share_of(grade.get(field))
    if outcome is None and field == "score":
        outcome = share_of(grade.get("passed"))
    return outcome, "" if outcome is not None else "the trial is not graded", False


def _trial_index(row: Mapping[str, Any]) -> int | None:
    """Which trial: as recorded, or the number at the end of the shard's key."""
    index = amount_of(row.get("trialIndex"))
    if index is not None:
        return int(index)
    number = re.search(r"(\d{1,6})$", text_of(row.get("shardKey")))
    return int(number[1]) if number else None


def _folder(tree: ResultTree, name: str) -> str:
    """The folder that names an arm, nearest to the file; else the nearest that is no time of day."""
    folders = [*tree.root.absolute().parts[-2:], *name.split("/")[:-1]]
    named = [one for one in reversed(folders) if not _TIMESTAMP.match(one)]
    return next((one for one in named if condition_of(one)), named[0] if named else name)


def _files(tree: ResultTree) -> list[str]:
    return [name for name in tree.names if name.endswith(".jsonl") or tree.is_file]


def _is_trial(row: Any) -> bool:
    fields = object_of(row)
    return fields.get("type") == _TRIAL or ("gradeResult" in fields and "trajectory" in fields)


FORMAT = ToolFormat(
    name="vally",
    title="Vally results",
    description="trials of stimuli, one per line, with a folder or a field for the variant that was run",
    looks_for='results.jsonl with lines of "type": "trial-result"',
    found=found,
    read=read,
)
