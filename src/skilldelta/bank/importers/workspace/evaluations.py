"""Which runs of a workspace are of one evaluation, and what each evaluation is called and asks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from skilldelta.bank.importers.workspace.arm_words import arm_of_name, plain_words
from skilldelta.bank.importers.workspace.graded_run import GradedRun, WorkspaceRuns
from skilldelta.bank.importers.workspace.path_words import is_generic, is_iteration, is_numbered_eval, is_run_folder
from skilldelta.bank.importers.workspace.places import is_model, share_checks
from skilldelta.bank.importers.workspace.workspace_files import WorkspaceFiles, prompt_of


def add_prompts(files: WorkspaceFiles, workspace: WorkspaceRuns) -> None:
    """Prompts out of the files that define evaluations, for runs that do not have them."""
    for run in workspace.runs:
        if not run.text or not run.name:
            keys = [run.eval_id, run.name, run.folder_name]
            text, name = prompt_of(files.definitions, run.file.rpartition("/")[0], run.skill, keys)
            if not run.text:
                run.text = text
            if not run.name and text and " ".join(text.split()) == _plain_text(run):
                run.name = name


def name_tasks(runs: Sequence[GradedRun]) -> None:
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
    taken: dict[tuple[str, str], tuple[str, str]] = {}
    for group in groups.values():
        name = next((run.name for run in sorted(group, key=lambda run: run.is_summary) if run.name), "")
        name = name or next((run.folder_name for run in group if run.folder_name), "")
        name = name or f"eval-{next((run.eval_id for run in group if run.eval_id), '')}"
        text = next((run.text for run in group if run.text), "")
        place = (_group(group[0]), group[0].iteration)
        before = taken.get((group[0].skill, name))
        if before is not None and before[0] != place[0]:  # frontend/eval-1 and backend/eval-1
            name = "/".join(filter(None, (place[0], name)))
        elif before is not None and not text:  # numbered anew in a later iteration, or told apart by its id only
            name = f"{place[1] or next((run.eval_id for run in group if run.eval_id), len(taken))}/{name}"
        taken[group[0].skill, name] = place
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
    return a.iteration == b.iteration and a.workspace == b.workspace


def _may_be_one(a: GradedRun, b: GradedRun) -> bool:
    if a.text and b.text and _plain_text(a) != _plain_text(b):
        return False
    names = [_bare_name(run.name or ("" if run.eval_id else run.folder_name)) for run in (a, b)]
    has_one_name = bool(names[0]) and names[0] == names[1]
    same_text = bool(a.text and b.text)
    if a.eval_id and b.eval_id and a.eval_id != b.eval_id:
        # Evaluations are numbered anew between iterations; their names and checks stay.
        return has_one_name and a.iteration != b.iteration and (same_text or share_checks(a, b))
    if a.iteration == b.iteration and not same_text and not (a.is_summary or b.is_summary) and _group(a) != _group(b):
        return _have_most_checks_in_common(a, b)
    # Within one iteration an id is one evaluation, however a summary words its name.
    if a.eval_id and a.eval_id == b.eval_id and _same_place(a, b):
        return True
    if not has_one_name and not same_text and not a.is_summary and not b.is_summary and not share_checks(a, b):
        return False
    return same_text or not all(names) or has_one_name


def _have_most_checks_in_common(a: GradedRun, b: GradedRun) -> bool:
    """Whether two folders beside each other hold the same evaluation: eval-1 of two groups may be anything."""
    mine, others = ({check.key for check in run.assertions} for run in (a, b))
    return not mine or not others or 2 * len(mine & others) >= min(len(mine), len(others))


def tell_groups_apart(workspace: WorkspaceRuns) -> None:
    """Folders that hold runs of the same tasks and are no iterations: models where they are called so, else versions."""
    group_of = {id(run): _group(run) for run in workspace.runs if not run.is_summary}
    models = {group for group in group_of.values() if is_model(group)}
    for run in workspace.runs:
        # One folder alone may be called after a model for any reason.
        if len(models) > 1 and group_of.get(id(run), "") in models and not run.model:
            run.model = group_of[id(run)]
    groups: defaultdict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
    for run in workspace.runs:
        if not run.is_summary:
            groups[run.skill, run.task, run.text, run.meaning, run.iteration, run.model][group_of[id(run)]] = None
    several = {group for listed in groups.values() if len(listed) > 1 for group in listed}
    for run in workspace.runs:
        group = group_of.get(id(run), "")
        if group in several and group:
            run.iteration = f"{run.iteration}/{group}" if run.iteration else group
    if named := sorted((several | (models if len(models) > 1 else set())) - {""}):
        workspace.notes.append(f"the folders {', '.join(named[:6])} hold runs of the same tasks, and are kept apart")


def _group(run: GradedRun) -> str:
    """The folders of a run that are neither its arm, its task, its iteration nor a run."""
    own = {
        plain_words(name) for name in (run.folder_name, run.name, run.task, run.skill, f"eval-{run.eval_id}") if name
    }
    parts = []
    for part in run.file.split("/")[:-1]:
        is_named = is_generic(part) or is_iteration(part) or is_run_folder(part)
        is_task = plain_words(part) in own or plain_words(part).removeprefix("eval_") in own or is_numbered_eval(part)
        if not is_named and not is_task and part not in (run.arm, run.grader) and arm_of_name(part) is None:
            parts.append(part)
    return "/".join(parts)
