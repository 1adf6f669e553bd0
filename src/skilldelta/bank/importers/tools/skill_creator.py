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
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.joining import is_placeholder
from skilldelta.bank.importers.result_tree import ResultTree, parsed
from skilldelta.bank.importers.skill_beside import SkillTexts
from skilldelta.bank.importers.tool_run import ArmMeaning, ToolFormat, ToolResults, ToolRun, failed, graded
from skilldelta.bank.importers.tools.plain_values import JsonFields, check_score
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
        document = JsonFields(tree.document)
        if _is_trigger_result(document):
            return "it has the trigger rates of a skill's description"
        return "it is a benchmark.json with runs" if _benchmark_runs(document) else ""
    for name in tree.names:
        if name.endswith("/grading.json") and _place(name) is not None:
            return f"{name} is the grading of a run"
    benchmarks = [name for name in tree.names if _is_named(name, "benchmark.json")]
    if any(_benchmark_runs(_document(tree, name)) for name in benchmarks):
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


class _Place(NamedTuple):
    """Where a run lies: which eval, arm and run its path says."""

    name: str
    eval_folder: str
    arm: str
    run: int


def read(tree: ResultTree, said: Defaults) -> ToolResults:
    """The runs of the newest iteration of each workspace."""
    check_score(tree, said, SCORES)
    if tree.is_file and _is_trigger_result(JsonFields(tree.document)):
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
    with_grading: set[str] = set()
    for name in tree.names:
        place = _place(name) if name.endswith("/grading.json") else None
        if place is not None:
            prefix, number, folder = _iteration(place.eval_folder)
            found[prefix].setdefault(number, _Workspace(prefix, folder)).gradings.append(place)
            with_grading.add(name.removesuffix("grading.json"))
    _add_ungraded(tree, found, with_grading)
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


@lru_cache(maxsize=1024)
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


def _add_ungraded(tree: ResultTree, found: Mapping[str, Mapping[int, _Workspace]], with_grading: set[str]) -> None:
    """Runs that left something and have no grading, in the arms that are known by others."""
    arms = {place.arm for iterations in found.values() for one in iterations.values() for place in one.gradings}
    seen: set[str] = set()
    for name in tree.names:
        if f"{name.rpartition('/')[0]}/" in with_grading:
            continue
        parts = name.split("/")
        position = next((at for at, part in enumerate(parts[:-1]) if part in arms and at), None)
        if position is None:
            continue
        is_run = len(parts) > position + 2 and _RUN.match(parts[position + 1])
        run = "/".join(parts[: position + 2 if is_run else position + 1]) + "/"
        if run in seen or run in with_grading:
            continue
        seen.add(run)
        if not is_run and any(one.startswith(run) for one in with_grading):
            continue
        prefix, number, _ = _iteration("/".join(parts[:position]))
        if number in found.get(prefix, {}):
            found[prefix][number].ungraded.append(run)


# What a workspace says


def _read_workspace(tree: ResultTree, workspace: _Workspace, said: Defaults, results: ToolResults) -> None:
    metadata = _document(tree, f"{workspace.folder}benchmark.json").inner("metadata")
    evals = _evals(tree, workspace)
    skill = _skill_name(tree, workspace, metadata, evals, results)
    digest = SkillTexts(tree, results.skills).digest(skill or said.skill)
    suite = skill or said.skill
    if digest:
        skill = suite
    prompts = {row.text("id"): row.text("prompt") for row in evals.rows("evals")}
    common = ToolRun(
        "", "", None, suite=suite, skill=skill, skill_digest=digest, model=metadata.text("executor_model", "model")
    )
    evals_of: dict[str, ToolRun] = {}
    for place in workspace.gradings:
        if place.eval_folder not in evals_of:
            evals_of[place.eval_folder] = _of_eval(tree, place.eval_folder, prompts, common)
        results.runs.append(_run(tree, place, evals_of[place.eval_folder], said.score))
    for run in workspace.ungraded:
        results.leave_out("the run has no grading.json", run)
    _tell_names_apart(results, evals_of)


def _run(tree: ResultTree, place: _Place, common: ToolRun, score: str) -> ToolRun:
    grading = JsonFields(tree.json(place.name))
    timing, graders = _document(tree, f"{place.name.removesuffix('grading.json')}timing.json"), grading.inner("timing")
    is_error = grading.get("error") or grading.text("status").lower() in _ERRORS
    verdict = graded(_outcome(grading, score), "no assertion of the run is graded")
    outcome, status, reason = failed("the run ended in an error") if is_error else verdict
    return common._replace(
        arm=place.arm,
        outcome=outcome,
        status=status,
        reason=reason,
        repeat=max(place.run - 1, 0),
        tokens=timing.spent("total_tokens"),
        seconds=timing.spent("total_duration_seconds")
        or timing.seconds("duration_ms")
        or graders.spent("executor_duration_seconds")
        or graders.spent("total_duration_seconds"),
        place=place.name,
    )


