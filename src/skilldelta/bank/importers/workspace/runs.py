"""The graded runs of a workspace: each with its arm, evaluation, iteration, skill and model, each once.

What the files say of one run in two places is joined, copies are told from repetitions, and what nobody can tell is left out with
its reason. Nothing is guessed.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.tools.plain_values import text_of
from skilldelta.bank.importers.workspace import clues
from skilldelta.bank.importers.workspace.arm_words import ArmName, Meaning, arm_of_name, plain_words
from skilldelta.bank.importers.workspace.clues import ArmClue, ConflictingCluesError, Level, Spending
from skilldelta.bank.importers.workspace.gradings import Assertion, Fields, Grading
from skilldelta.bank.importers.workspace.workspace_files import WorkspaceFiles, prompt_of

_ERRORS = frozenset(("error", "errored", "infrastructure_failure", "infra_error", "crashed", "timeout", "timed_out"))
_MOST_ABOVE = 4


@dataclass(slots=True, eq=False)
class GradedRun:
    """One graded run of a workspace, in the words of its files."""

    place: str
    file: str
    arm: str
    meaning: Meaning
    assertions: tuple[Assertion, ...]
    rate: float | None
    eval_id: str = ""
    name: str = ""
    folder_name: str = ""
    text: str = ""
    skill: str = ""
    model: str = ""
    iteration: str = ""
    """The folder or field that says which version of the skill was run; of a re-run, the iteration that it repeats."""
    version: str = ""
    """As recorded, where it is."""
    is_rerun: bool = False
    number: int | None = None
    spent: Spending = field(default_factory=Spending)
    time: float | None = None
    error: str = ""
    is_summary: bool = False
    """Whether the file holds several runs, so that it may be older than the gradings it was made of."""
    content: int = 0
    """A hash of what the grading holds, byte by byte."""
    task: str = ""
    """Which evaluation it is, once all runs are known."""
    ungraded: int = 0
    has_unknown_arm: bool = False
    """Whether `arm` is a name that a person has to explain."""

    @property
    def outcome(self) -> float | None:
        """The share of assertions that passed."""
        if self.assertions:
            return sum(assertion.passed for assertion in self.assertions) / len(self.assertions)
        return self.rate

    @property
    def verdicts(self) -> tuple[Any, ...]:
        """What two records of one run have in common."""
        return tuple(sorted((assertion.key, assertion.passed) for assertion in self.assertions)) or (self.rate,)


@dataclass(slots=True)
class WorkspaceRuns:
    """All runs, and what became of everything else."""

    runs: list[GradedRun] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    without_arm: list[tuple[str, GradedRun]] = field(default_factory=list)
    """Runs of no known arm, with the name of a folder or field that may be one."""
    copies: list[tuple[str, str]] = field(default_factory=list)
    """Records of runs that stand elsewhere: the place, and the place of the run."""

    def leave_out(self, reason: str, place: str) -> None:
        self.left_out.setdefault(reason, []).append(place)


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
    weak_pairs = _weak_pairs(candidates)
    for (name, grading, levels, is_summary), arm_clues in zip(observed, candidates, strict=True):
        place = f"{name}: {grading.place}" if grading.place else name
        try:
            arm = clues.chosen_arm(arm_clues, weak_pairs)
        except ConflictingCluesError as error:
            workspace.leave_out(f"it is not clear which arm it is ({error})", place)
            continue
        if condition is not None:
            arm = arm or ArmClue(ArmName("skip" if condition == "skip" else "use"), condition, "folder", "")
        if is_summary and not grading.assertions and not any(clues.eval_clue(_inside(levels))):
            continue  # a mean over evaluations
        run = _run(files, name, grading, levels, arm, is_summary, place)
        if arm is None:
            if grading.assertions:  # a rate without an arm is a mean
                workspace.without_arm.append((_possible_arm(levels), run))
        elif not (run.eval_id or run.name or run.folder_name):
            if grading.assertions:
                workspace.leave_out("nothing says which evaluation it is", place)
        elif run.meaning == "use" and (missing := clues.skill_was_missing(levels)):
            workspace.leave_out(f"the run says that its skill was not there ({missing})", place)
        else:
            workspace.runs.append(run)
    _settle_unknown_arms(workspace)
    _settle_iterations(workspace)
    _name_skills(tree, files, workspace)
    _add_prompts(files, workspace)
    _name_tasks(workspace.runs)
    _tell_groups_apart(workspace)
    _drop_repeated(workspace)
    return workspace


def _is_summary(name: str, gradings: Sequence[Grading]) -> bool:
    """Whether a file gathers runs that may be graded elsewhere, too."""
    return len(gradings) > 1 or "benchmark" in name.rpartition("/")[2].lower() or "[" in gradings[0].place


# What says whose a grading is


def _levels(files: WorkspaceFiles, name: str, grading: Grading, above: tuple[str, ...]) -> list[Level]:
    levels: list[Level] = []
    for key, fields in grading.levels:
        levels.append(Level("object", key if key.startswith("[") else "", fields))
        inner = fields.get("metadata")
        if isinstance(inner, dict):
            levels.append(Level("object", "", inner))
        if key and not key.startswith("["):
            levels.append(Level("key", key))
    path = clues.file_clues(name, above)
    levels.append(Level("file", path.stem))
    folder = name.rpartition("/")[0]
    levels += [Level("beside", "", fields) for _, fields in files.metadata_near(name, up_to=_task_root(folder))]
    return levels + [Level("folder", part) for part in path.folders if part]


def _task_root(folder: str) -> str:
    """The highest folder that may belong to the evaluation of a run: the one below its iteration."""
    parts = folder.split("/")
    for position in range(len(parts) - 1, -1, -1):
        if clues.is_iteration(parts[position]):
            return "/".join(parts[: position + 1])
    return "/".join(parts[: max(1, len(parts) - 3)])


def _inside(levels: Sequence[Level]) -> list[Level]:
    return [level for level in levels if level.kind in ("object", "key")]


def _for_arms(levels: Sequence[Level]) -> list[Level]:
    """Metadata is copied between arms more often than folders are: it is asked last, and the folders above arms never."""
    own = [level for level in levels if level.kind != "beside"]
    iteration = next(
        (at for at, level in enumerate(own) if level.kind == "folder" and clues.is_iteration(level.name)), None
    )
    return own[:iteration] + [level for level in levels if level.kind == "beside"]


def _weak_pairs(candidates: Iterable[Sequence[ArmClue]]) -> frozenset[tuple[str, str]]:
    """Kinds of places and rests of names in which weak words for both arms stand."""
    meanings: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for arm_clues in candidates:
        for clue in arm_clues:
            if not clue.arm.is_sure:
                meanings[clue.kind, clue.arm.rest].add(clue.arm.meaning)
    return frozenset(place for place, readings in meanings.items() if len(readings) > 1)


def _possible_arm(levels: Sequence[Level]) -> str:
    """The field or folder that may name the arm of a run, where nothing known does; "" where nothing can."""
    for level in levels:
        if level.kind == "object" and level.fields is not None:
            for key in ("configuration", "arm", "variant", "config", "condition"):
                if name := text_of(level.fields.get(key)):
                    return name
    folders = [level.name for level in levels if level.kind == "folder"]
    own = [name for name in folders if not clues.is_generic(name) and not clues.is_run_folder(name)]
    return own[0] if own and not clues.is_iteration(own[0]) else ""


def _settle_unknown_arms(workspace: WorkspaceRuns) -> None:
    """A name that stands where others have an arm, or in several evaluations, is asked about; other runs are left out."""
    arm_folders = {_above(run.file, run.arm) for run in workspace.runs}
    places: defaultdict[str, set[str]] = defaultdict(set)
    for name, run in workspace.without_arm:
        places[name].add(_above(run.file, name))
    several = {name for name, above in places.items() if len(above) > 1 or above & arm_folders}
    # The same two or more names in one place, and none of them an evaluation with arms below.
    if not workspace.runs and len(places) > 1 and len(set.union(*places.values())) == 1:
        several |= places.keys()
    for name, run in workspace.without_arm:
        if name and name in several:
            run.arm, run.has_unknown_arm = name, True
            if run.folder_name == name:
                run.folder_name = ""
            workspace.runs.append(run)
        else:
            workspace.leave_out("nothing says whether the skill was used", run.place)


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
    evaluation = clues.eval_clue(levels)
    if is_summary and (evaluation.eval_id or evaluation.name):
        evaluation = evaluation._replace(folder="")  # a summary's own folder names none of its evaluations
    folder, field_ = clues.iteration(levels)
    own = [level.fields for level in levels if level.kind == "object" and level.fields]
    # A benchmark's numbers are of the run only in the objects inside it.
    inside = own if not is_summary else [fields for key, fields in grading.levels[:-1] if fields]
    folder_of_run = name.rpartition("/")[0]
    beside = [level.fields for level in levels if level.kind == "beside" and level.fields]
    nearby = (
        []
        if is_summary
        else [*files.timing_near(name, up_to=_arm_folder(folder_of_run, arm)), *_same_stem(files, name)]
    )
    is_benchmark_row = is_summary and any("result" in fields or "configuration" in fields for fields in inside)
    spent = clues.spending([*nearby, *inside], trust_tokens=not is_benchmark_row)
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
        folder_name=evaluation.folder,
        text=evaluation.text,
        skill=clues.skill_name(levels) or clues.skill_name(scope),
        model=clues.model_name(levels) or clues.model_name(scope),
        iteration=_iteration(folder, field_, arm),
        version=clues.recorded_version(levels),
        is_rerun=clues.base_of_rerun(folder) != folder,
        number=clues.run_number(levels),
        spent=spent,
        time=clues.recorded_time([*nearby, *inside, *own, *beside, *(level.fields or {} for level in scope)]),
        error="the run ended in an error" if error or status in _ERRORS else "",
        is_summary=is_summary,
        content=files.contents[name]
        if not is_summary
        else hash(json.dumps(grading.lists, sort_keys=True, default=str)),
        ungraded=grading.ungraded,
    )


def _same_stem(files: WorkspaceFiles, name: str) -> list[Fields]:
    """The configuration of the same run: `eval-7-config.json` beside `eval-7-grading.json`."""
    folder = name.rpartition("/")[0]
    return [fields for other, fields in files.metadata_near(name, up_to=folder)]


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
    while True:
        for other in files.by_folder.get(folder, ()):
            if not re.search(r"benchmark|workspace|summary", other.rpartition("/")[2], re.IGNORECASE):
                continue
            document = files.documents[other]
            for fields in (document.get("metadata"), document):
                if isinstance(fields, dict):
                    plain = {key: value for key, value in fields.items() if not isinstance(value, dict | list)}
                    if not is_own:
                        plain = {key: value for key, value in plain.items() if key in ("skill_name", "skill")}
                    levels.append(Level("scope", "", plain))
        if not folder:
            return levels
        if iteration and folder.rpartition("/")[2] == iteration:
            is_own = False
        folder = folder.rpartition("/")[0]


def _iteration(folder: str, field_: str, arm: ArmClue | None) -> str:
    """The version of a run as far as names say it; a folder and a field that contradict each other are settled later."""
    if arm is not None and arm.arm.version:
        return f"\0{arm.arm.version}\0{clues.base_of_rerun(folder)}"
    return f"{clues.base_of_rerun(folder)}\0{field_}" if folder and field_ else clues.base_of_rerun(folder) or field_


def _settle_iterations(workspace: WorkspaceRuns) -> None:
    """One name per iteration: the folder's, which `iter4`, `4` and `iteration-4` in fields and parentheses mean, too."""
    folders = {run.iteration.partition("\0")[0] for run in workspace.runs} | {
        run.iteration.rpartition("\0")[2] for run in workspace.runs if run.iteration.startswith("\0")
    }
    by_tail = {_tail(name): name for name in sorted(folders) if name}
    settled = []
    for run in workspace.runs:
        if run.iteration.startswith("\0"):
            _, version, folder = run.iteration.split("\0")
            inner = re.search(r"iter\w*[-_ ]?(\d+)", version)
            iteration = by_tail.get(_tail(version)) or (by_tail.get(inner[1]) if inner else None)
            run.iteration = iteration or (f"{folder}/{version}" if folder else version)
        elif "\0" in run.iteration:
            folder, field_ = run.iteration.split("\0")
            stated = by_tail.get(_tail(clues.base_of_rerun(field_)))
            if stated is not None and stated != folder and run.meaning == "use":
                reason = "it is not clear which iteration it is of"
                workspace.leave_out(f"{reason} (the folder says {folder!r}, the file {field_!r})", run.place)
                continue
            run.iteration = folder
        settled.append(run)
    workspace.runs = settled


