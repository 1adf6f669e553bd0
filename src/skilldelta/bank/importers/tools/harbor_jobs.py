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
from skilldelta.bank.importers.skill_beside import skill_beside
from skilldelta.bank.importers.tool_run import ArmMeaning, ToolFormat, ToolResults, ToolRun
from skilldelta.bank.importers.tools.plain_values import (
    amount_of,
    first_of,
    list_of,
    object_of,
    objects_of,
    seconds_between,
    share_of,
    sum_of,
    text_of,
)
from skilldelta.errors import InputError
from skilldelta.records import Skill, bundle_name, text_digest

ARMS: Mapping[str, ArmMeaning] = {"with skills": "use", "without skills": "skip"}
AGENTS_OWN = re.compile(
    r"AgentTimeout|ContextWindowExceeded|ContextLengthExceeded|OutputTokenExceeded|OutputLengthExceeded|MaxTurns|Refus"
)
"""Exceptions after which the reward is the agent's: its budget ran out, or it refused the task."""
_MOST_TRAJECTORY = 64 << 20
_WITHOUT = re.compile(r"(?:without|no|zero|w/o)[-_ ]?skills?|baseline|control|vanilla", re.IGNORECASE)
_WITH = re.compile(r"with[-_ ]?skills?|(?:^|[-_ ])skills?(?:$|[-_ ])|treatment", re.IGNORECASE)


def found(tree: ResultTree) -> str:
    """By a trial's result.json."""
    if tree.is_file:
        return "it is the result.json of a Harbor trial" if _is_trial(tree.document) else ""
    for name in _results(tree)[:500]:
        if _is_trial(_document(tree, name)):
            return f"{name} is the result of a Harbor trial"
    return ""


def read(tree: ResultTree, said: Defaults) -> ToolResults:
    """Every trial of every job below the folder."""
    results = ToolResults([], ARMS)
    texts: dict[str, str] = {}
    skills: dict[str, Skill | None] = {}
    trials = []
    for name in [tree.names[0]] if tree.is_file else _results(tree):
        try:
            document = tree.document if tree.is_file else tree.json(name)
        except InputError:
            results.leave_out("its result.json is damaged", name)
            continue
        if _is_trial(document):
            trials.append((text_of(document.get("started_at")), name, document))
    for _, name, document in sorted(trials, key=lambda one: one[:2]):
        results.runs.append(_run(tree, name, document, said, texts, skills))
    results.skills = [one for one in skills.values() if one is not None]
    return results


def arm_in_name(job: str) -> str:
    """The arm that a job's name says, or the name itself where it says none."""
    if _WITHOUT.search(job):
        return "without skills"
    return "with skills" if _WITH.search(job) else job


def _run(
    tree: ResultTree,
    name: str,
    trial: Mapping[str, Any],
    said: Defaults,
    texts: dict[str, str],
    skills: dict[str, Skill | None],
) -> ToolRun:
    config = object_of(trial.get("config"))
    agent = object_of(config.get("agent"))
    info = object_of(trial.get("agent_info"))
    spent = _spent(trial)
    task, checksum = text_of(trial.get("task_name")), text_of(trial.get("task_checksum"))
    job = _job(tree, name)
    given = agent.get("skills")
    arm = arm_in_name(job) if given is None else "with skills" if list_of(given) else "without skills"
    skill, digest = _skill(tree, name, list_of(given))
    if skill and skill not in skills:
        skills[skill] = skill_beside(tree, skill)
    outcome, reason = _outcome(trial, said.score)
    key = f"{task}@{checksum}"
    if not texts.get(key):
        texts[key] = _text(tree, name)
    execution = object_of(trial.get("agent_execution"))
    text = skills.get(skill)
    return ToolRun(
        task,
        job if said.arm_from == "job" else arm,
        outcome,
        status="completed" if outcome is not None else "grader_error" if "reward" in reason else "transport_error",
        reason=reason,
        text=texts[key],
        task_digest=checksum,
        skill=skill,
        skill_digest=text.digest if text is not None else digest,
        agent=text_of(first_of(info, "name")) or text_of(agent.get("name")),
        model=_model(info, agent),
        tokens=sum_of(spent.get("n_input_tokens"), spent.get("n_output_tokens")),  # the input has the cached ones in it
        seconds=seconds_between(execution.get("started_at"), execution.get("finished_at")),
        cost_usd=amount_of(spent.get("cost_usd")),
        place=name,
    )


