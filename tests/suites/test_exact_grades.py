"""Exact mode gives every reply the grade of the benchmark's own evaluator, or of the copy that the paper's tables used."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders import GraderTools, make_graders
from skilldelta.collect.graders.base import Evaluator, Graded, Grader
from skilldelta.collect.graders.clinical_value import ClinicalValue
from skilldelta.collect.graders.logic_answer import LogicAnswer
from skilldelta.collect.graders.reply_code import code_defining
from skilldelta.collect.graders.sanitized_code import longest_code, sanitized_code
from skilldelta.collect.graders.short_answer import ShortAnswer
from skilldelta.collect.suite import AgentSettings, Suite
from skilldelta.errors import InputError
from skilldelta.paper.suites import find_suite
from skilldelta.paper.suites.base import GivenFiles, TaskSheet
from suites.grader_fixtures import disagreements, fixture_folder, fixture_rows
from suites.grading import graded, task_of


def real_tasks(suite: str, file: str) -> dict[str, TaskSheet]:
    data = find_suite(suite).read(GivenFiles(fixture_folder().parent / "sra_tasks" / f"{file}.json"))
    return {task.task_id: task for task in data.tasks}


def all_grades(grader: Grader, rows: list[dict[str, Any]], tasks: dict[str, TaskSheet]) -> list[Any]:
    async def main() -> list[Any]:
        grades: list[Any] = []
        for row in rows:
            task = tasks[row["task_id"]]
            try:
                grade = await grader.grade(
                    row["reply"], task_of(task.answer, text=task.text, metadata=task.metadata), None
                )
            except GraderError:
                grades.append("error")
            else:
                grades.append(int(grade.success if isinstance(grade, Graded) else grade))
        return grades

    return asyncio.run(main())


@pytest.mark.parametrize("evaluator", ["original", "release"])
def test_toolqa_agrees_on_every_reply(evaluator: Evaluator) -> None:
    rows = fixture_rows("toolqa.jsonl")
    grades = all_grades(ShortAnswer("exact", evaluator), rows, real_tasks("toolqa", "toolqa"))
    assert disagreements(rows, grades, evaluator) == {}


@pytest.mark.parametrize("evaluator", ["original", "release"])
def test_medcalc_agrees_on_every_reply(evaluator: Evaluator) -> None:
    rows = fixture_rows("medcalc.jsonl")
    grades = all_grades(ClinicalValue("exact", evaluator), rows, real_tasks("medcalc", "medcalcbench"))
    assert disagreements(rows, grades, evaluator) == {}


def test_logicbench_agrees_on_every_reply() -> None:
    rows = fixture_rows("logicbench.jsonl")
    grades = all_grades(LogicAnswer("exact"), rows, real_tasks("logicbench", "logicbench"))
    assert disagreements(rows, grades) == {}


def test_bigcodebench_takes_the_same_code_from_every_reply() -> None:
    rows = fixture_rows("bigcodebench_extraction.jsonl")
    codes = [sanitized_code(row["reply"], row["entry_point"]) for row in rows]
    assert disagreements(rows, codes, "original_code") == {}


def test_the_two_evaluators_of_toolqa_part_where_they_do() -> None:
    grades = {
        evaluator: [
            graded(ShortAnswer("exact", evaluator), reply, task_of(answer)).success
            for reply, answer in (
                ("Finish[8:00 a.m.]", "8:00 AM"),
                ("Finish[7-USD]", "7 USD"),
                ("<think>Finish[7]", "7"),
                ("The answer is: 7.", "7"),
                ("one\u2028seven", "seven"),
                ("Finish[]", ""),
                ("", ""),
            )
        ]
        for evaluator in ("original", "release")
    }
    assert grades == {"original": [1, 0, 0, 1, 0, 1, 1], "release": [0, 1, 1, 0, 1, 1, 1]}


def test_the_two_evaluators_of_medcalc_part_where_they_do() -> None:
    age = task_of("('22 weeks', '2 days')", metadata={"kind": "age"})
    value = task_of("5", metadata={"kind": "integer"})
    for evaluator, on_padded, on_empty in (("original", 1, 0), ("release", 0, 1)):
        grader = ClinicalValue("exact", evaluator)  # type: ignore[arg-type]
        assert graded(grader, "ANSWER: (22, 02)", age).success == on_padded
        assert graded(grader, "It is 5\nANSWER:", value).success == on_empty
        assert graded(grader, "{\"answer\": \"('22 weeks', '2 days')\"}", age).success == 1


def test_where_the_evaluator_raises_there_is_no_grade() -> None:
    for reply in ("ANSWER: inf", "ANSWER: nan"):
        with pytest.raises(GraderError, match="raises"):
            graded(ClinicalValue("exact"), reply, task_of("5", metadata={"kind": "integer"}))
        decimal = task_of("5", metadata={"kind": "decimal", "lower": "4", "upper": "6"})
        assert graded(ClinicalValue("exact"), reply, decimal).success == 0


def test_weeks_of_thousands_of_digits_have_no_grade_where_the_evaluator_converts_them() -> None:
    age, reply = task_of("('22 weeks', '2 days')", metadata={"kind": "age"}), f"ANSWER: ({'1' * 5000}, 2)"
    with pytest.raises(GraderError, match="raises"):
        graded(ClinicalValue("exact", "original"), reply, age)
    assert graded(ClinicalValue("exact", "release"), reply, age).success == 0  # compares them as texts


def test_logicbench_takes_the_first_number_and_lenient_the_last() -> None:
    task = task_of("choice_3", text="What follows?\nchoice_1: a\nchoice_3: c")
    reply = "The answer is: 1\nNo, the answer is: 3"
    assert graded(LogicAnswer("exact"), reply, task).success == 0
    assert graded(LogicAnswer(), reply, task).success == 1


def test_of_several_blocks_the_longest_valid_one_counts_in_both_modes() -> None:
    sketch, whole = "def f(x):\n    return None", "import os\n\ndef f(x):\n    y = x\n    return y"
    for reply in (
        f"```python\n{sketch}\n```\nBetter:\n```python\n{whole}\n```",
        f"```\n{whole}\n```\n```\n{sketch}\n```",
    ):
        assert "return y" in sanitized_code(reply, "f")
        assert "return y" in code_defining(reply, "f")


def test_the_sanitizer_keeps_to_its_rules_on_unusual_code() -> None:
    tabbed = "def f(x):\n\treturn x"
    assert (
        sanitized_code(f"import os\n{tabbed}\n", "f") == "import os"
    )  # a tab is no space: the definition goes as a call
    assert sanitized_code("from __future__ import annotations\nimport os\ndef f():\n    pass", "f").startswith(
        "import os"
    )
    attribute = "def g():\n    return 1\n\ndef f(x):\n    return x.g()"
    assert sanitized_code(attribute, "f").startswith("def g")
    in_text = "def g():\n    return 1\n\ndef f(x):\n    return f'{g()}'"
    assert sanitized_code(in_text, "f").startswith("def g")
    assert longest_code("one\ntwo words here\n") == "one"
    assert sanitized_code("é = 'ü'  # ö\ndef f():\n    return é  # ä", "f") == "é = 'ü'\ndef f():\n    return é  # ä"


def test_a_mode_or_an_evaluator_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    for spec, message in (
        ({"type": "short_answer", "mode": "strictly"}, "must be exact or lenient"),
        ({"type": "clinical_value", "mode": "exact", "evaluator": "paper"}, "must be original or release"),
    ):
        task = task_of("5")
        suite = Suite("s", "", tmp_path, (type(task)("t", "q", "f", "s", "5", spec),), {}, AgentSettings())
        with pytest.raises(InputError, match=message):
            make_graders(suite, GraderTools())


def test_strict_still_means_exact(tmp_path: Path) -> None:
    task = task_of("7358.8")
    settings = json.loads('{"type": "short_answer", "strict": true}')
    suite = Suite("s", "", tmp_path, (type(task)("t", "q", "f", "s", "7358.8", settings),), {}, AgentSettings())
    assert make_graders(suite, GraderTools())["t"] == ShortAnswer("exact")


def test_both_modes_grade_a_reply_where_both_are_asked_for(tmp_path: Path) -> None:
    settings = {"type": "short_answer", "mode": "exact", "evaluator": "release"}
    task = task_of("94.73")
    suite = Suite("s", "", tmp_path, (type(task)("t", "q", "f", "s", "94.73", settings),), {}, AgentSettings())
    grader = make_graders(suite, GraderTools(both_grades=True))["t"]
    grade = graded(grader, "Finish[947.3]", suite.tasks[0])
    assert (grade.success, dict(grade.other)) == (1.0, {"lenient": 0.0})
