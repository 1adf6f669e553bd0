"""BenchFlow jobs: a folder per rollout with a result.json, below a folder per arm.

The arm is the rollout's skill_mode where it has one, else the folder. n_skill_invocations is 0 in many files and says
nothing. A rollout with an error has no outcome, unless the agent ran out of its own time and the verifier still graded it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
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
    seconds_between,
    share_of,
    spent_of,
    sum_of,
    text_of,
)
from skilldelta.bank.importers.vocabulary import condition_of
from skilldelta.errors import InputError
from skilldelta.records import Skill

ARMS: Mapping[str, ArmMeaning] = {"with-skill": "use", "no-skill": "skip", "without-skill": "skip", "baseline": "skip"}
_OWN_ERRORS = frozenset(("agent_timeout", "timeout", "idle_timeout", "context_window", "max_turns"))


def found(tree: ResultTree) -> str:
    """By a rollout's result.json."""
    if tree.is_file:
        return "it is the result.json of a BenchFlow rollout" if _is_rollout(tree.document) else ""
    for name in _results(tree)[:500]:
        if _is_rollout(_document(tree, name)):
            return f"{name} is the result of a BenchFlow rollout"
    return ""


def read(tree: ResultTree, said: Defaults) -> ToolResults:
    """Every rollout below the folder."""
    results = ToolResults([], ARMS)
    skills: dict[str, Skill | None] = {}
    texts: dict[tuple[str, str], str] = {}
    rollouts = []
    for name in [tree.names[0]] if tree.is_file else _results(tree):
        try:
            document = tree.document if tree.is_file else tree.json(name)
        except InputError:
            results.leave_out("its result.json is damaged", name)
            continue
        if _is_rollout(document):
            rollouts.append((text_of(document.get("started_at")), name, document))
    for _, name, document in sorted(rollouts, key=lambda one: one[:2]):
        skill = _skill(name)
        if skill and skill not in skills:
            skills[skill] = skill_beside(tree, skill)
        key = (text_of(document.get("task_name")), text_of(document.get("task_digest")))
        if not texts.get(key):
            texts[key] = _text(tree, name)
        results.runs.append(_run(name, document, skill, skills.get(skill), texts[key], said))
    results.skills = [one for one in skills.values() if one is not None]
    return results


def _run(
    name: str, rollout: Mapping[str, Any], skill: str, text: Skill | None, task_text: str, said: Defaults
) -> ToolRun:
    spent = object_of(rollout.get("agent_result"))
    outcome, reason = _outcome(rollout, said.score)
    execution = amount_of(object_of(rollout.get("timing")).get("agent_execution"))
    return ToolRun(
        text_of(rollout.get("task_name")),
        text_of(rollout.get("skill_mode")) or _arm(name),
        outcome,
        status="completed" if outcome is not None else "grader_error" if "reward" in reason else "transport_error",
        reason=reason,
        text=task_text,
        task_digest=text_of(rollout.get("task_digest")),
        skill=skill,
        skill_digest=text.digest if text is not None else "",
        agent=text_of(first_of(rollout, "agent", "agent_name")),
        model=text_of(rollout.get("model")),
        tokens=spent_of(spent.get("total_tokens")) or sum_of(spent.get("n_input_tokens"), spent.get("n_output_tokens")),
        seconds=execution or seconds_between(rollout.get("started_at"), rollout.get("finished_at")),
        cost_usd=amount_of(spent.get("cost_usd")),
        place=name,
    )


def _outcome(rollout: Mapping[str, Any], score: str) -> tuple[float | None, str]:
    category = text_of(rollout.get("error_category"))
    if rollout.get("error") and category not in _OWN_ERRORS:
        return None, f"the rollout ended in an error ({category or 'of no category'})"
    if rollout.get("verifier_error"):
        return None, "the verifier gave no reward, it ended in an error"
    rewards = object_of(rollout.get("rewards"))
    outcome = share_of(rewards.get(score or "reward"))
    return outcome, "" if outcome is not None else "the verifier gave no reward in [0, 1]"


def _arm(name: str) -> str:
    """The folder that names an arm, nearest to the rollout, or the folder above it."""
    folders = name.split("/")[:-2]
    return next((one for one in reversed(folders) if one in ARMS or condition_of(one)), folders[-1] if folders else "")


def _skill(name: str) -> str:
    """`skill-eval/<skill>/<agent>/<arm>/<rollout>` names the skill; other layouts do not."""
    parts = PurePosixPath(name).parts
    return parts[parts.index("skill-eval") + 1] if "skill-eval" in parts[:-4] else ""


def _text(tree: ResultTree, name: str) -> str:
    prompts = f"{name.rpartition('/')[0]}/prompts.json"
    if prompts not in tree:
        return ""
    try:
        document = tree.json(prompts)
    except InputError:
        return ""
    listed = list_of(document) or list_of(object_of(document).get("prompts"))
    parts = [text_of(one) or text_of(first_of(object_of(one), "text", "content", "prompt")) for one in listed]
    return "\n\n".join(part for part in parts if part).strip()


def _results(tree: ResultTree) -> list[str]:
    return [name for name in tree.names if name.rpartition("/")[2] == "result.json"]


def _document(tree: ResultTree, name: str) -> Any:
    try:
        return tree.json(name)
    except InputError:
        return None


def _is_rollout(document: Any) -> bool:
    fields = object_of(document)
    return "task_name" in fields and ("rollout_name" in fields or ("rewards" in fields and "n_tool_calls" in fields))


FORMAT = ToolFormat(
    name="benchflow",
    title="BenchFlow jobs",
    description="rollouts of a skill evaluation with their rewards, paired on the task's digest where it is recorded",
    looks_for="…/{with-skill,baseline}/<case>__<id>/result.json with rollout_name and rewards",
    found=found,
    read=read,
)