def _tail(name: str) -> str:
    """`4` of iteration-4, iter4 and 4; `master` of iteration-master."""
    return re.sub(r"\A(?:iteration|iter|it|version|ver|v|round)[-_ ]?", "", name.strip().lower())


# Which skill


def _name_skills(tree: ResultTree, files: WorkspaceFiles, workspace: WorkspaceRuns) -> None:
    """The skill of runs that do not say it: of the other runs of their workspace, of the definitions, or of the folder."""
    skills_by_workspace: defaultdict[str, set[str]] = defaultdict(set)
    for run in workspace.runs:
        if run.skill:
            skills_by_workspace[_workspace(run)].add(run.skill)
    from_folder: set[str] = set()
    for run in workspace.runs:
        if run.skill:
            continue
        folder = f"{run.file.rpartition('/')[0]}/"
        near = {
            definition.skill
            for definition in files.definitions
            if definition.skill and _covers(definition.folder, folder)
        }
        candidates = skills_by_workspace[_workspace(run)] or near
        if len(candidates) == 1:
            run.skill = next(iter(candidates))
        elif not candidates:
            run.skill = _skill_of_folder(tree, run)
            from_folder.add(run.skill)
    for name in sorted(from_folder - {""}):
        workspace.notes.append(f"took {name!r} as the skill, from the name of its folder")