def _outcome(grading: JsonFields, score: str) -> float | None:
    """The share of assertions that passed, counted where they are listed, else as the summary says."""
    listed = grading.rows("expectations", "assertion_results", "assertions", "results")
    marks = [one.raw.get("passed", one.raw.get("pass")) for one in listed]
    if marks and all(isinstance(mark, bool) for mark in marks):
        share: float | None = marks.count(True) / len(marks)
    else:
        summary = grading.inner("summary") or grading
        passed, total = summary.amount("passed"), summary.spent("total")
        share = passed / total if passed is not None and total is not None and passed <= total else None
        if share is None and summary.amount("total") != 0:
            share = summary.share("pass_rate")
    if share is None or score != "all_passed":
        return share
    return float(share == 1)


def _of_eval(tree: ResultTree, folder: str, prompts: Mapping[str, str], common: ToolRun) -> ToolRun:
    """What the runs of an eval have in common: its name and what it asks."""
    metadata = _document(tree, f"{folder}/eval_metadata.json")
    own = folder.rpartition("/")[2]
    identity = metadata.text("eval_id", "id")
    if not identity and (match := re.match(r"eval[-_](\d+)", own)):
        identity = match[1]
    text = metadata.text("prompt") or prompts.get(identity, "")
    return common._replace(task=metadata.text("eval_name", "name") or own, text=text)


def _tell_names_apart(results: ToolResults, evals_of: Mapping[str, ToolRun]) -> None:
    """Two evals with one name are two tasks: each is called by its folder."""
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for folder, one in evals_of.items():
        folders[one.task].append(folder)
    twice = {name for name, listed in folders.items() if len(listed) > 1}
    if twice:
        for position, run in enumerate(results.runs):
            place = _place(run.place) if run.task in twice else None
            if place is not None:
                results.runs[position] = run._replace(task=place.eval_folder.rpartition("/")[2])


# Names and texts


def _evals(tree: ResultTree, workspace: _Workspace) -> JsonFields:
    """The evals.json of the skill, in the workspace or beside it."""
    for name in (f"{workspace.prefix}evals/evals.json", f"{workspace.prefix}evals.json", "evals/evals.json"):
        if name in tree:
            return _document(tree, name)
    if not tree.on_disk:
        return JsonFields(None)
    root = _workspace_path(tree, workspace)
    skill = root.parent / root.name.removesuffix("-workspace")
    for path in (skill / "evals" / "evals.json", root.parent / "evals.json"):
        if path.is_file() and not path.is_symlink():
            try:
                return JsonFields(parsed(read_bytes(path), path))
            except InputError:
                break
    return JsonFields(None)


def _skill_name(
    tree: ResultTree, workspace: _Workspace, metadata: JsonFields, evals: JsonFields, results: ToolResults
) -> str:
    for name in (metadata.text("skill_name"), evals.text("skill_name")):
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


def _document(tree: ResultTree, name: str) -> JsonFields:
    """The object in a file that may be missing; one that is damaged is a fault."""
    return JsonFields(tree.json(name) if name in tree else None)


# benchmark.json by itself


def _read_benchmark(tree: ResultTree, name: str, said: Defaults, results: ToolResults) -> None:
    """The runs of a benchmark.json without the gradings it was made of."""
    document = _document(tree, name)
    metadata = document.inner("metadata")
    skill = metadata.text("skill_name")
    skill = "" if is_placeholder(skill) else skill
    for position, row in enumerate(_benchmark_runs(document)):
        result, identity = row.inner("result"), row.text("eval_id")
        grading = JsonFields({"summary": result.raw, "expectations": row.values("expectations") or None})
        results.runs.append(
            ToolRun(
                row.text("eval_name") or (f"eval-{identity}" if identity else f"eval {position}"),
                row.text("configuration"),
                *graded(_outcome(grading, said.score), "no assertion of the run is graded"),
                repeat=int(max((row.amount("run_number") or 1) - 1, 0)),
                suite=skill or said.skill,
                skill=skill,
                model=metadata.text("executor_model"),
                seconds=result.spent("time_seconds"),
                place=f"{name}: runs[{position}]",
            )
        )
    if results.runs:
        results.notes.append("tokens of benchmark.json may be output characters and are left out; timing.json has them")


def _benchmark_runs(document: JsonFields) -> list[JsonFields]:
    return [row for row in document.rows("runs") if "configuration" in row and "result" in row]


def _is_trigger_result(document: JsonFields) -> bool:
    rows = document.rows("results")
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
