"""The graded runs of a workspace: each with its arm, evaluation, iteration, skill and model, each once.

What the files say of one run in two places is joined, copies are told from repetitions, and what nobody can tell is left out with
its reason. Nothing is guessed.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.tools.plain_values import text_of
from skilldelta.bank.importers.workspace import clues
from skilldelta.bank.importers.workspace.arm_words import ArmName
from skilldelta.bank.importers.workspace.assertions import Fields
from skilldelta.bank.importers.workspace.clues import ArmClue, ConflictingCluesError, Level
from skilldelta.bank.importers.workspace.evaluations import add_prompts, name_tasks, tell_groups_apart
from skilldelta.bank.importers.workspace.graded_run import GradedRun, WorkspaceRuns
from skilldelta.bank.importers.workspace.gradings import Grading
from skilldelta.bank.importers.workspace.iterations import settle_iterations
from skilldelta.bank.importers.workspace.path_words import (
    base_of_rerun,
    is_case,
    is_generic,
    is_iteration,
    is_run_folder,
)
from skilldelta.bank.importers.workspace.places import choose_places
from skilldelta.bank.importers.workspace.repeats import drop_repeated
from skilldelta.bank.importers.workspace.skill_names import name_skills
from skilldelta.bank.importers.workspace.spending import recorded_time, spending
from skilldelta.bank.importers.workspace.workspace_files import WorkspaceFiles

_ERRORS = frozenset(("error", "errored", "infrastructure_failure", "infra_error", "crashed", "timeout", "timed_out"))
_NOT_RUN = frozenset(
    (
        *("not_run", "not run", "skipped", "missing", "cancelled", "canceled", "aborted", "pending", "incomplete"),
        *("not_executed", "not executed", "no_output", "no output", "blocked"),
    )
)
_MOST_ABOVE = 4


def find_runs(
    tree: ResultTree, files: WorkspaceFiles, *, arms: Mapping[str, str], condition: str | None
) -> WorkspaceRuns:
    """Every graded run, each once; `arms` explains names of arms, `condition` is the arm of all runs."""
    workspace = WorkspaceRuns()
    above = tuple(part for part in reversed(Path(tree.root.absolute()).parts[-_MOST_ABOVE:]) if part != "/")
    above = above[1:] if tree.is_file else above
    observed = [
        (name, grading, _levels(files, name, grading, above), _is_summary(name, gradings))
        for name, gradings in files.gradings
        for grading in gradings
    ]
    candidates = [list(clues.arm_clues(_for_arms(levels), arms)) for _, _, levels, _ in observed]
    weak_pairs = _weak_pairs([name for name, *_ in observed], candidates)
    for (name, grading, levels, is_summary), arm_clues in zip(observed, candidates, strict=True):
        place = f"{name}: {grading.place}" if grading.place else name
        try:
            arm = clues.chosen_arm([clue for clue in arm_clues if _is_certain(name, clue, weak_pairs)])
        except ConflictingCluesError as error:
            workspace.leave_out(f"it is not clear which arm it is ({error})", place)
            continue
        if condition is not None:
            arm = arm or ArmClue(ArmName("skip" if condition == "skip" else "use"), condition, "folder", "")
        if is_summary and not grading.assertions and not any(clues.eval_clue(_inside(levels), arm)):
            continue  # a mean over evaluations
        run = _run(files, name, grading, levels, arm, is_summary, place)
        if arm is None:
            if grading.assertions:  # a rate without an arm is a mean
                workspace.without_arm.append((_possible_arm(levels), run))
        elif not (run.eval_id or run.name or run.places):
            if grading.assertions:
                workspace.leave_out("nothing says which evaluation it is", place)
        elif run.meaning == "use" and run.missing_skill:
            workspace.leave_out(f"the run says that its skill was not there ({run.missing_skill})", place)
        else:
            workspace.runs.append(run)
    _settle_unknown_arms(workspace)
    name_skills(tree, files, workspace)
    choose_places(workspace)
    settle_iterations(workspace)
    add_prompts(files, workspace)
    name_tasks(workspace.runs)
    tell_groups_apart(workspace)
    drop_repeated(workspace)
    return workspace


def _is_summary(name: str, gradings: Sequence[Grading]) -> bool:
    """Whether a file gathers runs that may be graded elsewhere, too."""
    return len(gradings) > 1 or "benchmark" in name.rpartition("/")[2].lower() or "[" in gradings[0].place


# What says whose a grading is


def _levels(files: WorkspaceFiles, name: str, grading: Grading, above: tuple[str, ...]) -> list[Level]:
    levels: list[Level] = []
    for (key, fields), (holder, _) in zip_longest(grading.levels, grading.levels[1:], fillvalue=("", {})):
        levels.append(Level("object", key if key.startswith("[") else "", fields))
        inner = fields.get("metadata")
        if isinstance(inner, dict):
            levels.append(Level("object", "", inner))
        if key and not key.startswith("["):
            levels.append(Level("case" if is_case(key, holder) else "key", key))
    path = clues.file_clues(name, above)
    levels.append(Level("file", path.stem))
    folder = name.rpartition("/")[0]
    levels += [Level("beside", "", fields) for _, fields in files.metadata_near(name, up_to=_task_root(folder))]
    return levels + [Level("folder", part) for part in path.folders if part]


def _task_root(folder: str) -> str:
    """The highest folder that may belong to the evaluation of a run: the one below its iteration."""
    parts = folder.split("/")
    for position in range(len(parts) - 1, -1, -1):
        if is_iteration(parts[position]):
            return "/".join(parts[: position + 1])
    return "/".join(parts[: max(1, len(parts) - 3)])


def _inside(levels: Sequence[Level]) -> list[Level]:
    return [level for level in levels if level.kind == "object" or level.is_key]


def _for_arms(levels: Sequence[Level]) -> list[Level]:
    """Metadata is copied between arms more often than folders are: it is asked last, and the folders above arms never."""
    own = [level for level in levels if level.kind != "beside"]
    iteration = next((at for at, level in enumerate(own) if level.kind == "folder" and is_iteration(level.name)), None)
    return own[:iteration] + [level for level in levels if level.kind == "beside"]


def _weak_pairs(names: Sequence[str], candidates: Iterable[Sequence[ArmClue]]) -> frozenset[tuple[str, str, str]]:
    """Where a weak word has its counterpart: kinds of places, rests of names and, beside a sure word, the folder."""
    weak: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    meanings: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for name, arm_clues in zip(names, candidates, strict=True):
        for clue in arm_clues:
            place = (clue.kind, clue.arm.rest, _above(name, clue.name) if clue.kind == "folder" else name)
            meanings[place].add(clue.arm.meaning)
            if not clue.arm.is_sure:
                weak[clue.kind, clue.arm.rest].add(clue.arm.meaning)
    everywhere = {(*place, "") for place, readings in weak.items() if len(readings) > 1}
    return frozenset(everywhere | {place for place, readings in meanings.items() if len(readings) > 1})


def _is_certain(name: str, clue: ArmClue, weak_pairs: frozenset[tuple[str, str, str]]) -> bool:
    """Whether a name is surely an arm's, or has its counterpart in the same place."""
    above = _above(name, clue.name) if clue.kind == "folder" else name
    own = {(clue.kind, clue.arm.rest, ""), (clue.kind, clue.arm.rest, above)}
    return clue.arm.is_sure or not own.isdisjoint(weak_pairs)