def _covers(folder: str, below: str) -> bool:
    return folder == ".." or below.startswith(folder.removesuffix("evals"))


def _workspace(run: GradedRun) -> str:
    """The folder that holds the iterations of a run's workspace."""
    parts = run.file.split("/")[:-1]
    for position, part in enumerate(parts):
        if clues.is_iteration(part):
            return "/".join(parts[:position])
    return "/".join(parts[:-2])


def _skill_of_folder(tree: ResultTree, run: GradedRun) -> str:
    above = [part for part in Path(tree.root.absolute()).parts if part != "/"][-3:]
    above = above[:-1] if tree.is_file else above
    inside = run.file.split("/")[:-1]
    for parts, is_inside in ((inside, True), (above, False)):
        for position in range(len(parts) - 1, -1, -1):
            part = parts[position]
            if part.endswith("-workspace"):
                return part.removesuffix("-workspace")
            folder = "/".join(parts[: position + 1])
            if is_inside and f"{folder}/SKILL.md" in tree and not re.search(r"snapshot|outputs?$|old_skill", part):
                return part
            after = parts[position + 1] if position + 1 < len(parts) else ""
            if (
                after in ("evals", "eval", "workspace", "evaluations")
                and not clues.is_iteration(part)
                and part != "skills"
            ):
                return part
    return ""


