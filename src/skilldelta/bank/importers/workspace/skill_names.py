"""Which skill the runs of a workspace are of, where they do not say it."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.bank.importers.workspace.graded_run import WorkspaceRuns
from skilldelta.bank.importers.workspace.path_words import is_iteration
from skilldelta.bank.importers.workspace.workspace_files import WorkspaceFiles


def name_skills(tree: ResultTree, files: WorkspaceFiles, workspace: WorkspaceRuns) -> None:
    """The skill of runs that do not say it: of the other runs of their workspace, of the definitions, or of the folder."""
    skills_by_workspace: defaultdict[str, set[str]] = defaultdict(set)
    for run in workspace.runs:
        if run.skill:
            skills_by_workspace[run.workspace].add(run.skill)
    from_folder: set[str] = set()
    above = [part for part in Path(tree.root.absolute()).parts if part != "/"][-3:]
    above = above[:-1] if tree.is_file else above
    named = [definition for definition in files.definitions if definition.skill]
    by_folder: dict[str, str] = {}
    for run in workspace.runs:
        if run.skill:
            continue
        folder = f"{run.file.rpartition('/')[0]}/"
        near = {definition.skill for definition in named if _covers(definition.folder, folder)} if named else set()
        candidates = skills_by_workspace[run.workspace] or near
        if len(candidates) == 1:
            run.skill = next(iter(candidates))
        elif not candidates:
            if folder not in by_folder:
                by_folder[folder] = _skill_of_folder(tree, folder.split("/")[:-1], above)
            run.skill = by_folder[folder]
            from_folder.add(run.skill)
    for name in sorted(from_folder - {""}):
        workspace.notes.append(f"took {name!r} as the skill, from the name of its folder")


def _covers(folder: str, below: str) -> bool:
    return folder == ".." or below.startswith(folder.removesuffix("evals"))


def _skill_of_folder(tree: ResultTree, inside: list[str], above: list[str]) -> str:
    """The skill that the nearest folder is called after, of those inside the source and then those above it."""
    for parts, is_inside in ((inside, True), (above, False)):
        for position in range(len(parts) - 1, -1, -1):
            part = parts[position]
            if part.endswith("-workspace"):
                return part.removesuffix("-workspace")
            if (
                is_inside
                and f"{'/'.join(parts[: position + 1])}/SKILL.md" in tree
                and not re.search(r"snapshot|outputs?$|old_skill", part)
            ):
                return part
            after = parts[position + 1] if position + 1 < len(parts) else ""
            if after in ("evals", "eval", "workspace", "evaluations") and not is_iteration(part) and part != "skills":
                return part
    return ""
