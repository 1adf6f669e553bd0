"""BenchFlow jobs: a folder per rollout with a result.json, below a folder per arm.

The arm is the rollout's skill_mode where it has one, else the folder. n_skill_invocations is 0 in many files and says
nothing. A rollout with an error has no outcome, unless the agent ran out of its own time and the verifier still graded it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.skill_text import SkillTexts
from skilldelta.bank.importers.tool_run import ArmMeaning, RunVerdict, ToolFormat, ToolResults, ToolRun, failed, graded
from skilldelta.bank.importers.tools.plain_values import JsonFields, seconds_between, text_of
from skilldelta.bank.importers.tools.result_folders import found_result, read_results
from skilldelta.bank.importers.vocabulary import condition_of
from skilldelta.errors import InputError

ARMS: Mapping[str, ArmMeaning] = {"with-skill": "use", "no-skill": "skip", "without-skill": "skip", "baseline": "skip"}
_OWN_ERRORS = frozenset(("agent_timeout", "timeout", "idle_timeout", "context_window", "max_turns"))


def found(tree: ResultTree) -> str:
    """By a rollout's result.json."""
    return found_result(tree, _is_rollout, "BenchFlow rollout")


def read(tree: ResultTree, defaults: Defaults) -> ToolResults:
    """Every rollout below the folder."""
    results = ToolResults([], ARMS)
    skills = SkillTexts(tree, results.skills)
    texts: dict[tuple[str, str], str] = {}
    for name, rollout in read_results(tree, _is_rollout, results):
        task, digest = key = (rollout.text("task_name"), rollout.text("task_digest"))
        if not texts.get(key):
            texts[key] = _text(tree, name)
        skill, spent = _skill(name), rollout.inner("agent_result")
        results.runs.append(
            ToolRun(
                task,
                rollout.text("skill_mode") or _arm(name),
                *_verdict(rollout, defaults.score),
                text=texts[key],
                task_digest=digest,
                skill=skill,
                skill_digest=skills.digest(skill),
                agent=rollout.text("agent", "agent_name"),
                model=rollout.text("model"),
                tokens=spent.spent("total_tokens") or spent.total("n_input_tokens", "n_output_tokens"),
                seconds=rollout.inner("timing").amount("agent_execution")
                or seconds_between(rollout.get("started_at"), rollout.get("finished_at")),
                cost_usd=spent.amount("cost_usd"),
                place=name,
            )
        )
    return results


def _verdict(rollout: JsonFields, score: str) -> RunVerdict:
    category = rollout.text("error_category")
    if rollout.get("error") and category not in _OWN_ERRORS:
        return failed(f"the rollout ended in an error ({category or 'of no category'})")
    if rollout.get("verifier_error"):
        return graded(None, "the verifier gave no reward, it ended in an error")
    return graded(rollout.inner("rewards").share(score or "reward"), "the verifier gave no reward in [0, 1]")


def _arm(name: str) -> str:
    """The folder that names an arm, nearest to the rollout, or the folder above it."""
    folders = name.split("/")[:-2]
    return next(
        (folder for folder in reversed(folders) if folder in ARMS or condition_of(folder)),
        folders[-1] if folders else "",
    )


def _skill(name: str) -> str:
    """`skill-eval/<skill>/<agent>/<arm>/<rollout>` names the skill; other layouts do not."""
    parts = PurePosixPath(name).parts
    return parts[parts.index("skill-eval") + 1] if "skill-eval" in parts[:-4] else ""


def _text(tree: ResultTree, name: str) -> str:
    prompts = f"{name.rpartition('/')[0]}/prompts.json"
    try:
        document = tree.json(prompts) if prompts in tree else None
    except InputError:
        return ""
    listed = document if isinstance(document, list) else JsonFields(document).values("prompts")
    parts = [text_of(one) or JsonFields(one).text("text", "content", "prompt") for one in listed]
    return "\n\n".join(part for part in parts if part).strip()


def _is_rollout(fields: JsonFields) -> bool:
    return "task_name" in fields and ("rollout_name" in fields or ("rewards" in fields and "n_tool_calls" in fields))


FORMAT = ToolFormat(
    name="benchflow",
    title="BenchFlow jobs",
    description="rollouts of a skill evaluation with their rewards, paired on the task's digest where it is recorded",
    looks_for="…/{with-skill,baseline}/<case>__<id>/result.json with rollout_name and rewards",
    found=found,
    read=read,
)
