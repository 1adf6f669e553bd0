"""waza results: the runs of each task with the skill, and those of the baseline inside or in a file of their own.

A run's status counts graders of skill use and of triggers too, which grade the arm; where there are some the outcome is
taken from the others. A run with the status error has none.
"""

from __future__ import annotations

from collections.abc import Mapping

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.skill_text import SkillTexts
from skilldelta.bank.importers.tool_run import ArmMeaning, RunVerdict, ToolFormat, ToolResults, ToolRun, failed, graded
from skilldelta.bank.importers.tools.arm_leaks import all_passed, leak_note, leaks_the_arm
from skilldelta.bank.importers.tools.plain_values import JsonFields, documents_where, found_where

ARMS: Mapping[str, ArmMeaning] = {"skill": "use", "baseline": "skip"}


def found(tree: ResultTree) -> str:
    """By the fields of an outcome."""
    return found_where(tree, _is_outcome, "has the tasks and runs of a waza outcome")


def read(tree: ResultTree, defaults: Defaults) -> ToolResults:
    """Every run of every outcome."""
    results = ToolResults([], ARMS)
    skills = SkillTexts(tree, results.skills)
    leaking = 0
    for name, outcome in documents_where(tree, _is_outcome):
        arm = "baseline" if outcome.get("is_baseline") is True else "skill"
        leaking += _take(name, outcome, arm, skills, results)
        baseline = outcome.inner("baseline_outcome")
        if baseline:
            setup = baseline.inner("config") or outcome.inner("config")
            merged = {**baseline.raw, "skill": outcome.get("skill"), "config": setup.raw}
            leaking += _take(name, JsonFields(merged), "baseline", skills, results)
    results.notes += leak_note(leaking)
    return results


def _take(name: str, outcome: JsonFields, arm: str, skills: SkillTexts, results: ToolResults) -> int:
    """The runs of one arm; returns in how many of them a grader was left out."""
    config, skill = outcome.inner("config"), outcome.text("skill")
    leaking = 0
    for task in outcome.rows("tasks"):
        identity = task.text("test_id") or task.text("display_name")
        for position, row in enumerate(task.rows("runs")):
            verdict, is_leaking = _verdict(row)
            leaking += is_leaking
            usage = row.inner("usage") or row.inner("session_digest").inner("usage")
            number = row.amount("run_number")
            results.runs.append(
                ToolRun(
                    identity,
                    arm,
                    *verdict,
                    repeat=position if number is None else max(int(number) - 1, 0),
                    text=_text(row) or task.text("display_name"),
                    family=task.text("group"),
                    suite=outcome.text("eval_name") or skill,
                    skill=skill,
                    skill_digest=skills.digest(skill),
                    agent=config.text("engine_type"),
                    model=config.text("model_id"),
                    tokens=usage.total("input_tokens", "output_tokens"),
                    seconds=row.seconds("duration_ms"),
                    place=f"{name}: {identity}, {arm}, run {position + 1}",
                )
            )
    return leaking


def _verdict(row: JsonFields) -> tuple[RunVerdict, bool]:
    """What a run came to, and whether a grader of skill use was left out."""
    status = row.text("status")
    if status == "error":
        return failed("the run ended in an error"), False
    if status not in ("passed", "failed"):
        reason = f"the run has the status {status or 'none'}"
        return failed(reason) if "error" in status else graded(None, reason), False
    graders = {name: JsonFields(fields) for name, fields in row.inner("validations").raw.items()}
    fair = [fields for name, fields in graders.items() if not leaks_the_arm(fields.text("type") or name)]
    if len(fair) == len(graders):
        return RunVerdict(float(status == "passed")), False
    return graded(all_passed(fields.get("passed") for fields in fair), "only the use of the skill was graded"), True


def _text(row: JsonFields) -> str:
    """What the user said first, where the transcript is in the file."""
    for event in row.rows("transcript"):
        if event.text("type") in ("user.message", "user_message", "user"):
            return (event.inner("data") or event).text("content", "message", "text")
    return ""


def _is_outcome(fields: JsonFields) -> bool:
    tasks = fields.rows("tasks")
    return "config" in fields and bool(tasks) and "test_id" in tasks[0] and "runs" in tasks[0]


FORMAT = ToolFormat(
    name="waza",
    title="waza results",
    description="runs of each task with the skill and, from `waza run --baseline`, without it",
    looks_for="a JSON document with config and tasks[].test_id and runs",
    found=found,
    read=read,
)
