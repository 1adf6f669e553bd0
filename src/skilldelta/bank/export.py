"""Out of the bank: executions as `runs.jsonl`, or one panel as arrays in an NPZ file.

A file appears under its name only when it is complete.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from skilldelta.bank.store import Bank
from skilldelta.bank.vectors import Progress, TextEncoder
from skilldelta.errors import InputError
from skilldelta.records import Agent, Execution, Task


def export_runs(
    bank: Bank,
    path: str | Path,
    *,
    agent: Agent | None = None,
    suite: str | None = None,
    skill_id: str | None = None,
    family: str | None = None,
) -> int:
    """Write executions in order of arrival, one a line, and return how many; importing them gives the same evidence.

    Skill texts are not part of the format; their digests are.
    """
    tasks = {(task.suite, task.task_id): task for task in bank.tasks(suite)}
    count = 0
    with _completed(Path(path)) as file:
        for execution in bank.executions(agent=agent, suite=suite, skill_id=skill_id, family=family):
            line = run_line(execution, tasks[execution.suite, execution.task_id])
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            count += 1
    return count


def run_line(execution: Execution, task: Task) -> dict[str, object]:
    """One line of `runs.jsonl`; what is unknown is left out, except the success."""
    line: dict[str, object] = {
        "task_id": execution.task_id,
        "text": task.text,
        "family": task.family,
        "skill": execution.skill_id,
        "skill_digest": execution.skill_digest,
        "agent": execution.agent.name,
        "agent_fingerprint": execution.agent.fingerprint,
        "suite": execution.suite,
        "condition": execution.condition,
        "repetition": execution.repetition,
        "success": execution.success,
        "tokens": execution.tokens,
        "seconds": execution.seconds,
        "cost_usd": execution.cost_usd,
        "status": execution.status,
    }
    optional = ("skill_digest", "agent_fingerprint", "tokens", "seconds", "cost_usd")
    return {name: value for name, value in line.items() if name not in optional or value not in (None, "")}


def export_panel(
    bank: Bank,
    path: str | Path,
    encoder: TextEncoder,
    *,
    agent: Agent,
    suite: str | None = None,
    skill_id: str | None = None,
    family: str | None = None,
    include_stale: bool = False,
    progress: Progress | None = None,
) -> int:
    """Write the pairs of one panel as arrays in record order, and return how many; unknown tokens are NaN."""
    support = bank.support(
        encoder,
        agent=agent,
        suite=suite,
        skill_id=skill_id,
        family=family,
        include_stale=include_stale,
        progress=progress,
    )
    with _completed(Path(path)) as file:
        np.savez(
            file,
            task_id=support.task_ids,
            family=support.families,
            skill=support.skills,
            vectors=support.vectors,
            y0=support.y0,
            y1=support.y1,
            r0=support.r0,
            r1=support.r1,
            tokens0=support.tokens0,
            tokens1=support.tokens1,
        )
    return len(support)


@contextmanager
def _completed(path: Path) -> Iterator[IO[bytes]]:
    """A file beside `path` that takes its name when it was written whole."""
    try:
        file = tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False)
    except OSError as error:
        raise InputError(f"cannot write {path} ({error.strerror}); choose another output file") from None
    try:
        with file:
            yield file
        os.chmod(file.name, 0o666 & ~_umask())
        os.replace(file.name, path)
    except BaseException:
        os.unlink(file.name)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
