"""Which iteration a run is of, where its folder and its file say it differently."""

from __future__ import annotations

import re

from skilldelta.bank.importers.workspace.graded_run import WorkspaceRuns
from skilldelta.bank.importers.workspace.path_words import base_of_rerun


def settle_iterations(workspace: WorkspaceRuns) -> None:
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
            stated = by_tail.get(_tail(base_of_rerun(field_)))
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
