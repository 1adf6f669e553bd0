"""A command together with everything it starts: when the command ends, so does the rest.

On Linux a supervisor adopts the children that leave their parent, so daemons and new sessions are ended too. Elsewhere
the command's process group is ended (on Windows its tree of parents), which a child can leave.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from skilldelta.collect import supervisor
from skilldelta.collect.process import Finished, run_process


async def run_tree(
    command: Sequence[str], *, stdin: str, seconds: float, cwd: Path | None, keep: int, environment: Mapping[str, str]
) -> Finished:
    """Run a command as `run_process` does, and leave nothing behind."""
    if sys.platform != "linux":
        return await run_process(command, stdin=stdin, seconds=seconds, cwd=cwd, keep=keep, environment=environment)
    control, ours = os.pipe()
    open_ends = [control, ours]

    def close(end: int) -> None:
        if end in open_ends:
            open_ends.remove(end)
            os.close(end)

    try:
        return await run_process(
            [sys.executable, "-I", "-S", str(Path(supervisor.__file__)), str(control), *command],
            stdin=stdin,
            seconds=seconds,
            cwd=cwd,
            keep=keep,
            environment=environment,
            pass_fds=(control,),
            on_start=lambda: close(control),
            ask_to_end=lambda: close(ours),
        )
    finally:
        close(control)
        close(ours)
