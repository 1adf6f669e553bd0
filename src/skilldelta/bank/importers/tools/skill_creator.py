"""Workspaces of the skill-creator skill and of the agentskills.io guide: a folder per eval, arm and run.

The outcome is the share of a run's assertions that passed, or with the score `all_passed` whether all did. Tokens are those
of timing.json only: benchmark.json counts output characters as tokens for some runs. Its executor_model is a placeholder,
and so are other names in angle brackets.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.joining import is_placeholder
from skilldelta.bank.importers.result_tree import ResultTree, parsed
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
from skilldelta.errors import InputError
from skilldelta.files import read_bytes
from skilldelta.nouns import plural

ARMS: Mapping[str, ArmMeaning] = {"with_skill": "use", "without_skill": "skip"}
SCORES = ("pass_rate", "all_passed")

_RUN = re.compile(r"(?:run|trial|rep)[-_]?(\d{1,6})$")
_ITERATION = re.compile(r"iteration[-_]?(\d{1,6})$")
_ERRORS = frozenset(("error", "errored", "infrastructure_failure", "infra_error", "crashed", "timeout"))


def found(tree: ResultTree) -> str:
    """By gradings below a folder per arm, or by a benchmark.json with runs."""
    if tree.is_file:
        document = object_of(tree.document)
        if _is_trigger_result(document):
            return "it has the trigger rates of a skill's description"
        return "it is a benchmark.json with runs" if _benchmark_runs(document) else ""
    for name in tree.names:
        if name.endswith("/grading.json") and _place(name) is not None:
            return f"{name} is the grading of a run"
    benchmarks = [name for name in tree.names if _is_named(name, "benchmark.json")]
    if any(_benchmark_runs(tree.json_object(name)) for name in benchmarks):
        return f"{benchmarks[0]} has runs"
    return ""


@dataclass(slots=True)
class _Workspace:
    """The runs of one skill's evals in one iteration."""

    prefix: str
    """The workspace's folder, with a slash at its end."""
    folder: str
    """The iteration's folder, with a slash at its end."""
    gradings: list[_Place] = field(default_factory=list)
    ungraded: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a run lies: which eval, arm and run its path says."""

    name: str
    eval_folder: str
    arm: str
    run: int


@dataclass(frozen=True, slots=True)
class _Eval:
    task: str
    text: str


class _Named(NamedTuple):
    """What all runs of a workspace have in common."""

    skill: str
    digest: str
    model: str
    suite: str


def read(tree: ResultTree, said: Defaults) -> ToolResults:
    """The runs of the newest iteration of each workspace."""
    if said.score and said.score not in SCORES:
        raise InputError(f"{tree.root}: the score is one of {', '.join(SCORES)}, got {said.score!r}")
    if tree.is_file and _is_trigger_result(object_of(tree.document)):
        raise InputError(
            f"{tree.root}: these are trigger rates of a description, which say when a skill is loaded and not what it "
            "gains; import the workspace with the gradings"
        )
    results = ToolResults([], ARMS)
    if said.score == "":
        results.notes.append("the outcome is the share of assertions that passed; --score all_passed counts whole runs")
    workspaces = list(_workspaces(tree, results))
    for workspace in workspaces:
        _read_workspace(tree, workspace, said, results)
    if not workspaces:
        for name in [one for one in tree.names if _is_named(one, "benchmark.json") or tree.is_file]:
            _read_benchmark(tree, name, said, results)
    if not results.runs:
        raise InputError(f"{tree.root}: no run in it is graded; grade the runs, then import again")
    return results


# Where the runs lie


def _workspaces(tree: ResultTree, results: ToolResults) -> Iterator[_Workspace]:
    """One per workspace: its newest iteration that has a graded run."""
    found: defaultdict[str, dict[int, _Workspace]] = defaultdict(dict)
    graded: set[str] = set()
    located: dict[str, tuple[str, int, str]] = {}
    for name in tree.names:
        if not name.endswith("/grading.json"):
            continue
        place = _place(name)
        if place is None:
            continue
        if place.eval_folder not in located:
            located[place.eval_folder] = _iteration(place.eval_folder)
        prefix, number, folder = located[place.eval_folder]
        workspace = found[prefix].setdefault(number, _Workspace(prefix, folder))
        workspace.gradings.append(place)
        graded.add(name[: -len("grading.json")])
    _add_ungraded(tree, found, graded)
    for _, iterations in sorted(found.items()):
        newest = max(iterations)
        older = [one for number, one in sorted(iterations.items()) if number != newest]
        for one in older:
            for place in one.gradings:
                results.leave_out("an older iteration, of another version of the skill", place.name)
        if older:
            results.notes.append(
                f"took {iterations[newest].folder.rstrip('/')} and left out {plural(len(older), 'older iteration')}; name "
                "the folder of an iteration to import that one"
            )
        yield iterations[newest]


def _place(name: str) -> _Place | None:
    parts = name.split("/")
    run = _RUN.match(parts[-2]) if len(parts) >= 2 else None
    above = parts[:-2] if run else parts[:-1]
    if len(above) < 2 and not (above and above[0] in ARMS):
        return None
    return _Place(name, "/".join(above[:-1]), above[-1], int(run[1]) if run else 1)


def _iteration(eval_folder: str) -> tuple[str, int, str]:
    """The workspace's folder, the iteration's number and folder of an eval."""
    parts = eval_folder.split("/")
    for position, part in enumerate(parts):
        if match := _ITERATION.match(part):
            return "".join(f"{one}/" for one in parts[:position]), int(match[1]), "/".join(parts[: position + 1]) + "/"
    above = parts[:-1]
    if above and above[-1] == "runs":
        above = above[:-1]
    folder = "".join(f"{one}/" for one in above)
    return folder, 0, folder


def _add_ungraded(tree: ResultTree, found: Mapping[str, Mapping[int, _Workspace]], graded: set[str]) -> None:
    """Runs that left something and have no grading, in the arms that are known by others."""
    arms = {place.arm for iterations in found.values() for one in iterations.values() for place in one.gradings}
    seen: set[str] = set()
    for name in tree.names:
        if f"{name.rpartition('/')[0]}/" in graded:
            continue
        parts = name.split("/")
        position = next((at for at, part in enumerate(parts[:-1]) if part in arms and at), None)
        if position is None:
            continue
        is_run = len(parts) > position + 2 and _RUN.match(parts[position + 1])
        run = "/".join(parts[: position + 2 if is_run else position + 1]) + "/"
        if run in seen or run in graded:
            continue
        seen.add(run)
        if not is_run and any(one.startswith(run) for one in graded):
            continue
        prefix, number, _ = _iteration("/".join(parts[:position]))
        if number in found.get(prefix, {}):
            found[prefix][number].ungraded.append(run)


# What a workspace says


def _read_workspace(tree: ResultTree, workspace: _Workspace, said: Defaults, results: ToolResults) -> None:
    benchmark = _document(tree, f"{workspace.folder}benchmark.json")
    evals = _evals(tree, workspace)
    metadata = object_of(benchmark.get("metadata"))
    skill = _skill_name(tree, workspace, metadata, evals, results)
    model = text_of(first_of(metadata, "executor_model", "model"))
    text = _skill_text(tree, workspace, skill or said.skill)
    if text is not None:
        results.skills.append(text)
        if not skill and said.skill:
            skill = said.skill
    prompts = {text_of(row.get("id")): text_of(row.get("prompt")) for row in objects_of(evals.get("evals"))}
    known: dict[str, _Eval] = {}
    digest = text.digest if text is not None else ""
    suite = skill or said.skill
    for place in workspace.gradings:
        one = known.get(place.eval_folder)
        if one is None:
            one = known[place.eval_folder] = _eval(tree, place.eval_folder, prompts)
        results.runs.append(_run(tree, place, one, said.score, _Named(skill, digest, model, suite)))
    for run in workspace.ungraded:
        results.leave_out("the run has no grading.json", run)
    _tell_names_apart(results, known)


def _run(tree: ResultTree, place: _Place, one: _Eval, score: str, named: _Named) -> ToolRun:
    grading = tree.json_object(place.name)
    folder = place.name[: -len("grading.json")]
    timing = tree.json_object(f"{folder}timing.json") if f"{folder}timing.json" in tree else {}
    outcome = _outcome(grading, score)
    is_error = bool(grading.get("error")) or text_of(grading.get("status")).lower() in _ERRORS
    graded = object_of(grading.get("timing"))
    milliseconds = spent_of(timing.get("duration_ms"))
    seconds = (
        spent_of(timing.get("total_duration_seconds"))
        or (milliseconds / 1000 if milliseconds else None)
        or spent_of(graded.get("executor_duration_seconds"))
        or spent_of(graded.get("total_duration_seconds"))
    )
    return ToolRun(
        one.task,
        place.arm,
        None if is_error else outcome,
        status="transport_error" if is_error else "completed" if outcome is not None else "grader_error",
        reason="the run ended in an error" if is_error else "no assertion of the run is graded",
        repeat=max(place.run - 1, 0),
        text=one.text,
        suite=named.suite,
        skill=named.skill,
        skill_digest=named.digest,
        model=named.model,
        tokens=spent_of(timing.get("total_tokens")),
        seconds=seconds,
        place=place.name,
    )


def _outcome(grading: Mapping[str, Any], score: str) -> float | None:
    """The share of assertions that passed, counted where they are listed, else as the summary says."""
    listed = first_of(grading, "expectations", "assertion_results", "assertions", "results")
    marks = [one.get("passed", one.get("pass")) for one in objects_of(listed)]
    if marks and all(isinstance(mark, bool) for mark in marks):
        share: float | None = sum(marks) / len(marks)
    else:
        summary = object_of(grading.get("summary")) or grading
        passed, total = amount_of(summary.get("passed")), spent_of(summary.get("total"))
        has_counts = passed is not None and total is not None and passed <= total
        share = passed / total if has_counts and passed is not None and total else None
        if share is None and amount_of(summary.get("total")) != 0:
            share = share_of(summary.get("pass_rate"))
    if share is None or score != "all_passed":
        return share
    return float(share == 1)


def _eval(tree: ResultTree, folder: str, prompts: Mapping[str, str]) -> _Eval:
    metadata = _document(tree, f"{folder}/eval_metadata.json")
    own = folder.rpartition("/")[2]
    identity = text_of(first_of(metadata, "eval_id", "id"))
    if not identity and (match := re.match(r"eval[-_](\d+)", own)):
        identity = match[1]
    task = text_of(first_of(metadata, "eval_name", "name")) or own
    return _Eval(task, text_of(metadata.get("prompt")) or prompts.get(identity, ""))


def _tell_names_apart(results: ToolResults, known: Mapping[str, _Eval]) -> None:
    """Two evals with one name are two tasks: each is called by its folder."""
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for folder, one in known.items():
        folders[one.task].append(folder)
    twice = {name for name, listed in folders.items() if len(listed) > 1}
    if twice:
        for position, run in enumerate(results.runs):
            place = _place(run.place) if run.task in twice else None
            if place is not None:
                results.runs[position] = run._replace(task=place.eval_folder.rpartition("/")[2])


# Names and texts


def _evals(tree: ResultTree, workspace: _Workspace) -> Mapping[str, Any]:
    """The evals.json of the skill, in the workspace or beside it."""
    for name in (f"{workspace.prefix}evals/evals.json", f"{workspace.prefix}evals.json", "evals/evals.json"):
        if name in tree:
            return _document(tree, name)
    if not tree.on_disk:
        return {}
    root = _workspace_path(tree, workspace)
    for path in (
        root.parent / root.name.removesuffix("-workspace") / "evals" / "evals.json",
        root.parent / "evals.json",
    ):
        if path.is_file() and not path.is_symlink():
            try:
                return object_of(parsed(read_bytes(path), path))
            except InputError:
                return {}
    return {}


def _skill_name(
    tree: ResultTree, workspace: _Workspace, metadata: Mapping[str, Any], evals: Mapping[str, Any], results: ToolResults
) -> str:
    for name in (text_of(metadata.get("skill_name")), text_of(evals.get("skill_name"))):
        if not is_placeholder(name):
            return name
    folder = _workspace_path(tree, workspace).name
    guess = folder.removesuffix("-workspace")
    if guess and guess != folder:
        results.notes.append(f"took {guess!r} as the skill, from the name of the folder {folder}")
        return guess
    return ""


def _workspace_path(tree: ResultTree, workspace: _Workspace) -> Path:
    path = tree.root.absolute() / workspace.prefix
    return path.parent if not workspace.prefix and _ITERATION.match(path.name) else path


def _skill_text(tree: ResultTree, workspace: _Workspace, skill: str) -> Any:
    return skill_beside(tree, skill) if skill else None


def _document(tree: ResultTree, name: str) -> Mapping[str, Any]:
    return tree.json_object(name) if name in tree else {}


# benchmark.json by itself


def _read_benchmark(tree: ResultTree, name: str, said: Defaults, results: ToolResults) -> None:
    """The runs of a benchmark.json without the gradings it was made of."""
    document = tree.json_object(name)
    metadata = object_of(document.get("metadata"))
    skill, model = text_of(metadata.get("skill_name")), text_of(metadata.get("executor_model"))
    skill = "" if is_placeholder(skill) else skill
    for position, row in enumerate(_benchmark_runs(document)):
        result = object_of(row.get("result"))
        outcome = _outcome({"summary": result, "expectations": list_of(row.get("expectations")) or None}, said.score)
        identity = text_of(row.get("eval_id"))
        results.runs.append(
            ToolRun(
                text_of(row.get("eval_name")) or (f"eval-{identity}" if identity else f"eval {position}"),
                text_of(row.get("configuration")),
                outcome,
                status="completed" if outcome is not None else "grader_error",
                reason="no assertion of the run is graded",
                repeat=int(max((amount_of(row.get("run_number")) or 1) - 1, 0)),
                suite=skill or said.skill,
                skill=skill,
                model=model,
                seconds=spent_of(result.get("time_seconds")),
                place=f"{name}: runs[{position}]",
            )
        )
    if results.runs:
        results.notes.append("tokens of benchmark.json may be output characters and are left out; timing.json has them")


def _benchmark_runs(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [row for row in objects_of(document.get("runs")) if "configuration" in row and "result" in row]


def _is_trigger_result(document: Mapping[str, Any]) -> bool:
    rows = objects_of(document.get("results"))
    return bool(rows) and "should_trigger" in rows[0] and "query" in rows[0]


def _is_named(name: str, wanted: str) -> bool:
    return name == wanted or name.endswith(f"/{wanted}")


FORMAT = ToolFormat(
    name="skill-creator",
    title="skill-creator and agentskills.io workspaces",
    description="a workspace with a folder per eval, arm and run; the share of assertions that passed is the outcome",
    looks_for="eval-*/with_skill/[run-*/]grading.json and without_skill beside it, or a benchmark.json with runs",
    found=found,
    read=read,
)
