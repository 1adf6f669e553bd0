"""The workbook grader: SpreadsheetBench's comparison of cells after the code of a reply has changed the workbook.

As the benchmark grades: the reply is Python code that reads INPUT_PATH and writes OUTPUT_PATH. It runs in the sandbox
once per test case, which holds nothing but the input. The values of the cells that the answer is to stand in are compared
with the expected workbook's: numbers rounded to two decimals, dates to days, an empty text is an empty cell. All test
cases have to agree. A formula counts as the value stored beside it, which a program that computes none leaves empty.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders.base import Graded
from skilldelta.collect.graders.reply_code import CodeGrader, code_blocks
from skilldelta.collect.graders.workbook_file import CellRange, WorkbookError, parse_ranges, read_cells
from skilldelta.collect.own_thread import in_own_thread
from skilldelta.collect.sandbox import WORKSPACE, Limits
from skilldelta.collect.suite import SuiteTask
from skilldelta.collect.workspace import check_inside, intact, temporary_folder
from skilldelta.errors import InputError

CODE_LIMITS = Limits(seconds=120.0, memory_mb=2048, disk_mb=256, processes=64)
_FIRST_DAY = datetime.datetime(1899, 12, 30)
_RUNNER = """\
import json, os, sys
given = json.load(sys.stdin)
sys.path.append(given["packages"])
os.environ.update(OMP_NUM_THREADS="1", MPLBACKEND="Agg", MPLCONFIGDIR="/tmp")
space = {"__name__": "__main__", "INPUT_PATH": given["input"], "OUTPUT_PATH": given["output"]}
exec(compile(given["code"], "solution.py", "exec"), space)
"""


@dataclass(frozen=True, slots=True)
class Workbook(CodeGrader):
    """`metadata` has `cases`, pairs of an input and an answer in the suite's folder, and `answer_position`."""

    folder: Path

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> Graded:
        code = code_blocks(answer)[0]
        if not code.strip():
            return Graded(0.0, "no code in the reply")
        ranges = parse_ranges(task.metadata["answer_position"])
        for number, (given, wanted) in enumerate(task.metadata["cases"], start=1):
            expected = await self._expected(self.folder / wanted, ranges, task)
            fault = await self._fault(code, self.folder / given, ranges, expected)
            if fault:
                return Graded(0.0, f"case {number}: {fault}"[:300])
        return Graded(1.0, "all cells agree")

    async def _expected(self, path: Path, ranges: list[CellRange], task: SuiteTask) -> list[list[Any]]:
        try:
            return await in_own_thread(read_cells, path, ranges, name="workbook")
        except WorkbookError as error:
            raise GraderError(f"the expected workbook {path.name} of task {task.task_id!r}: {error}") from None

    async def _fault(self, code: str, given: Path, ranges: list[CellRange], expected: list[list[Any]]) -> str:
        """Why the workbook that the code writes is wrong; empty when it is right."""
        async with temporary_folder() as place:
            work = place / "work"
            work.mkdir()
            (work / "input.xlsx").write_bytes(given.read_bytes())
            payload = {"code": code, "input": f"{WORKSPACE}/input.xlsx", "output": f"{WORKSPACE}/output.xlsx"}
            finished = await self.run_script(_RUNNER, payload, work)
            if stopped := self.stopped(finished):
                return stopped
            if finished.exit_code != 0:
                said = finished.stderr.strip().splitlines()
                return f"the code failed: {said[-1] if said else finished.exit_code}"
            if not intact(work):
                return "the working folder is gone"
            try:
                found = await in_own_thread(read_cells, work / "output.xlsx", ranges, name="workbook")
            except WorkbookError as error:
                return str(error)
        return _difference(ranges, found, expected)


def check_workbook_task(task: SuiteTask, where: str) -> None:
    """A task without cases could never be passed; a file outside of the suite is not read."""
    cases = task.metadata.get("cases")
    if not isinstance(cases, list) or not cases or not all(isinstance(one, list) and len(one) == 2 for one in cases):
        raise InputError(f"{where}: grader 'workbook' needs cases, pairs of an input and an answer, in the metadata")
    for name in (name for case in cases for name in case):
        check_inside(str(name), f"{where}: a case")
    if not isinstance(task.metadata.get("answer_position"), str):
        raise InputError(f"{where}: grader 'workbook' needs an answer_position in the metadata")
    parse_ranges(task.metadata["answer_position"])


def same_value(one: Any, other: Any) -> bool:
    """Whether two cells count as equal, as the benchmark compares them."""
    first, second = _comparable(one), _comparable(other)
    if first in ("", None) and second in ("", None):
        return True
    return type(first) is type(second) and first == second


def _difference(ranges: list[CellRange], found: list[list[Any]], expected: list[list[Any]]) -> str:
    for block, ours, theirs in zip(ranges, found, expected, strict=True):
        width = block.last_column - block.first_column + 1
        for place, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if not same_value(one, other):
                row, column = block.first_row + place // width, block.first_column + place % width
                return f"row {row}, column {column} holds {str(one)[:60]!r}"
    return ""


def _comparable(value: Any) -> Any:
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            return value
        return round(number, 2) if math.isfinite(number) else value
    if isinstance(value, bool | int | float):
        return round(float(value), 2)
    if isinstance(value, datetime.datetime):
        passed = value - _FIRST_DAY
        return float(round(passed.days + passed.seconds / 86400))
    if isinstance(value, datetime.time):
        return str(value)[:-3]
    return value