def _outcome(trial: Mapping[str, Any], score: str) -> tuple[float | None, str]:
    exception = object_of(trial.get("exception_info"))
    kind = text_of(exception.get("exception_type"))
    if exception and not AGENTS_OWN.search(kind):
        return None, f"the trial ended in {kind or 'an exception'}"
    rewards = object_of(trial.get("verifier_result")).get("rewards")
    if not isinstance(rewards, dict):
        rewards = {"reward": object_of(trial.get("verifier_result")).get("reward")}
    name = score or ("reward" if "reward" in rewards or len(rewards) != 1 else next(iter(rewards)))
    value = rewards.get(name)
    if value is None:
        return None, f"there is no reward {name!r}" if score else "the verifier gave no reward"
    outcome = share_of(value)
    return outcome, "" if outcome is not None else "the reward is not in [0, 1]"


def _spent(trial: Mapping[str, Any]) -> Mapping[str, Any]:
    """Tokens and cost of a trial; one of several steps has them by step, and they are known where every step's are."""
    whole = object_of(trial.get("agent_result"))
    steps = [object_of(step.get("agent_result")) for step in objects_of(trial.get("step_results"))]
    if whole or not steps:
        return whole
    names = ("n_input_tokens", "n_output_tokens", "cost_usd")
    return {name: sum_of(*(step.get(name) for step in steps)) for name in names}


def _model(info: Mapping[str, Any], agent: Mapping[str, Any]) -> str:
    model = object_of(info.get("model_info"))
    name, provider = text_of(model.get("name")), text_of(model.get("provider"))
    if not name:
        return text_of(agent.get("model_name"))
    return f"{provider}/{name}" if provider and not name.startswith(f"{provider}/") else name


def _skill(tree: ResultTree, name: str, given: list[Any]) -> tuple[str, str]:
    """The skills of a trial as one bundle, and the digest that Harbor locked them with."""
    lock = f"{name.rpartition('/')[0]}/lock.json"
    rows = objects_of(_document(tree, lock).get("skills")) if lock in tree and given else []
    names = [text_of(row.get("name")) for row in rows] or [PurePosixPath(text_of(one)).name for one in given]
    digests = [text_of(row.get("digest")) for row in rows]
    names = [one for one in names if one]
    digest = digests[0] if len(digests) == 1 else text_digest("\n".join(sorted(digests))) if any(digests) else ""
    return bundle_name(names), digest


def _text(tree: ResultTree, name: str) -> str:
    """What the task asks: the instruction beside the trial, or the first thing the user says in the trajectory."""
    folder = name.rpartition("/")[0]
    for beside in (f"{folder}/instruction.md", f"{folder}/task/instruction.md"):
        if beside in tree:
            return tree.read(beside).decode("utf-8", "replace").strip()
    trajectory = f"{folder}/agent/trajectory.json"
    if trajectory not in tree:
        return ""
    try:
        steps = objects_of(tree.json_object(trajectory, most=_MOST_TRAJECTORY).get("steps"))
    except InputError:
        return ""
    for step in steps:
        if step.get("source") == "user":
            message = step.get("message")
            parts = [message] if isinstance(message, str) else [one.get("text") for one in objects_of(message)]
            return "\n\n".join(text_of(part) for part in parts if part).strip()
    return ""


def _job(tree: ResultTree, name: str) -> str:
    parts = name.split("/")
    return (
        parts[-3]
        if len(parts) >= 3
        else tree.root.absolute().name
        if len(parts) == 2
        else tree.root.absolute().parent.name
    )


def _results(tree: ResultTree) -> list[str]:
    return [name for name in tree.names if name.endswith("result.json") and name.rpartition("/")[2] == "result.json"]


def _document(tree: ResultTree, name: str) -> Mapping[str, Any]:
    try:
        return tree.json_object(name)
    except InputError:
        return {}


def _is_trial(document: Any) -> bool:
    fields = object_of(document)
    return "trial_name" in fields and "task_name" in fields and "rollout_name" not in fields


FORMAT = ToolFormat(
    name="harbor",
    title="Harbor jobs",
    description="trials of a job with their rewards, paired on the task's checksum; the arm is whether skills were given",
    looks_for="<job>/<task>__<id>/result.json with trial_name and task_name",
    found=found,
    read=read,
)
