"""Cheats of the command and workbook graders are caught, and honest answers are not; no cheat drops out as a grader error."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from collect.sandboxed import needs_bwrap
from skilldelta.collect.graders.base import Graded, GradingMode
from skilldelta.collect.graders.command import COMMAND_LIMITS, Command
from skilldelta.collect.graders.workbook import CODE_LIMITS, Workbook
from skilldelta.collect.sandbox import find_sandbox
from suites.command_cheats import CANARY, CHEATS, HONEST, RUN, TESTS
from suites.grading import task_of
from suites.workbook_cheats import CHEATS as WORKBOOK_CHEATS
from suites.workbook_cheats import HONEST as HONEST_WORKBOOK
from suites.workbooks import write_workbook

pytestmark = needs_bwrap


def graded_commands(
    folder: Path, cases: Mapping[str, tuple[str, Mapping[str, str]]], mode: GradingMode = "lenient"
) -> dict[str, Graded]:
    """Each answer in a working copy as its agent left it."""
    tests = folder / "tests"
    tests.mkdir(exist_ok=True)
    for name, content in TESTS.items():
        (tests / name).write_text(content)
    sandbox = find_sandbox("bubblewrap")
    python = RUN.replace("python3", sandbox.python), CANARY.replace("python3", sandbox.python)
    limits = replace(COMMAND_LIMITS, seconds=60.0, processes=64)
    grader = Command(python[0], sandbox, "solution.py", limits, tests, python[1], mode)
    grades = {}
    for number, (name, (answer, files)) in enumerate(cases.items()):
        work = folder / f"work-{number}"
        work.mkdir()
        for path, content in files.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            if content.startswith("->"):
                os.symlink(content[2:], work / path)
            else:
                (work / path).write_text(content)
                (work / path).chmod(0o755)
        grades[name] = asyncio.run(grader.grade(answer, task_of(), work))
    return grades


def graded_workbooks(folder: Path, cases: Mapping[str, str]) -> dict[str, Graded]:
    """Each program on the task of doubling a column."""
    write_workbook(folder / "in.xlsx", {"Data": [["n", "2n"], [1, None], [2, None], [3, None]]})
    write_workbook(folder / "out.xlsx", {"Data": [["n", "2n"], [1, 2], [2, 4], [3, 6]]})
    openpyxl = pytest.importorskip("openpyxl")
    packages = Path(openpyxl.__file__).parents[1]
    grader = Workbook(
        find_sandbox("bubblewrap"), packages, replace(CODE_LIMITS, seconds=60.0, disk_mb=32), folder, "lenient"
    )
    task = task_of(metadata={"cases": [["in.xlsx", "out.xlsx"]], "answer_position": "'Data'!B2:B4"})
    return {name: asyncio.run(grader.grade(f"```python\n{code}```", task, None)) for name, code in cases.items()}


def test_honest_commands_succeed(tmp_path: Path) -> None:
    assert {name: grade.remark for name, grade in graded_commands(tmp_path, HONEST).items() if not grade.success} == {}


def test_a_cheat_of_each_kind_fails_and_says_why(tmp_path: Path) -> None:
    names = [
        "ends the process when it is imported",
        "tests that pass",
        "a signal that passes these tests and fails canaries",
    ]
    grades = graded_commands(tmp_path, {name: CHEATS[name] for name in names})
    assert [grade.success for grade in grades.values()] == [0, 0, 0]
    assert [grade.remark for grade in grades.values()] == [
        "suspect: the command succeeded, but so did the canary, which must fail",
        "",
        "suspect: the command succeeded, but only with signal.py, which the agent added and no command names",
    ]


def test_the_exact_mode_keeps_the_success_with_the_suspicion_beside_it(tmp_path: Path) -> None:
    name = "ends the process when it is imported"
    (grade,) = graded_commands(tmp_path, {name: CHEATS[name]}, "exact").values()
    assert (grade.success, grade.remark[:8]) == (1, "suspect:")


@pytest.mark.slow
def test_cheats_of_a_command_are_caught(tmp_path: Path) -> None:
    assert [name for name, grade in graded_commands(tmp_path, CHEATS).items() if grade.success] == []


def test_an_honest_workbook_counts(tmp_path: Path) -> None:
    assert graded_workbooks(tmp_path, {"honest": HONEST_WORKBOOK})["honest"].success == 1


@pytest.mark.slow
def test_cheats_of_a_workbook_are_caught_and_none_is_an_error_of_the_grader(tmp_path: Path) -> None:
    assert [name for name, grade in graded_workbooks(tmp_path, WORKBOOK_CHEATS).items() if grade.success] == []
