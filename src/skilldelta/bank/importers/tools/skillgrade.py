"""skillgrade reports: the trials of one task per JSON file, with the skills that the agent was given.

The arm is whether there were any. Tokens are estimated from the length of texts and are left out.
"""

from __future__ import annotations

from typing import Any

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.skill_beside import skill_beside
from skilldelta.bank.importers.tool_run import ArmMeaning, ToolFormat, ToolResults, ToolRun
from skilldelta.bank.importers.tools.plain_values import (
    amount_of,
    first_of,
    list_of,
    object_of,
    objects_of,
    share_of,
    spent_of,
    text_of,
)
from skilldelta.records import Skill, bundle_name

ARMS: dict[str, ArmMeaning] = {"with skills": "use", "without skills": "skip"}


def found(tree: ResultTree) -> str:
    """By the fields of a report."""
    for name, document in tree.documents():
        if _is_report(document):
            return f"{name} has the trials of a skillgrade report"
    return ""


def read(tree: ResultTree, said: Defaults) -> ToolResults:
    """Every trial of every report."""
    results = ToolResults([], ARMS)
    skills: dict[str, Skill | None] = {}
    for name, document in tree.documents():
        if not _is_report(document):
            continue
        used = bundle_name(
            [text_of(one) or text_of(object_of(one).get("name")) for one in list_of(document["skills_used"])]
        )
        if used and used not in skills:
            skills[used] = skill_beside(tree, used)
        text = skills.get(used)
        for position, trial in enumerate(objects_of(document.get("trials"))):
            is_error = bool(trial.get("error"))
            outcome = None if is_error else share_of(trial.get("reward"))
            milliseconds = spent_of(trial.get("duration_ms"))
            results.runs.append(
                ToolRun(
                    text_of(document.get("task")),
                    "with skills" if used else "without skills",
                    outcome,
                    status="completed" if outcome is not None else "transport_error" if is_error else "grader_error",
                    reason="the trial ended in an error" if is_error else "the trial has no reward in [0, 1]",
                    text=_instruction(trial),
                    skill=used,
                    skill_digest=text.digest if text is not None else "",
                    agent=text_of(first_of(document, "agent", "provider")),
                    model=text_of(document.get("model")),
                    seconds=milliseconds / 1000 if milliseconds else None,
                    cost_usd=amount_of(trial.get("cost_usd")),
                    place=f"{name}: trial {text_of(trial.get('trial_id')) or position + 1}",
                )
            )
    results.skills = [one for one in skills.values() if one is not None]
    if results.runs:
        results.notes.append("token counts of skillgrade are estimates from lengths of texts and are left out")
    return results


def _instruction(trial: Any) -> str:
    for entry in objects_of(trial.get("session_log")):
        if entry.get("type") == "agent_start":
            return text_of(entry.get("instruction")).strip()
    return ""


def _is_report(document: Any) -> bool:
    fields = object_of(document)
    trials = objects_of(fields.get("trials"))
    return "task" in fields and isinstance(fields.get("skills_used"), list) and bool(trials) and "reward" in trials[0]


FORMAT = ToolFormat(
    name="skillgrade",
    title="skillgrade reports",
    description="trials of a task with their rewards; the arm is whether the agent was given skills",
    looks_for="JSON documents with task, trials[].reward and skills_used",
    found=found,
    read=read,
)
