"""Harbor job folders: a folder per trial with a result.json.

A reward counts when the trial had no exception, or one that is the agent's own: it ran out of time or context, or refused.
Everything else that went wrong (sandbox, provider, verifier, cancellation) leaves the trial without an outcome. The arm is
whether the agent was given skills; files from before Harbor recorded that have it in the job's name at best. Tasks are
told apart by their checksum: a skill that is baked into the task's image makes it another task.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.skill_text import SkillTexts
from skilldelta.bank.importers.tool_run import ArmMeaning, RunVerdict, ToolFormat, ToolResults, ToolRun, failed, graded
from skilldelta.bank.importers.tools.plain_values import (
    JsonFields,
    fields_in,
    rows_of,
    seconds_between,
    sum_of,
    text_of,
)
from skilldelta.bank.importers.tools.result_folders import found_result, read_results
from skilldelta.records import bundle_name, text_digest

ARMS: Mapping[str, ArmMeaning] = {"with skills": "use", "without skills": "skip"}
# Exceptions after which the reward is the agent's: its budget ran out, or it refused the task.
AGENTS_OWN = re.compile(
    r"AgentTimeout|ContextWindowExceeded|ContextLengthExceeded|OutputTokenExceeded|OutputLengthExceeded|MaxTurns|Refus"
)
_WITHOUT = re.compile(r"(?:without|no|zero|w/o)[-_ ]?skills?|baseline|control|vanilla", re.IGNORECASE)
_WITH = re.compile(r"with[-_ ]?skills?|(?:^|[-_ ])skills?(?:$|[-_ ])|treatment", re.IGNORECASE)


def found(tree: ResultTree) -> str:
    """By a trial's result.json."""
    return found_result(tree, _is_trial, "Harbor trial")


def read(tree: ResultTree, defaults: Defaults) -> ToolResults:
    """Every trial of every job below the folder."""
    results = ToolResults([], ARMS)
    texts: dict[str, str] = {}
    skills = SkillTexts(tree, results.skills)
    for name, trial in read_results(tree, _is_trial, results):
        results.runs.append(_run(tree, name, trial, defaults, texts, skills))
    return results


def _run(
    tree: ResultTree, name: str, trial: JsonFields, defaults: Defaults, texts: dict[str, str], skills: SkillTexts
) -> ToolRun:
    agent, info = trial.inner("config").inner("agent"), trial.inner("agent_info")
    spent, execution = _spent(trial), trial.inner("agent_execution")
    task, checksum = trial.text("task_name"), trial.text("task_checksum")
    job = _job(tree, name)
    skills_given = agent.values("skills")
    arm = _arm_in_name(job) if agent.get("skills") is None else "with skills" if skills_given else "without skills"
    skill, digest = _skill(tree, name, skills_given)
    key = f"{task}@{checksum}"
    if not texts.get(key):
        texts[key] = _text(tree, name)
    return ToolRun(
        task,
        job if defaults.arm_from == "job" else arm,
        *_verdict(trial, defaults.score),
        text=texts[key],
        task_digest=checksum,
        skill=skill,
        skill_digest=skills.digest(skill) or digest,
        agent=info.text("name") or agent.text("name"),
        model=_model(info, agent),
        tokens=spent.total("n_input_tokens", "n_output_tokens"),  # the input has the cached ones in it
        seconds=seconds_between(execution.get("started_at"), execution.get("finished_at")),
        cost_usd=spent.amount("cost_usd"),
        place=name,
    )


def _arm_in_name(job: str) -> str:
    """The arm that a job's name says, or the name itself where it says none."""
    if _WITHOUT.search(job):
        return "without skills"
    return "with skills" if _WITH.search(job) else job


def _verdict(trial: JsonFields, score: str) -> RunVerdict:
    exception = trial.inner("exception_info")
    kind = exception.text("exception_type")
    if exception and not AGENTS_OWN.search(kind):
        return failed(f"the trial ended in {kind or 'an exception'}")
    verifier = trial.inner("verifier_result")
    given = verifier.get("rewards")
    rewards = JsonFields(given if isinstance(given, dict) else {"reward": verifier.get("reward")})
    name = score or ("reward" if "reward" in rewards or len(rewards.raw) != 1 else next(iter(rewards.raw)))
    if rewards.get(name) is None:
        return graded(None, f"there is no reward {name!r}" if score else "the verifier gave no reward")
    return graded(rewards.share(name), "the reward is not in [0, 1]")


def _spent(trial: JsonFields) -> JsonFields:
    """Tokens and cost of a trial; one of several steps has them by step, and they are known where every step's are."""
    whole = trial.inner("agent_result")
    steps = [step.inner("agent_result") for step in trial.rows("step_results")]
    if whole or not steps:
        return whole
    names = ("n_input_tokens", "n_output_tokens", "cost_usd")
    return JsonFields({name: sum_of(*(step.get(name) for step in steps)) for name in names})


def _model(info: JsonFields, agent: JsonFields) -> str:
    model = info.inner("model_info")
    name, provider = model.text("name"), model.text("provider")
    if not name:
        return agent.text("model_name")
    return f"{provider}/{name}" if provider and not name.startswith(f"{provider}/") else name


def _skill(tree: ResultTree, name: str, skills: list[Any]) -> tuple[str, str]:
    """The skills of a trial as one bundle, and the digest that Harbor locked them with."""
    rows = fields_in(tree, f"{name.rpartition('/')[0]}/lock.json").rows("skills") if skills else []
    names = [row.text("name") for row in rows] or [PurePosixPath(text_of(skill)).name for skill in skills]
    digests = [row.text("digest") for row in rows]
    digest = digests[0] if len(digests) == 1 else text_digest("\n".join(sorted(digests))) if any(digests) else ""
    return bundle_name([skill for skill in names if skill]), digest


def _text(tree: ResultTree, name: str) -> str:
    """What the task asks: the instruction beside the trial, or the first thing the user says in the trajectory."""
    folder = name.rpartition("/")[0]
    for beside in (f"{folder}/instruction.md", f"{folder}/task/instruction.md"):
        if beside in tree:
            return tree.read(beside).decode("utf-8", "replace").strip()
    for step in fields_in(tree, f"{folder}/agent/trajectory.json").rows("steps"):
        if step.get("source") == "user":
            message = step.get("message")
            parts = [message] if isinstance(message, str) else [one.get("text") for one in rows_of(message)]
            return "\n\n".join(text_of(part) for part in parts if part).strip()
    return ""


def _job(tree: ResultTree, name: str) -> str:
    """The folder of the job: above the trial's, which may be the root or above it."""
    return ["", "", *tree.root.absolute().parts[1:], *name.split("/")][-3]


def _is_trial(fields: JsonFields) -> bool:
    return "trial_name" in fields and "task_name" in fields and "rollout_name" not in fields


FORMAT = ToolFormat(
    name="harbor",
    title="Harbor jobs",
    description="trials of a job with their rewards, paired on the task's checksum; the arm is whether skills were given",
    looks_for="<job>/<task>__<id>/result.json with trial_name and task_name",
    found=found,
    read=read,
)
