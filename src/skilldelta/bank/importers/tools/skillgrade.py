"""skillgrade reports: the trials of one task per JSON file, with the skills that the agent was given.

The arm is whether there were any. Tokens are estimated from the length of texts and are left out.
"""

from __future__ import annotations

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.skill_text import SkillTexts
from skilldelta.bank.importers.tool_run import ArmMeaning, ToolFormat, ToolResults, ToolRun, failed, graded
from skilldelta.bank.importers.tools.plain_values import JsonFields, documents_where, found_where, text_of
from skilldelta.records import bundle_name

ARMS: dict[str, ArmMeaning] = {"with skills": "use", "without skills": "skip"}


def found(tree: ResultTree) -> str:
    """By the fields of a report."""
    return found_where(tree, _is_report, "has the trials of a skillgrade report")


def read(tree: ResultTree, defaults: Defaults) -> ToolResults:
    """Every trial of every report."""
    results = ToolResults([], ARMS)
    skills = SkillTexts(tree, results.skills)
    for name, report in documents_where(tree, _is_report):
        used = bundle_name([text_of(skill) or JsonFields(skill).text("name") for skill in report.values("skills_used")])
        for position, trial in enumerate(report.rows("trials")):
            verdict = graded(trial.share("reward"), "the trial has no reward in [0, 1]")
            results.runs.append(
                ToolRun(
                    report.text("task"),
                    "with skills" if used else "without skills",
                    *(failed("the trial ended in an error") if trial.get("error") else verdict),
                    text=_instruction(trial),
                    skill=used,
                    skill_digest=skills.digest(used),
                    agent=report.text("agent", "provider"),
                    model=report.text("model"),
                    seconds=trial.seconds("duration_ms"),
                    cost_usd=trial.amount("cost_usd"),
                    place=f"{name}: trial {trial.text('trial_id') or position + 1}",
                )
            )
    if results.runs:
        results.notes.append("token counts of skillgrade are estimates from lengths of texts and are left out")
    return results


def _instruction(trial: JsonFields) -> str:
    for entry in trial.rows("session_log"):
        if entry.get("type") == "agent_start":
            return entry.text("instruction").strip()
    return ""


def _is_report(fields: JsonFields) -> bool:
    trials = fields.rows("trials")
    return "task" in fields and isinstance(fields.get("skills_used"), list) and bool(trials) and "reward" in trials[0]


FORMAT = ToolFormat(
    name="skillgrade",
    title="skillgrade reports",
    description="trials of a task with their rewards; the arm is whether the agent was given skills",
    looks_for="JSON documents with task, trials[].reward and skills_used",
    found=found,
    read=read,
)