# Which evaluations are one


def _add_prompts(files: WorkspaceFiles, workspace: WorkspaceRuns) -> None:
    """Prompts out of the files that define evaluations, for runs that do not have them."""
    for run in workspace.runs:
        if not run.text or not run.name:
            keys = [run.eval_id, run.name, run.folder_name]
            text, name = prompt_of(files.definitions, run.file.rpartition("/")[0], run.skill, keys)
            if not run.text:
                run.text = text
            if not run.name and text and " ".join(text.split()) == _plain_text(run):
                run.name = name


def _name_tasks(runs: Sequence[GradedRun]) -> None:
    """Give each run the name of its evaluation: one for all runs of the same id and text, or the same name and text."""
    links: dict[int, int] = {}

    def root(at: int) -> int:
        while links.get(at, at) != at:
            at = links[at]
        return at

    by_key: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for at, run in enumerate(runs):
        links[at] = at
        for kind, name in (
            ("id", run.eval_id),
            ("name", _bare_name(run.name)),
            ("name", _bare_name(run.folder_name)),
        ):
            if name:
                by_key[run.skill, kind, name].append(at)
    for members in by_key.values():
        _link(runs, members, links, root)
    groups: defaultdict[int, list[GradedRun]] = defaultdict(list)
    for at, run in enumerate(runs):
        groups[root(at)].append(run)
    taken: set[tuple[str, str, str]] = set()
    for group in groups.values():
        name = next((run.name for run in sorted(group, key=lambda run: run.is_summary) if run.name), "")
        name = name or next((run.folder_name for run in group if run.folder_name), "")
        name = name or f"eval-{next((run.eval_id for run in group if run.eval_id), '')}"
        text = next((run.text for run in group if run.text), "")
        if (group[0].skill, name, text) in taken:  # another evaluation of the same name, which only its id tells apart
            name = f"{name}-{next((run.eval_id for run in group if run.eval_id), len(taken))}"
        taken.add((group[0].skill, name, text))
        for run in group:
            run.task, run.text = name, text


