"""The runner: planned executions through an agent and a grader into the bank, many at once.

What is in the bank already is not run again, so a collection that was killed goes on where it stopped. An execution
reaches the bank once, when it is finished; one that was in flight when the process died left nothing but its ledger lines.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilldelta.collect.agents.base import Attempt, CollectAgent, Outcome
from skilldelta.collect.budget import Budget
from skilldelta.collect.collection_progress import CollectionProgress, OnProgress
from skilldelta.collect.execution_errors import (
    CapReachedError,
    GraderError,
    IncompleteError,
    StopCollectionError,
    TransportError,
)
from skilldelta.collect.graders.base import Graded, Grader
from skilldelta.collect.plan import ExecutionKey, Planned, execution_key, sampling_seed
from skilldelta.collect.recorder import Recorder
from skilldelta.collect.reply_text import without_surrogates
from skilldelta.collect.suite import Suite, SuiteTask
from skilldelta.collect.workspace import temporary_folder
from skilldelta.pairing import is_counted
from skilldelta.records import Agent, Execution, Status

# Statuses that a later start leaves alone; a transport error is tried again by the next one.
FINAL: frozenset[Status] = frozenset({"completed", "incomplete", "grader_error"})


@dataclass(slots=True)
class Collection:
    """Everything one run of the collector works with, and how far it has come."""

    suite: Suite
    agent: CollectAgent
    identity: Agent
    graders: Mapping[str, Grader]
    budget: Budget
    recorder: Recorder
    progress: CollectionProgress
    seed: int
    concurrency: int = 4
    patience: int = 20
    """Executions in a row without a result after which something is taken to be broken."""
    errors_in_a_row: int = 0
    answered: bool = False
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """How a run of the collector ended. `stopped` says why executions are left, when some are."""

    progress: CollectionProgress
    stopped: str = ""


def missing(plan: Sequence[Planned], recorded: Iterable[Execution], *, retry: bool = False) -> list[Planned]:
    """The planned executions that the bank does not have; `retry` counts only completed ones as had."""
    final = {"completed"} if retry else FINAL
    had = {execution_key(execution) for execution in recorded if execution.status in final}
    return [planned for planned in plan if planned.key not in had]


def progress_before(
    plan: Sequence[Planned], todo: Sequence[Planned], recorded: Iterable[Execution]
) -> CollectionProgress:
    """How the whole collection stands before this start; what will be run again is not counted yet."""
    waiting = {planned.key for planned in todo}
    planned_keys = {planned.key for planned in plan} - waiting
    settled: dict[ExecutionKey, Execution] = {}
    for execution in recorded:
        key = execution_key(execution)
        if key in planned_keys and execution.status in FINAL and not (key in settled and is_counted(settled[key])):
            settled[key] = execution
    progress = CollectionProgress(planned=len(plan), before=len(plan) - len(todo))
    for execution in settled.values():
        progress.whole.add(execution)
    return progress


async def run_missing(collection: Collection, todo: Sequence[Planned], on_progress: OnProgress) -> Result:
    """Run what is missing. A cap ends the run early with a reason; a StopCollectionError ends it as an error."""
    progress, started = collection.progress, time.monotonic()

    def tell() -> None:
        progress.spend = collection.budget.spend
        progress.seconds = time.monotonic() - started
        progress.waiting = collection.budget.waiting
        on_progress(progress)

    async def execute(planned: Planned) -> Execution | None:
        if collection.stopped:
            return None
        try:
            execution = await _execute(collection, planned)
        except CapReachedError as error:
            collection.stopped = str(error)
            return None
        tell()
        return execution

    async with _ticking(tell):
        await collection.agent.drive(todo, collection.concurrency, execute)
    progress.spend = collection.budget.spend
    return Result(progress, collection.stopped)


@asynccontextmanager
async def _ticking(tell: Callable[[], None]) -> AsyncIterator[None]:
    """Call `tell` every second, so that slow executions are seen to be waited for."""

    async def tick() -> None:
        while True:
            await asyncio.sleep(1.0)
            tell()

    ticking = asyncio.create_task(tick())
    try:
        yield
    finally:
        ticking.cancel()


@dataclass(slots=True)
class _Run:
    """What became of one execution before it is recorded."""

    outcome: Outcome | None = None
    success: float | None = None
    status: Status = "completed"
    error: str = ""
    remark: str = ""
    other_grades: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0


async def _execute(collection: Collection, planned: Planned) -> Execution:
    """One execution from plan to bank."""
    run = await _run_and_grade(collection, planned)
    _count_errors(collection, run.error)
    execution = Execution(
        agent=collection.identity,
        suite=collection.suite.name,
        task_id=planned.task.task_id,
        condition=planned.condition,
        repetition=planned.repetition,
        success=run.success,
        skill_id=planned.key[2],
        skill_digest=planned.key[3],
        tokens=run.outcome.tokens if run.outcome else None,
        seconds=round(run.seconds, 4),
        cost_usd=run.outcome.usd if run.outcome else None,
        status=run.status,
        loaded=run.outcome.loaded if run.outcome else None,
    )
    await collection.recorder.record(execution, _transcript(planned, execution, run))
    collection.progress.add(execution)
    return execution


async def _run_and_grade(collection: Collection, planned: Planned) -> _Run:
    """Let the agent work and grade its answer; every failure that belongs to this execution becomes its status."""
    run = _Run()
    started = time.monotonic()
    async with _working_copy(planned.task, needed=collection.agent.needs_workdir) as workdir:
        try:
            run.outcome = await collection.agent.run(_attempt(collection, planned, workdir), collection.budget)
            run.seconds = time.monotonic() - started if run.outcome.seconds is None else run.outcome.seconds
            collection.answered = True
            grader = collection.graders[planned.task.task_id]
            graded = await _grade(grader, without_surrogates(run.outcome.answer), planned.task, workdir)
            run.success, run.remark, run.other_grades = graded.success, graded.remark, graded.other
        except TransportError as failure:
            run.status, run.error = "transport_error", str(failure)
            if not collection.answered:
                raise StopCollectionError(f"{failure}; fix the endpoint and run the same command again") from failure
        except IncompleteError as failure:
            run.status, run.error = "incomplete", str(failure)
        except GraderError as failure:
            run.status, run.error = "grader_error", str(failure)
    run.seconds = run.seconds or time.monotonic() - started
    return run


async def _grade(grader: Grader, answer: str, task: SuiteTask, workdir: Path | None) -> Graded:
    try:
        grade = await grader.grade(answer, task, workdir)
        return grade if isinstance(grade, Graded) else Graded(grade)
    except (CapReachedError, StopCollectionError):
        raise
    except Exception as error:
        raise GraderError(f"grader of task {task.task_id!r}: {type(error).__name__}: {error}") from error


def _attempt(collection: Collection, planned: Planned, workdir: Path | None) -> Attempt:
    skill = collection.suite.skill_text(planned.task) if planned.condition == "use" else ""
    seed = sampling_seed(collection.seed, planned.repetition)
    return Attempt(planned, skill, seed, workdir, collection.suite.agent.prompt)


def _count_errors(collection: Collection, error: str) -> None:
    """Stop after many executions in a row without a result: the endpoint, the agent or the grader is broken."""
    collection.errors_in_a_row = collection.errors_in_a_row + 1 if error else 0
    if collection.errors_in_a_row >= max(collection.patience, 2 * collection.concurrency):
        raise StopCollectionError(
            f"{collection.errors_in_a_row} executions in a row came to nothing, the last one: {error}; "
            "fix the cause and run the same command to go on (--retry-errors runs these again)"
        )


@asynccontextmanager
async def _working_copy(task: SuiteTask, *, needed: bool) -> AsyncIterator[Path | None]:
    """A folder for one execution alone, with a copy of the task's files; none where nobody looks for one."""
    if not needed and task.files is None:
        yield None
        return
    async with temporary_folder() as place:
        copy = place / "work"
        if task.files is None:
            copy.mkdir()
        else:
            await asyncio.to_thread(shutil.copytree, task.files, copy)
        yield copy


def _transcript(planned: Planned, execution: Execution, run: _Run) -> dict[str, Any]:
    row: dict[str, Any] = {
        "sample": planned.name,
        "task_id": execution.task_id,
        "family": planned.task.family,
        "condition": execution.condition,
        "repetition": execution.repetition,
        "skill": planned.task.skill_id,
        "skill_digest": planned.skill_digest,
        "status": execution.status,
        "loaded": execution.loaded,
        "success": execution.success,
        "expected": planned.task.answer,
        "tokens": execution.tokens,
        "seconds": execution.seconds,
        "cost_usd": execution.cost_usd,
    }
    if run.error:
        row["error"] = run.error
    if run.remark:
        row["remark"] = run.remark
    if run.other_grades:
        row["other_grades"] = dict(run.other_grades)
    if run.outcome is not None:
        row["answer"] = run.outcome.answer
        row["messages"] = [{"role": message.role, "content": message.content} for message in run.outcome.messages]
        row["reply"] = run.outcome.reply
        row["details"] = dict(run.outcome.details)
    return row
