"""Run trees of agent-skill-evals: a folder per case, condition and trial with a trace.json, a result.json and grades.

The outcome is whether every authoritative grader passed, without those that grade the loading of the skill. A trial that
is not ok has none. Conditions beside no_skill, with_skill and forced_skill are other experiments and are left out unless
`--arm` says what they are; where both with_skill and forced_skill were run, with_skill counts.
"""

from __future__ import annotations

from collections.abc import Mapping

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.skill_text import SkillTexts
from skilldelta.bank.importers.tool_run import ArmMeaning, RunVerdict, ToolFormat, ToolResults, ToolRun, failed, graded
from skilldelta.bank.importers.tools.arm_leaks import all_passed, leak_note, leaks_the_arm
from skilldelta.bank.importers.tools.eval_prompts import eval_prompts
from skilldelta.bank.importers.tools.plain_values import JsonFields, fields_in, seconds_between

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
    return next(
        (f"{name} is the trace of a trial" for name in _traces(tree)[:50] if _is_trial(fields_in(tree, name))), ""
    )


def read(tree: ResultTree, defaults: Defaults) -> ToolResults:
    """Every trial of every run below the folder."""
    results = ToolResults([], ARMS)
    prompts, skills = eval_prompts(tree), SkillTexts(tree, results.skills)
    grades = _grades(tree, _authoritative(tree))
    leaking = 0
    for name in _traces(tree):
        folder = name.removesuffix("trace.json")
        trace = fields_in(tree, name)
        if not _is_trial(trace):
            results.leave_out("its trace.json is damaged or of no trial", name)
            continue
        listed = [fields_in(tree, grade) for grade in grades.get(folder, ())]
        fair = [one for one in listed if not leaks_the_arm(one.text("grader_type") or one.text("grader_id"))]
        leaking += len(fair) < len(listed)
        task, skill, trial = trace.text("case_id"), trace.text("skill_id"), trace.amount("trial")
        usage = trace.inner("token_usage")
        results.runs.append(
            ToolRun(
                task,
                trace.text("condition"),
                *_verdict(trace, fields_in(tree, f"{folder}result.json"), fair),
                repeat=None if trial is None else max(int(trial) - 1, 0),
                text=prompts.get(task, ""),
                suite=skill,
                skill=skill,
                skill_digest=skills.digest(skill) or trace.text("skill_version"),
                agent=trace.text("agent_harness"),
                model=trace.text("model"),
                tokens=usage.spent("total") or usage.total("input", "output"),
                seconds=trace.seconds("duration_ms") or seconds_between(trace.get("started_at"), trace.get("ended_at")),
                cost_usd=trace.amount("cost_usd"),
                place=name,
            )
        )
    _prefer_with_skill(results, defaults)
    results.notes += leak_note(leaking)
    return results


def _verdict(trace: JsonFields, result: JsonFields, grades: list[JsonFields]) -> RunVerdict:
    if result.get("ok") is False or trace.get("error"):
        return failed(f"the trial is not ok ({result.inner('failure').text('code') or 'no reason given'})")
    return graded(all_passed(grade.get("passed") for grade in grades), "no grader of the task passed or failed it")


def _prefer_with_skill(results: ToolResults, defaults: Defaults) -> None:
    """Two ways to give the skill are two arms: the one that leaves loading to the agent counts, unless told otherwise."""
    arms = {run.arm for run in results.runs}
    if {"with_skill", "forced_skill"} <= arms and "forced_skill" not in defaults.arms:
        results.arms = {**ARMS, "forced_skill": "leave-out"}
        results.notes.append("took with_skill; --arm with_skill=leave-out --arm forced_skill=use takes the other")


def _grades(tree: ResultTree, authoritative: frozenset[str]) -> dict[str, list[str]]:
    """Trial folders to their grades: those that a manifest calls authoritative, else the last of each grader by name."""
    by_folder: dict[str, dict[str, str]] = {}
    for name in tree.names:
        folder, mark, rest = name.partition("/grades/")
        if mark and name.endswith(".json") and rest.count("/") == 1 and "trial-" in folder.rpartition("/")[2]:
            digest = rest.rpartition("result-")[2].removesuffix(".json")
            if not authoritative or digest in authoritative:
                by_folder.setdefault(f"{folder}/", {})[rest.partition("/")[0]] = name
    return {folder: list(grades.values()) for folder, grades in by_folder.items()}


def _authoritative(tree: ResultTree) -> frozenset[str]:
    """Digests of the grades that count, as the last manifest of each run says; none where there is no manifest."""
    newest: dict[str, JsonFields] = {}
    for name in tree.names:
        if name.endswith("/manifest.json") and "/grades/" in f"/{name}":
            manifest = fields_in(tree, name)
            run = manifest.text("run_id")
            if run not in newest or manifest.text("created_at") >= newest[run].text("created_at"):
                newest[run] = manifest
    listed = [result for manifest in newest.values() for result in manifest.rows("results")]
    return frozenset(result.text("result_sha256") for result in listed if result.get("authoritative") is True)


def _traces(tree: ResultTree) -> list[str]:
    return [name for name in tree.names if name.endswith("/trace.json") and "trial-" in name.split("/")[-2]]


def _is_trial(trace: JsonFields) -> bool:
    return "case_id" in trace and "condition" in trace


FORMAT = ToolFormat(
    name="agent-skill-evals",
    title="agent-skill-evals run trees",
    description="trials of a skill's cases under no_skill and with_skill, with the grades of each trial",
    looks_for="evals/runs/<run>/<case>/<condition>/trial-*/trace.json",
    found=found,
    read=read,
)
