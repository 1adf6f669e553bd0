"""Results of the skill-validator of dotnet/skills: one row per scenario and arm, in which the runs are averaged.

The outcome is whether the task was completed, or with the score `judge` the judge's overall score of 1 to 5 on the scale
from 0 to 1. The arm with the skill alone counts; the one with the whole plugin is another experiment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.skill_text import SkillTexts
from skilldelta.bank.importers.tool_run import ArmMeaning, ToolFormat, ToolResults, ToolRun, graded
from skilldelta.bank.importers.tools.plain_values import JsonFields, check_score, documents_where, found_where

ARMS: Mapping[str, ArmMeaning] = {
    "baseline": "skip",
    "skilledIsolated": "use",
    "withSkill": "use",
    "skilledPlugin": "leave-out",
}
SCORES = ("completed", "judge")
_LOWEST, _HIGHEST = 1.0, 5.0


def found(tree: ResultTree) -> str:
    """By verdicts with scenarios."""
    return found_where(tree, _verdicts, "has verdicts with scenarios")


def read(tree: ResultTree, defaults: Defaults) -> ToolResults:
    """Every scenario of every verdict; a skill that stands in several files counts once."""
    check_score(tree, defaults, SCORES)
    results = ToolResults([], ARMS)
    skills = SkillTexts(tree, results.skills)
    files_by_key: dict[tuple[str, str, str], str] = {}
    for name, document in documents_where(tree, _verdicts):
        model = document.text("model")
        for verdict in _verdicts(document):
            skill = verdict.text("skillName")
            for scenario in verdict.rows("scenarios"):
                task = scenario.text("scenarioName")
                if files_by_key.setdefault((model, skill, task), name) != name:
                    results.leave_out("the scenario stands in an earlier file, too", f"{name}: {task}")
                    continue
                common = ToolRun(
                    task,
                    "",
                    None,
                    repeat=0,
                    text=_prompt(scenario) or task,
                    family="not expected to load" if scenario.get("expectActivation") is False else "",
                    suite=skill,
                    skill=skill,
                    skill_digest=skills.digest(skill),
                    model=model,
                    place=f"{name}: {skill}, {task}",
                )
                results.runs += _runs(scenario, common, defaults.score)
    results.notes.append("one row per arm: the tool averages its runs, so the spread between runs is unknown")
    return results


def _runs(scenario: JsonFields, common: ToolRun, score: str) -> Iterator[ToolRun]:
    """A run per arm that the scenario has."""
    for arm in ARMS:
        if not isinstance(scenario.get(arm), dict):
            continue
        row = scenario.inner(arm)
        metrics = row.inner("metrics")
        outcome, status, reason = graded(_outcome(row, metrics, score), "the scenario has no verdict in this arm")
        yield common._replace(
            arm=arm,
            outcome=outcome,
            status=status,
            reason=reason,
            tokens=metrics.total("inputTokens", "outputTokens") or metrics.spent("tokenEstimate"),
            seconds=metrics.seconds("wallTimeMs"),
            place=f"{common.place}, {arm}",
        )


def _outcome(row: JsonFields, metrics: JsonFields, score: str) -> float | None:
    if score == "judge":
        value = row.inner("judgeResult").amount("overallScore")
        return (value - _LOWEST) / (_HIGHEST - _LOWEST) if value is not None and _LOWEST <= value <= _HIGHEST else None
    completed = metrics.get("taskCompleted")
    return float(completed) if isinstance(completed, bool) else None


def _prompt(scenario: JsonFields) -> str:
    """What the user says first, in the first arm that has it."""
    for arm in ARMS:
        events = scenario.inner(arm).inner("metrics").values("events")[:200]
        first = next(
            (event for event in map(JsonFields, events) if event.get("type") == "user.message"), JsonFields(None)
        )
        if prompt := first.inner("data").text("content").strip():
            return prompt
    return ""


def _verdicts(document: JsonFields) -> list[JsonFields]:
    return [verdict for verdict in document.rows("verdicts") if "skillName" in verdict and "scenarios" in verdict]


FORMAT = ToolFormat(
    name="dotnet-skill-validator",
    title="dotnet skill-validator results",
    description="scenarios of skills with a baseline and a skilled arm; the runs of an arm are averaged by the tool",
    looks_for="a JSON document with verdicts[].skillName and scenarios",
    found=found,
    read=read,
)
