"""Results of the skill-validator of dotnet/skills: one row per scenario and arm, in which the runs are averaged.

The outcome is whether the task was completed, or with the score `judge` the judge's overall score of 1 to 5 on the scale
from 0 to 1. The arm with the skill alone counts; the one with the whole plugin is another experiment.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.skill_beside import skill_beside
from skilldelta.bank.importers.tool_run import ArmMeaning, ToolFormat, ToolResults, ToolRun
from skilldelta.bank.importers.tools.plain_values import (
    amount_of,
    list_of,
    object_of,
    objects_of,
    spent_of,
    sum_of,
    text_of,
)
from skilldelta.errors import InputError
from skilldelta.records import Skill

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
    for name, document in tree.documents():
        if _verdicts(document):
            return f"{name} has verdicts with scenarios"
    return ""


def read(tree: ResultTree, said: Defaults) -> ToolResults:
    """Every scenario of every verdict; a skill that stands in several files counts once."""
    if said.score and said.score not in SCORES:
        raise InputError(f"{tree.root}: the score is one of {', '.join(SCORES)}, got {said.score!r}")
    results = ToolResults([], ARMS)
    skills: dict[str, Skill | None] = {}
    seen: dict[tuple[str, str, str], str] = {}
    for name, document in tree.documents():
        model = text_of(object_of(document).get("model"))
        for verdict in _verdicts(document):
            skill = text_of(verdict.get("skillName"))
            if skill not in skills:
                skills[skill] = skill_beside(tree, skill) if skill else None
            for scenario in objects_of(verdict.get("scenarios")):
                key = (model, skill, text_of(scenario.get("scenarioName")))
                if seen.setdefault(key, name) != name:
                    results.leave_out("the scenario stands in an earlier file, too", f"{name}: {key[2]}")
                    continue
                _take(name, scenario, said.score, skill, skills[skill], model, results)
    results.skills = [one for one in skills.values() if one is not None]
    results.notes.append("one row per arm: the tool averages its runs, so the spread between runs is unknown")
    return results


def _take(
    name: str, scenario: Mapping[str, Any], score: str, skill: str, text: Skill | None, model: str, results: ToolResults
) -> None:
    task = text_of(scenario.get("scenarioName"))
    prompts = [_prompt(object_of(object_of(scenario.get(arm)).get("metrics"))) for arm in ARMS]
    for arm in ARMS:
        row = scenario.get(arm)
        if not isinstance(row, dict):
            continue
        metrics = object_of(row.get("metrics"))
        outcome = _outcome(row, metrics, score)
        milliseconds = spent_of(metrics.get("wallTimeMs"))
        results.runs.append(
            ToolRun(
                task,
                arm,
                outcome,
                status="completed" if outcome is not None else "grader_error",
                reason="the scenario has no verdict in this arm",
                repeat=0,
                text=next(filter(None, prompts), task),
                family="not expected to load" if scenario.get("expectActivation") is False else "",
                suite=skill,
                skill=skill,
                skill_digest=text.digest if text is not None else "",
                model=model,
                tokens=sum_of(metrics.get("inputTokens"), metrics.get("outputTokens"))
                or spent_of(metrics.get("tokenEstimate")),
                seconds=milliseconds / 1000 if milliseconds else None,
                place=f"{name}: {skill}, {task}, {arm}",
            )
        )


def _outcome(row: Mapping[str, Any], metrics: Mapping[str, Any], score: str) -> float | None:
    if score == "judge":
        value = amount_of(object_of(row.get("judgeResult")).get("overallScore"))
        return (value - _LOWEST) / (_HIGHEST - _LOWEST) if value is not None and _LOWEST <= value <= _HIGHEST else None
    completed = metrics.get("taskCompleted")
    return float(completed) if isinstance(completed, bool) else None


def _prompt(metrics: Mapping[str, Any]) -> str:
    for event in list_of(metrics.get("events"))[:200]:
        if object_of(event).get("type") == "user.message":
            return text_of(object_of(object_of(event).get("data")).get("content")).strip()
    return ""


def _verdicts(document: Any) -> list[Mapping[str, Any]]:
    return [one for one in objects_of(object_of(document).get("verdicts")) if "skillName" in one and "scenarios" in one]


FORMAT = ToolFormat(
    name="dotnet-skill-validator",
    title="dotnet skill-validator results",
    description="scenarios of skills with a baseline and a skilled arm; the runs of an arm are averaged by the tool",
    looks_for="a JSON document with verdicts[].skillName and scenarios",
    found=found,
    read=read,
)
