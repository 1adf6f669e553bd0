"""Run trees of agent-skill-evals: a folder per case, condition and trial with a trace.json, a result.json and grades.

The outcome is whether every authoritative grader passed, without those that grade the loading of the skill. A trial that
is not ok has none. Conditions beside no_skill, with_skill and forced_skill are other experiments and are left out unless
`--arm` says what they are; where both with_skill and forced_skill were run, with_skill counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.skill_beside import skill_beside
from skilldelta.bank.importers.tool_run import ArmMeaning, ToolFormat, ToolResults, ToolRun
from skilldelta.bank.importers.tools.arm_leaks import leak_note, leaks_the_arm
from skilldelta.bank.importers.tools.eval_prompts import eval_prompts
from skilldelta.bank.importers.tools.plain_values import (
    amount_of,
    object_of,
    objects_of,
    seconds_between,
    spent_of,
    sum_of,
    text_of,
)
from skilldelta.errors import InputError
from skilldelta.records import Skill

ARMS: Mapping[str, ArmMeaning] = {
    "no_skill": "skip",
    "with_skill": "use",
    "forced_skill": "use",
    "with_distractors": "leave-out",
    "previous_skill_version": "leave-out",
    "stale_skill_version": "leave-out",
    "malicious_distractor": "leave-out",
    "retrieval_from_library": "leave-out",
}


def found(tree: ResultTree) -> str:
    """By a trace.json in a folder of a trial."""
    for name in _traces(tree)[:50]:
        if {"case_id", "condition"} <= _document(tree, name).keys():
            return f"{name} is the trace of a trial"
    return ""


def read(tree: ResultTree, said: Defaults) -> ToolResults:
    """Every trial of every run below the folder."""
    results = ToolResults([], ARMS)
    prompts = eval_prompts(tree)
    grades = _grades(tree, _authoritative(tree))
    skills: dict[str, Skill | None] = {}
    leaking = 0
    for name in _traces(tree):
        folder = name[: -len("trace.json")]
        trace = _document(tree, name)
        if not {"case_id", "condition"} <= trace.keys():
            results.leave_out("its trace.json is damaged or of no trial", name)
            continue
        listed = [_document(tree, grade) for grade in grades.get(folder, ())]
        fair = [
            one for one in listed if not leaks_the_arm(text_of(one.get("grader_type")) or text_of(one.get("grader_id")))
        ]
        leaking += len(fair) < len(listed)
        skill = text_of(trace.get("skill_id"))
        if skill and skill not in skills:
            skills[skill] = skill_beside(tree, skill)
        run = _run(name, trace, _document(tree, f"{folder}result.json"), fair)
        text = skills.get(skill)
        digest = text.digest if text is not None else text_of(trace.get("skill_version"))
        results.runs.append(run._replace(text=prompts.get(run.task, ""), skill=skill, skill_digest=digest, suite=skill))
    _prefer_with_skill(results, said)
    results.notes += leak_note(leaking)
    results.skills = [one for one in skills.values() if one is not None]
    return results


def _run(name: str, trace: Mapping[str, Any], result: Mapping[str, Any], grades: list[Mapping[str, Any]]) -> ToolRun:
    is_error = result.get("ok") is False or bool(trace.get("error"))
    marks = [one.get("passed") for one in grades]
    outcome = float(all(marks)) if marks and all(isinstance(mark, bool) for mark in marks) and not is_error else None
    code = text_of(object_of(result.get("failure")).get("code"))
    milliseconds = spent_of(trace.get("duration_ms"))
    usage = object_of(trace.get("token_usage"))
    trial = amount_of(trace.get("trial"))
    return ToolRun(
        text_of(trace.get("case_id")),
        text_of(trace.get("condition")),
        outcome,
        status="completed" if outcome is not None else "transport_error" if is_error else "grader_error",
        reason=f"the trial is not ok ({code or 'no reason given'})"
        if is_error
        else "no grader of the task passed or failed it",
        repeat=None if trial is None else max(int(trial) - 1, 0),
        agent=text_of(trace.get("agent_harness")),
        model=text_of(trace.get("model")),
        tokens=spent_of(usage.get("total")) or sum_of(usage.get("input"), usage.get("output")),
        seconds=milliseconds / 1000
        if milliseconds
        else seconds_between(trace.get("started_at"), trace.get("ended_at")),
        cost_usd=amount_of(trace.get("cost_usd")),
        place=name,
    )


def _prefer_with_skill(results: ToolResults, said: Defaults) -> None:
    """Two ways to give the skill are two arms: the one that leaves loading to the agent counts, unless told otherwise."""
    arms = {run.arm for run in results.runs}
    if {"with_skill", "forced_skill"} <= arms and "forced_skill" not in said.arms:
        results.arms = {**ARMS, "forced_skill": "leave-out"}
        results.notes.append("took with_skill; --arm with_skill=leave-out --arm forced_skill=use takes the other")


def _grades(tree: ResultTree, authoritative: frozenset[str]) -> dict[str, list[str]]:
    """Trial folders to their grades: those that a manifest calls authoritative, else the last of each grader by name."""
    found: dict[str, dict[str, str]] = {}
    for name in tree.names:
        folder, mark, rest = name.partition("/grades/")
        if mark and name.endswith(".json") and rest.count("/") == 1 and "trial-" in folder.rpartition("/")[2]:
            digest = rest.rpartition("result-")[2].removesuffix(".json")
            if not authoritative or digest in authoritative:
                found.setdefault(f"{folder}/", {})[rest.partition("/")[0]] = name
    return {folder: list(one.values()) for folder, one in found.items()}


def _authoritative(tree: ResultTree) -> frozenset[str]:
    """Digests of the grades that count, as the last manifest of each run says; none where there is no manifest."""
    newest: dict[str, Mapping[str, Any]] = {}
    for name in tree.names:
        if name.endswith("/manifest.json") and "/grades/" in f"/{name}":
            manifest = _document(tree, name)
            run = text_of(manifest.get("run_id"))
            if text_of(manifest.get("created_at")) >= text_of(newest.get(run, {}).get("created_at")):
                newest[run] = manifest
    listed = [one for manifest in newest.values() for one in objects_of(manifest.get("results"))]
    return frozenset(text_of(one.get("result_sha256")) for one in listed if one.get("authoritative") is True)


def _traces(tree: ResultTree) -> list[str]:
    return [name for name in tree.names if name.endswith("/trace.json") and "trial-" in name.split("/")[-2]]


def _document(tree: ResultTree, name: str) -> Mapping[str, Any]:
    try:
        return tree.json_object(name) if name in tree else {}
    except InputError:
        return {}


FORMAT = ToolFormat(
    name="agent-skill-evals",
    title="agent-skill-evals run trees",
    description="trials of a skill's cases under no_skill and with_skill, with the grades of each trial",
    looks_for="evals/runs/<run>/<case>/<condition>/trial-*/trace.json",
    found=found,
    read=read,
)