def _link(runs: Sequence[GradedRun], members: Sequence[int], links: dict[int, int], root: Any) -> None:
    """Join runs of one id or name whose texts and other names do not contradict each other."""
    leaders: list[int] = []
    # Those with the most to compare first, so that a run without a text does not join two different texts.
    for at in sorted(members, key=lambda member: (not runs[member].text, not runs[member].name)):
        same = [other for other in leaders if _may_be_one(runs[at], runs[other])]
        if not runs[at].text and len({_plain_text(runs[other]) for other in same}) > 1:
            # A run without a text is of the evaluation that its own iteration has under that name.
            iterations = {
                root(other): other for other in members if _same_place(runs[at], runs[other]) and runs[other].text
            }
            same = [other for other in same if root(other) in iterations] if len(iterations) == 1 else []
        if same:
            links[root(at)] = root(same[0])
        else:
            leaders.append(at)


def _bare_name(name: str) -> str:
    """A name without the word that says what it names: `eval-sum` is `sum`."""
    return re.sub(r"\A(?:eval|case|test|task)_(?=\D)", "", plain_words(name))


def _plain_text(run: GradedRun) -> str:
    return " ".join(run.text.split())


def _same_place(a: GradedRun, b: GradedRun) -> bool:
    return a.iteration == b.iteration and _workspace(a) == _workspace(b)


def _may_be_one(a: GradedRun, b: GradedRun) -> bool:
    if a.text and b.text and _plain_text(a) != _plain_text(b):
        return False
    if a.eval_id and b.eval_id and a.eval_id != b.eval_id:
        return False
    # Within one iteration an id is one evaluation, however a summary words its name.
    if a.eval_id and a.eval_id == b.eval_id and _same_place(a, b):
        return True
    names = [_bare_name(run.name or ("" if run.eval_id else run.folder_name)) for run in (a, b)]
    same_text = bool(a.text and b.text)
    return same_text or not all(names) or names[0] == names[1]


def _tell_groups_apart(found: WorkspaceRuns) -> None:
    """Folders that hold runs of the same tasks and are no iterations: models where they are called so, else versions."""
    groups: defaultdict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
    for run in found.runs:
        if not run.is_summary:
            groups[run.skill, run.task, run.text, run.meaning, run.iteration, run.model][_group(run)] = None
    several = {group for listed in groups.values() if len(listed) > 1 for group in listed}
    for run in found.runs:
        group = _group(run)
        if run.is_summary or group not in several or not group:
            continue
        if _MODEL.search(group) and not run.model:
            run.model = group
        else:
            run.iteration = f"{run.iteration}/{group}" if run.iteration else group
    if named := sorted(several - {""}):
        found.notes.append(f"the folders {', '.join(named[:6])} hold runs of the same tasks, and are kept apart")


_MODEL = re.compile(
    r"claude|opus|sonnet|haiku|fable|gpt|gemini|llama|qwen|mistral|deepseek|codex|kimi|glm|grok|\bo[134]\b",
    re.IGNORECASE,
)


def _group(run: GradedRun) -> str:
    """The folders of a run that are neither its arm, its task, its iteration nor a run."""
    own = {
        plain_words(name) for name in (run.folder_name, run.name, run.task, run.skill, f"eval-{run.eval_id}") if name
    }
    parts = []
    for part in run.file.split("/")[:-1]:
        is_named = clues.is_generic(part) or clues.is_iteration(part) or clues.is_run_folder(part)
        is_task = (
            plain_words(part) in own or plain_words(part).removeprefix("eval_") in own or clues.is_numbered_eval(part)
        )
        if not is_named and not is_task and part != run.arm and arm_of_name(part) is None:
            parts.append(part)
    return "/".join(parts)


# Each run once


