"""Out of the bank: executions as `runs.jsonl`, one panel as arrays in an NPZ file, or the decision log as JSON lines.

A file appears under its name only when it is complete.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from skilldelta.bank.store import Bank
from skilldelta.bank.vectors import Progress, TextEncoder
from skilldelta.files import jsonable, replacing
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
    """Write `run_lines` to a file, and return how many."""
    count = 0
    with replacing(Path(path)) as file:
        for line in run_lines(bank, agent=agent, suite=suite, skill_id=skill_id, family=family):
            file.write(line.encode() + b"\n")
            count += 1
    return count


def run_lines(
    bank: Bank,
    *,
    agent: Agent | None = None,
    suite: str | None = None,
    skill_id: str | None = None,
    family: str | None = None,
) -> Iterator[str]:
    """Executions in order of arrival, one JSON object each; importing them gives the same pairs.

    Those of a skill come with the baselines that its tasks share, those of the third arm last. Skill texts are not part of the format; their digests
    are.
    """
    own = None
    if skill_id is not None:
        mine = bank.executions(agent=agent, suite=suite, skill_id=skill_id, family=family)
        own = {(execution.suite, execution.task_id) for execution in mine}
    for execution, task in bank.runs(agent=agent, suite=suite, family=family):
        is_baseline = not execution.skill_id and own is not None and (task.suite, task.task_id) in own
        if own is None or execution.skill_id == skill_id or is_baseline:
            yield json.dumps(run_line(execution, task), ensure_ascii=False)
    listed = bank.listed(agent=agent, suite=suite, skill_id=skill_id)
    tasks = {(task.suite, task.task_id): task for task in bank.tasks(suite)} if listed else {}
    for execution in listed:
        task = tasks[execution.suite, execution.task_id]
        if family in (None, task.family):
            yield json.dumps(run_line(execution, task), ensure_ascii=False)


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
        "loaded": execution.loaded,
    }
    optional = ("skill_digest", "agent_fingerprint", "tokens", "seconds", "cost_usd", "loaded")
    return {name: value for name, value in line.items() if name not in optional or value not in (None, "")}


def export_decisions(bank: Bank, path: str | Path) -> int:
    """Write `decision_lines` to a file, and return how many."""
    count = 0
    with replacing(Path(path)) as file:
        for line in decision_lines(bank):
            file.write(line.encode("utf-8", "surrogatepass") + b"\n")
            count += 1
    return count


def decision_lines(bank: Bank) -> Iterator[str]:
    """Decisions with their outcomes, the oldest first, one JSON object each."""
    for record in reversed(bank.decisions()):
        yield json.dumps(jsonable(asdict(record)), ensure_ascii=False)


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
    with replacing(Path(path)) as file:
        names = ("vectors", "y0", "y1", "r0", "r1", "tokens0", "tokens1")
        arrays = {name: getattr(support, name) for name in names}
        np.savez(file, task_id=support.task_ids, family=support.families, skill=support.skills, **arrays)
    return len(support)
