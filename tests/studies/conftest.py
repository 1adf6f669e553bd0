"""A bank of eight tasks that a reader can check by hand, made without the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skilldelta.bank import Bank, Batch
from skilldelta.records import Agent, Condition, Execution, Skill, Task

TOY = Agent("toy", "first")
TEXTS = {
    "units": ("convert three miles to metres", "convert two miles to feet", "convert nine yards to metres", "an inch?"),
    "dates": ("what day follows friday", "what day precedes monday", "which month follows march", "the month of June?"),
}
OUTCOMES = {"units": ((0, 1), (0, 1), (0, 1), (1, 1)), "dates": ((1, 0), (1, 0), (0, 0), (0, 0))}
"""Success without and with the skill."""


def task(family: str, number: int, suite: str = "trips") -> Task:
    return Task(f"{family}-{number}", TEXTS[family][number], family, suite)


def executions(one: Task, outcomes: tuple[int, int], agent: Agent = TOY, *, repetition: int = 0) -> list[Execution]:
    """Both arms of a task."""
    arms: list[tuple[Condition, int, float]] = [("skip", outcomes[0], 100.0), ("use", outcomes[1], 150.0)]
    return [
        Execution(
            agent=agent,
            suite=one.suite,
            task_id=one.task_id,
            condition=condition,
            repetition=repetition,
            success=float(success),
            skill_id=f"{one.family}-skill",
            tokens=tokens,
        )
        for condition, success, tokens in arms
    ]


def trips(agent: Agent = TOY, suite: str = "trips") -> Batch:
    """Eight complete pairs of one agent on one suite."""
    tasks = [task(family, number, suite) for family in TEXTS for number in range(4)]
    runs = [run for one in tasks for run in executions(one, OUTCOMES[one.family][int(one.task_id[-1])], agent)]
    skills = [Skill(f"{family}-skill", f"How to answer {family}.", "") for family in TEXTS]
    return Batch(tasks=tasks, skills=skills, executions=runs)


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    with Bank.open(tmp_path / "trips.bank", create=True) as opened:
        opened.add(trips())
        yield opened