def _possible_arm(levels: Sequence[Level]) -> str:
    """The field or folder that may name the arm of a run, where nothing known does; "" where nothing can."""
    for level in levels:
        if level.kind == "object" and level.fields is not None:
            for key in ("configuration", "arm", "variant", "config", "condition"):
                if name := text_of(level.fields.get(key)):
                    return name
    folders = [level.name for level in levels if level.kind == "folder"]
    own = [name for name in folders if not is_generic(name) and not is_run_folder(name)]
    return own[0] if own and not is_iteration(own[0]) else ""


def _settle_unknown_arms(workspace: WorkspaceRuns) -> None:
    """A name that stands where others have an arm, or in several evaluations, is asked about; other runs are left out."""
    arm_folders = {_above(run.file, run.arm) for run in workspace.runs}
    places: defaultdict[str, set[str]] = defaultdict(set)
    for name, run in workspace.without_arm:
        places[name].add(_above(run.file, name))
    evaluations = {place for run in workspace.runs for place in run.places}
    several = {name for name, above in places.items() if len(above) > 1 or above & arm_folders} - evaluations
    # The same two or more names in one place, and none of them an evaluation with arms below.
    if not workspace.runs and len(places) > 1 and len(set.union(*places.values())) == 1:
        several |= places.keys()
    arms = {run.meaning for run in workspace.runs}
    hint = "; --condition use counts such runs as runs with it" if arms == {"skip"} else ""
    for name, run in workspace.without_arm:
        if name and name in several:
            run.arm, run.has_unknown_arm = name, True
            run.places = tuple(place for place in run.places if place != name)
            workspace.runs.append(run)
        else:
            workspace.leave_out(f"nothing says whether the skill was used{hint}", run.place)


