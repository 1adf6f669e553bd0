"""The plan: which executions a collection consists of, and in which order they run.

The order of a task's two arms is fixed by a hash of seed, task and repetition, so that a drift of the endpoint falls on
both arms alike and a restart sees the same plan. First repetitions of all tasks come before second ones: a collection
that is stopped early has complete pairs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from skilldelta.collect.suite import Suite, SuiteTask
from skilldelta.errors import InputError, unknown_name
from skilldelta.records import CONDITIONS, LISTED, Condition, Execution

# task_id, condition, skill_id, skill_digest, repetition: what makes an execution of one agent and suite unique.
ExecutionKey = tuple[str, str, str, str, int]


def execution_key(execution: Execution) -> ExecutionKey:
    """The key of an execution of the bank."""
    return (execution.task_id, execution.condition, execution.skill_id, execution.skill_digest, execution.repetition)


@dataclass(frozen=True, slots=True)
class Planned:
    """One execution to run. The no-skill arm names no skill: it is the baseline of every skill of its task."""

    task: SuiteTask
    condition: Condition
    repetition: int
    skill_digest: str

    @property
    def key(self) -> ExecutionKey:
        if self.condition == "skip":
            return (self.task.task_id, "skip", "", "", self.repetition)
        return (self.task.task_id, self.condition, self.task.skill_id, self.skill_digest, self.repetition)

    @property
    def name(self) -> str:
        """A short readable identity, used as call id in the ledger and as sample id in logs."""
        return f"{self.task.task_id}/{self.condition}/{self.repetition}"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which tasks of a suite run, and how often.

    With `repeat_share` below 1, a share of the tasks chosen by hash gets all repetitions and the others get one.
    With `same_condition`, every task runs under that one condition twice per repetition and not under the other: an A/A check.
    With `listed`, every task has a third run per repetition, in which the harness lists the skill and the model chooses.
    """

    repetitions: int = 1
    repeat_share: float = 1.0
    families: Sequence[str] = ()
    task_ids: Sequence[str] = ()
    limit: int | None = None
    same_condition: Condition | None = None
    listed: bool = False

    def __post_init__(self) -> None:
        if self.repetitions < 1:
            raise InputError(f"repetitions must be at least 1, got {self.repetitions}")
        if not 0 <= self.repeat_share <= 1:
            raise InputError(f"the share of repeated tasks must lie between 0 and 1, got {self.repeat_share}")
        if self.limit is not None and self.limit < 1:
            raise InputError(f"the number of tasks must be at least 1, got {self.limit}")
        if self.listed and self.same_condition is not None:
            raise InputError("an A/A check runs one arm alone; leave out the listed arm")


def make_plan(suite: Suite, selection: Selection, *, seed: int) -> list[Planned]:
    """Every execution of a collection, in the order in which they start."""
    tasks = _selected(suite, selection)
    repeated = _repeated(tasks, selection, seed)
    same, once = selection.same_condition, 2 if selection.same_condition else 1

    def conditions(task_id: str, repetition: int) -> tuple[Condition, ...]:
        if same is not None:
            return (same,)
        return arm_order(task_id, repetition, seed=seed, listed=selection.listed)

    return [
        Planned(task, condition, repetition, suite.skills[task.skill_id].digest)
        for repetition in range(selection.repetitions * once)
        for task in tasks
        if repetition < once or task.task_id in repeated
        for condition in conditions(task.task_id, repetition)
    ]


def sampling_seed(seed: int, repetition: int) -> int:
    """The seed sent with every request of a repetition: the same in both arms, another in each repetition."""
    return seed + repetition


def arm_order(task_id: str, repetition: int, *, seed: int, listed: bool = False) -> tuple[Condition, ...]:
    """Which arm of a task goes first, by hash of seed:task:repetition. The third arm leaves the order of the two."""
    first, place, *_ = hashlib.sha256(f"{seed}:{task_id}:{repetition}".encode()).digest()
    pair = CONDITIONS if first & 1 == 0 else CONDITIONS[::-1]
    return (*pair[: place % 3], LISTED, *pair[place % 3 :]) if listed else pair


def _selected(suite: Suite, selection: Selection) -> list[SuiteTask]:
    for family in selection.families:
        if family not in {task.family for task in suite.tasks}:
            raise unknown_name("family", family, (task.family for task in suite.tasks))
    for task_id in selection.task_ids:
        if task_id not in {task.task_id for task in suite.tasks}:
            raise unknown_name("task", task_id, (task.task_id for task in suite.tasks))
    tasks = [
        task
        for task in suite.tasks
        if (not selection.families or task.family in selection.families)
        and (not selection.task_ids or task.task_id in selection.task_ids)
    ]
    if not tasks:
        raise InputError("the selection leaves no task; loosen --family or --task")
    return _spread(tasks, selection.limit)


def _spread(tasks: list[SuiteTask], limit: int | None) -> list[SuiteTask]:
    """The first tasks of each family in turn, in file order: a small part of a suite that still shows every family."""
    if limit is None or limit >= len(tasks):
        return tasks
    rank: dict[str, int] = {}
    ranked: list[tuple[int, int]] = []
    for position, task in enumerate(tasks):
        rank[task.family] = rank.get(task.family, -1) + 1
        ranked.append((rank[task.family], position))
    chosen = sorted(position for _, position in sorted(ranked)[:limit])
    return [tasks[position] for position in chosen]


def _repeated(tasks: Sequence[SuiteTask], selection: Selection, seed: int) -> set[str]:
    """The tasks with all repetitions: at least the asked share, those with the smallest hash."""
    count = -int(-len(tasks) * selection.repeat_share // 1)
    by_hash = sorted(tasks, key=lambda task: hashlib.sha256(f"{seed}:repeat:{task.task_id}".encode()).hexdigest())
    return {task.task_id for task in by_hash[:count]}
