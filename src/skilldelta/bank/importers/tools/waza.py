"""waza results: the runs of each task with the skill, and those of the baseline inside or in a file of their own.

A run's status counts graders of skill use and of triggers too, which grade the arm; where there are some the outcome is
taken from the others. A run with the status error has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.skill_beside import skill_beside
from skilldelta.bank.importers.tool_run import ArmMeaning, ToolFormat, ToolResults, ToolRun
from skilldelta.bank.importers.tools.arm_leaks import leak_note, leaks_the_arm
from skilldelta.bank.importers.tools.plain_values import (
    amount_of,
    first_of,
    object_of,
    objects_of,
    spent_of,
    sum_of,
    text_of,
)

ARMS: Mapping[str, ArmMeaning] = {"skill": "use", "baseline": "skip"}


def found(tree: ResultTree) -> str:
    """By the fields of an outcome."""
    for name, document in tree.documents():
        if _is_outcome(document):
            return f"{name} has the tasks and runs of a waza outcome"
    return ""


def read(tree: ResultTree, said: Defaults) -> ToolResults:
    """Every run of every outcome."""
    results = ToolResults([], ARMS)
    leaking = 0
    for name, document in tree.documents():
        if _is_outcome(document):
            arm = "baseline" if document.get("is_baseline") is True else "skill"
            leaking += _take(tree, name, document, arm, results)
            baseline = object_of(document.get("baseline_outcome"))
            if baseline:
                setup = object_of(baseline.get("config")) or document.get("config")
                merged = {**baseline, "skill": document.get("skill"), "config": setup}
                leaking += _take(tree, name, merged, "baseline", results)
    results.notes += leak_note(leaking)
    return results


def _take(tree: ResultTree, name: str, outcome: Mapping[str, Any], arm: str, results: ToolResults) -> int:
    config = object_of(outcome.get("config"))
    skill = text_of(outcome.get("skill"))
    text = skill_beside(tree, skill) if skill and arm == "skill" else None
    if text is not None:
        results.skills.append(text)
    leaking = 0
    for task in objects_of(outcome.get("tasks")):
        identity = text_of(task.get("test_id")) or text_of(task.get("display_name"))
        for position, row in enumerate(objects_of(task.get("runs"))):
            success, reason, is_leaking = _outcome(row)
            leaking += is_leaking
            digest = object_of(row.get("session_digest"))
            usage = object_of(row.get("usage")) or object_of(digest.get("usage"))
            milliseconds = spent_of(row.get("duration_ms"))
            number = amount_of(row.get("run_number"))
            results.runs.append(
                ToolRun(
                    identity,
                    arm,
                    success,
                    status="completed"
                    if success is not None
                    else "transport_error"
                    if "error" in reason
                    else "grader_error",
                    reason=reason,
                    repeat=position if number is None else max(int(number) - 1, 0),
                    text=_text(row) or text_of(task.get("display_name")),
                    family=text_of(task.get("group")),
                    suite=text_of(outcome.get("eval_name")) or skill,
                    skill=skill,
                    skill_digest=text.digest if text is not None else "",
                    agent=text_of(config.get("engine_type")),
                    model=text_of(config.get("model_id")),
                    tokens=sum_of(usage.get("input_tokens"), usage.get("output_tokens")),
                    seconds=milliseconds / 1000 if milliseconds else None,
                    place=f"{name}: {identity}, {arm}, run {position + 1}",
                )
            )
    return leaking


def _outcome(row: Mapping[str, Any]) -> tuple[float | None, str, bool]:
    status = text_of(row.get("status"))
    if status == "error":
        return None, "the run ended in an error", False
    if status not in ("passed", "failed"):
        return None, f"the run has the status {status or 'none'}", False
    graders = {name: object_of(one) for name, one in object_of(row.get("validations")).items()}
    fair = [one for name, one in graders.items() if not leaks_the_arm(text_of(one.get("type")) or name)]
    if len(fair) == len(graders):
        return float(status == "passed"), "", False
    marks = [one.get("passed") for one in fair]
    if not marks or not all(isinstance(mark, bool) for mark in marks):
        return None, "only the use of the skill was graded", True
    return float(all(marks)), "", True


def _text(row: Mapping[str, Any]) -> str:
    """What the user said first, where the transcript is in the file."""
    for event in objects_of(row.get("transcript")):
        if text_of(event.get("type")) in ("user.message", "user_message", "user"):
            data = object_of(event.get("data")) or event
            return text_of(first_of(data, "content", "message", "text"))
    return ""


def _is_outcome(document: Any) -> bool:
    fields = object_of(document)
    tasks = objects_of(fields.get("tasks"))
    return "config" in fields and bool(tasks) and "test_id" in tasks[0] and "runs" in tasks[0]


FORMAT = ToolFormat(
    name="waza",
    title="waza results",
    description="runs of each task with the skill and, from `waza run --baseline`, without it",
    looks_for="a JSON document with config and tasks[].test_id and runs",
    found=found,
    read=read,
)