def _above(file: str, part: str) -> str:
    """The folder that holds the folder `part` of a file."""
    parts = file.split("/")[:-1]
    return "/".join(parts[: parts.index(part)]) if part in parts else "\0"


def _run(
    files: WorkspaceFiles,
    name: str,
    grading: Grading,
    levels: Sequence[Level],
    arm: ArmClue | None,
    is_summary: bool,
    place: str,
) -> GradedRun:
    evaluation = clues.eval_clue(levels, arm, inside=name.count("/"))
    if is_summary and (evaluation.eval_id or evaluation.name):
        evaluation = evaluation._replace(places=())  # a summary's own folder names none of its evaluations
    folder, field_ = clues.iteration(levels)
    own = [level.fields for level in levels if level.kind == "object" and level.fields]
    # A benchmark's numbers are of the run only in the objects inside it.
    inside = own if not is_summary else [fields for key, fields in grading.levels[:-1] if fields]
    folder_of_run = name.rpartition("/")[0]
    beside = [level.fields for level in levels if level.kind == "beside" and level.fields]
    nearby: list[Fields] = []
    if not is_summary:
        nearby += files.timing_near(name, up_to=_arm_folder(folder_of_run, arm))
        nearby += [fields for _, fields in files.metadata_near(name, up_to=folder_of_run)]
    is_benchmark_row = is_summary and any("result" in fields or "configuration" in fields for fields in inside)
    spent = spending([*nearby, *inside], trust_tokens=not is_benchmark_row)
    status = next((text_of(fields.get("status")).lower() for fields in inside if fields.get("status")), "")
    error = any(fields.get("error") for fields in inside[:1])
    scope = _scope(files, folder_of_run, folder)
    return GradedRun(
        place,
        name,
        arm.name if arm is not None else "",
        arm.arm.meaning if arm is not None else "use",
        grading.assertions,
        grading.rate,
        *evaluation[:2],
        places=evaluation.places,
        text=evaluation.text,
        skill=clues.skill_name(levels) or clues.skill_name(scope),
        model=clues.model_name(levels) or clues.model_name(scope),
        iteration=_iteration(folder, field_, arm),
        version=clues.recorded_version(levels) or clues.recorded_version(scope),
        is_rerun=base_of_rerun(folder) != folder,
        number=clues.run_number(levels),
        spent=spent,
        time=recorded_time([*nearby, *inside, *own, *beside, *(level.fields or {} for level in scope)]),
        error=_error_of(status, has_error=error),
        missing_skill=clues.skill_was_missing([*own, *nearby]),
        folder_is_plain=bool(clues.file_clues(name, ()).stem) and folder_of_run in files.plain_folders,
        is_summary=is_summary,
        content=files.contents[name]
        if not is_summary
        else hash(json.dumps(grading.lists, sort_keys=True, default=str)),
        ungraded=grading.ungraded,
    )


def _error_of(status: str, *, has_error: bool) -> str:
    """Why a run has no outcome, whatever its verdicts say; "" where it has one."""
    if status in _NOT_RUN:
        return f"the run did not take place (status: {status})"
    return "the run ended in an error" if has_error or status in _ERRORS else ""


def _arm_folder(folder: str, arm: ArmClue | None) -> str:
    """The folder of the run's arm, above which timings are of other runs, too."""
    if arm is None or arm.kind != "folder":
        return folder
    parts = folder.split("/")
    while parts and parts[-1] != arm.name:
        parts.pop()
    return "/".join(parts) or folder


def _scope(files: WorkspaceFiles, folder: str, iteration: str) -> list[Level]:
    """What benchmarks above a run say for all runs below them, the nearest first; of models, those of its iteration only."""
    levels: list[Level] = []
    is_own = True
    while files.summaries:
        for other in files.summaries.get(folder, ()):
            document = files.documents[other]
            for fields in (document.get("metadata"), document):
                if isinstance(fields, dict):
                    plain = {key: value for key, value in fields.items() if not isinstance(value, dict | list)}
                    if not is_own:
                        plain = {key: value for key, value in plain.items() if key in ("skill_name", "skill")}
                    levels.append(Level("scope", "", plain))
        if not folder:
            break
        if iteration and folder.rpartition("/")[2] == iteration:
            is_own = False
        folder = folder.rpartition("/")[0]
    return levels


def _iteration(folder: str, field_: str, arm: ArmClue | None) -> str:
    """The version of a run as far as names say it; a folder and a field that contradict each other are settled later."""
    if arm is not None and arm.arm.version:
        return f"\0{arm.arm.version}\0{base_of_rerun(folder)}"
    return f"{base_of_rerun(folder)}\0{field_}" if folder and field_ else base_of_rerun(folder) or field_
