"""Vally results: one trial per line of `results.jsonl`, below a folder per variant.

The outcome is the grade's score, or with the score `passed` its verdict. A trial that did not end well has none: a judge
that ran out of time is no loss. Lines that are no trials, such as the summary at the end, are passed over.
"""

from __future__ import annotations

import re

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.tool_run import RunVerdict, ToolFormat, ToolResults, ToolRun, failed, graded
from skilldelta.bank.importers.tools.arm_leaks import leak_note, leaks_the_arm
from skilldelta.bank.importers.tools.plain_values import JsonFields, check_score, sum_of
from skilldelta.bank.importers.vocabulary import condition_of

SCORES = ("score", "passed")
_TRIAL = "trial-result"
_WELL = frozenset(("success", "completed", "passed", "failed", "ok", ""))
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d")


def found(tree: ResultTree) -> str:
    """By a line of the type trial-result."""
    for name in _files(tree)[:200]:
        if _is_trial(JsonFields(tree.first_row(name))):
            return f"{name} has a trial-result per line"
    return ""


def read(tree: ResultTree, defaults: Defaults) -> ToolResults:
    """Every trial of every file."""
    check_score(tree, defaults, SCORES)
    results = ToolResults([])
    lines = [(name, number, JsonFields(row)) for name in _files(tree) for number, row in tree.json_lines(name)]
    trials = [line for line in lines if _is_trial(line[2])]
    variants = {row.text("variant") for _, _, row in trials}
    by_variant = "" not in variants and (len(variants) > 1 or len({name for name, _, _ in trials}) == 1)
    leaking = 0
    for name, number, row in trials:
        trajectory, grade = row.inner("trajectory"), row.inner("gradeResult")
        metrics = trajectory.inner("metrics")
        usage = metrics.inner("tokenUsage")
        stimulus = row.inner("stimulus") or trajectory.inner("stimulus")
        task = row.text("stimulus") or row.text("stimulusName") or grade.text("stimulusName")
        verdict, is_leaking = _verdict(row, grade, "passed" if defaults.score == "passed" else "score")
        leaking += is_leaking
        results.runs.append(
            ToolRun(
                task or stimulus.text("name") or row.text("itemId"),
                row.text("variant") if by_variant else _folder(tree, name),
                *verdict,
                repeat=_trial_index(row),
                text=stimulus.text("prompt", "text", "input"),
                suite=row.text("evalName"),
                model=row.text("model") or trajectory.text("model"),
                tokens=usage.spent("totalTokens", "total")
                or sum_of(usage.get("inputTokens", "input"), usage.get("outputTokens", "output")),
                seconds=row.seconds("durationMs") or metrics.seconds("wallTimeMs"),
                place=f"{name}:{number}",
            )
        )
    results.notes += leak_note(leaking)
    return results


def _verdict(row: JsonFields, grade: JsonFields, score: str) -> tuple[RunVerdict, bool]:
    """What a trial came to, and whether a grader of skill use was left out."""
    status = row.text("status").lower()
    if status not in _WELL or row.get("error"):
        return failed(f"the trial ended with the status {status or 'error'}"), False
    details = grade.rows("details")
    fair = [detail for detail in details if not leaks_the_arm(detail.text("kind", "type", "name"))]
    if len(fair) < len(details):
        values = [detail.share(score) for detail in fair]
        present = [value for value in values if value is not None]
        if not present or len(present) < len(values):
            return graded(None, "only the use of the skill was graded"), True
        return RunVerdict(float(all(present)) if score == "passed" else sum(present) / len(present)), True
    outcome = grade.share(score)
    if outcome is None and score == "score":
        outcome = grade.share("passed")
    return graded(outcome, "the trial is not graded"), False


def _trial_index(row: JsonFields) -> int | None:
    """Which trial: as recorded, or the number at the end of the shard's key."""
    index = row.amount("trialIndex")
    if index is not None:
        return int(index)
    number = re.search(r"(\d{1,6})$", row.text("shardKey"))
    return int(number[1]) if number else None


def _folder(tree: ResultTree, name: str) -> str:
    """The folder that names an arm, nearest to the file; else the nearest that is no time of day."""
    folders = [*tree.root.absolute().parts[-2:], *name.split("/")[:-1]]
    names = [folder for folder in reversed(folders) if not _TIMESTAMP.match(folder)]
    return next((folder for folder in names if condition_of(folder)), names[0] if names else name)


def _files(tree: ResultTree) -> list[str]:
    return [name for name in tree.names if name.endswith(".jsonl") or tree.is_file]


def _is_trial(fields: JsonFields) -> bool:
    return fields.get("type") == _TRIAL or ("gradeResult" in fields and "trajectory" in fields)


FORMAT = ToolFormat(
    name="vally",
    title="Vally results",
    description="trials of stimuli, one per line, with a folder or a field for the variant that was run",
    looks_for='results.jsonl with lines of "type": "trial-result"',
    found=found,
    read=read,
)