def _drop_repeated(workspace: WorkspaceRuns) -> None:
    """Records of one run in several places become one; a summary gives way to the gradings that it was made of."""
    distinct: list[GradedRun] = []
    by_run: defaultdict[tuple[str, ...], list[GradedRun]] = defaultdict(list)
    ordered = sorted(workspace.runs, key=lambda run: (run.is_summary, run.time or 0.0, run.iteration, run.place))
    _refuse_two_gradings_of_one_run(workspace)
    ordered = [run for run in ordered if run in workspace.runs] if len(ordered) != len(workspace.runs) else ordered
    graded_places = {_place_of(run) for run in ordered if not _is_benchmark(run)}
    for run in ordered:
        same_task = by_run[run.skill, run.task, run.text, run.meaning]
        twin = next((other for other in same_task if _is_copy(run, other)), None)
        if twin is not None:
            workspace.copies.append((run.place, twin.place))
            twin.spent = Spending(*(a or b for a, b in zip(twin.spent, run.spent, strict=True)))
            same_task.append(run)  # so that a summary of the copy is known, too
            continue
        if run.is_summary and (
            graded := [other for other in same_task if not other.is_summary and _same_slot(run, other)]
        ):
            workspace.leave_out(
                "a summary says otherwise than the grading, which counts", f"{run.place} ({graded[0].place})"
            )
            continue
        if _is_benchmark(run) and _place_of(run) in graded_places:
            workspace.leave_out("a benchmark lists it beside gradings, and no grading of it is there", run.place)
            continue
        same_task.append(run)
        distinct.append(run)
    places = {run.place: at for at, run in enumerate(workspace.runs)}
    workspace.runs = sorted(distinct, key=lambda run: places[run.place])


def _is_benchmark(run: GradedRun) -> bool:
    return "benchmark" in run.file.rpartition("/")[2].lower()


def _place_of(run: GradedRun) -> tuple[str, str, str]:
    return _workspace(run), run.iteration if run.meaning == "use" else "", run.meaning


def _refuse_two_gradings_of_one_run(workspace: WorkspaceRuns) -> None:
    """Two files in one folder that grade the same run differently: nobody can tell which one counts."""
    slots: defaultdict[tuple[object, ...], list[GradedRun]] = defaultdict(list)
    for run in workspace.runs:
        if not run.is_summary:
            folder = run.file.rpartition("/")[0]
            slots[folder, run.skill, run.task, run.text, run.meaning, run.arm, run.number].append(run)
    for runs in slots.values():
        if len({run.verdicts for run in runs}) > 1:
            for run in runs:
                others = ", ".join(sorted({other.file.rpartition("/")[2] for other in runs if other is not run}))
                workspace.leave_out(f"another file of its folder grades the same run otherwise ({others})", run.place)
            workspace.runs = [run for run in workspace.runs if run not in runs]


def _same_slot(a: GradedRun, b: GradedRun) -> bool:
    if a.iteration != b.iteration or (a.model and b.model and a.model != b.model):
        return False
    return a.number is None or b.number is None or a.number == b.number


def _is_copy(run: GradedRun, other: GradedRun) -> bool:
    """Whether two records are of one run: equal verdicts with equal tokens and seconds, or equal to the byte without them."""
    if run.model and other.model and run.model != other.model:
        return False
    if run.file != other.file and (run.is_summary or other.is_summary):
        return _is_summary_of(run, other)
    if run.verdicts != other.verdicts:
        return False
    is_numbered = run.number is not None and other.number is not None and run.number != other.number
    if is_numbered and run.iteration == other.iteration and _arm_of(run) == _arm_of(other):
        return False
    measured = run.spent.tokens and run.spent.seconds and other.spent.tokens and other.spent.seconds
    if measured:
        return run.spent[:2] == other.spent[:2]
    if run.spent.tokens and other.spent.tokens and run.spent.tokens != other.spent.tokens:
        return False
    # Numbered runs of one arm may well have equal gradings; under two names the same bytes are the same run.
    return run.file != other.file and run.content == other.content and not is_numbered and bool(run.assertions)


def _arm_of(run: GradedRun) -> str:
    """The folder that holds the numbered runs of an arm."""
    parts = run.file.split("/")[:-1]
    return "/".join(parts[: parts.index(run.arm) + 1] if run.arm in parts else parts[:-1])


def _is_summary_of(run: GradedRun, other: GradedRun) -> bool:
    """Whether a row of a summary repeats a run: in the same slot with the same share, or elsewhere with the same verdicts."""
    outcomes = run.outcome, other.outcome
    if None in outcomes or abs(outcomes[0] - outcomes[1]) > 0.0051:  # type: ignore[operator]
        return False
    if _same_slot(run, other):
        return not (run.assertions and other.assertions) or _agree(run, other)
    if run.assertions and other.assertions and run.verdicts == other.verdicts:
        return run.content == other.content or bool(
            run.spent.seconds and other.spent.seconds and abs(run.spent.seconds - other.spent.seconds) < 0.1
        )
    return False


def _agree(run: GradedRun, other: GradedRun) -> bool:
    return len(run.assertions) == len(other.assertions)
