"""The benchmarks' own answers are right, and the answers of other tasks mostly are not, on all tasks of three suites."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from skilldelta.collect.graders.base import Graded, Grader
from skilldelta.collect.graders.clinical_value import ClinicalValue
from skilldelta.collect.graders.logic_answer import LogicAnswer
from skilldelta.collect.graders.short_answer import ShortAnswer
from skilldelta.paper.suites import find_suite
from skilldelta.paper.suites.base import GivenFiles, TaskSheet
from suites.grading import task_of

SUITES: list[tuple[str, str, Grader, str, float]] = [
    ("toolqa", "toolqa", ShortAnswer(), "Finish[{}]", 0.15),
    ("toolqa", "toolqa", ShortAnswer("exact"), "Finish[{}]", 0.15),
    ("medcalc", "medcalcbench", ClinicalValue(), "ANSWER: {}", 0.15),
    ("medcalc", "medcalcbench", ClinicalValue("exact"), "ANSWER: {}", 0.15),
    ("toolqa", "toolqa", ShortAnswer("exact", "release"), "Finish[{}]", 0.15),
    ("medcalc", "medcalcbench", ClinicalValue("exact", "release"), "ANSWER: {}", 0.15),
    ("logicbench", "logicbench", LogicAnswer(), "The answer is: {}", 0.5),
    ("logicbench", "logicbench", LogicAnswer("exact"), "The answer is: {}", 0.5),
]


async def successes(grader: Grader, tasks: list[TaskSheet], replies: list[str]) -> list[float]:
    found = [
        await grader.grade(reply, task_of(task.answer, text=task.text, metadata=task.metadata), None)
        for task, reply in zip(tasks, replies, strict=True)
    ]
    return [one.success if isinstance(one, Graded) else one for one in found]


@pytest.mark.parametrize(("name", "file", "grader", "form", "by_chance"), SUITES)
def test_own_answers_are_right_and_those_of_other_tasks_are_not(
    name: str, file: str, grader: Grader, form: str, by_chance: float, shared_data: Path
) -> None:
    data = find_suite(name).read(GivenFiles(shared_data / "sra_tasks" / f"{file}.json"))
    tasks = list(data.tasks)
    own = asyncio.run(successes(grader, tasks, [form.format(task.answer) for task in tasks]))
    assert [task.task_id for task, success in zip(tasks, own, strict=True) if not success] == []
    others = [form.format(tasks[(i + 7) % len(tasks)].answer) for i in range(len(tasks))]
    mixed = asyncio.run(successes(grader, tasks, others))
    assert sum(mixed) / len(mixed) < by_chance
    # One task of ToolQA has an empty answer, which the benchmark takes an empty reply for.
    right = sum(asyncio.run(successes(grader, tasks, [""] * len(tasks))))
    assert right == (
        sum(not str(task.answer) for task in tasks) if isinstance(grader, ShortAnswer) and grader.mode == "exact" else 0
    )
