"""The workbook grader: SpreadsheetBench's comparison of cells after the code of a reply has changed the workbook.

As the benchmark grades: the reply is Python code that reads INPUT_PATH and writes OUTPUT_PATH. Lines that set these two
themselves are taken out, and the code runs in the sandbox once per test case, which holds nothing but the input. The values
of the cells that the answer is to stand in are compared with the expected workbook's: numbers rounded to two decimals, dates
to days, an empty text is an empty cell. Cells without a sheet's name are those of the task's answer sheet, else of the
expected workbook's first sheet, found by its name in both. All test cases have to agree. A formula counts as the value
stored beside it, which a program that computes none leaves empty.

In `exact` mode everything else is the harness's too: the first fenced block counts, thoughts and open fences included, the
code is indented into a block of its own, and a position that the harness cannot read is a failure.
"""

from __future__ import annotations

import ast
import datetime
import re
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders.base import Graded, GradingMode
from skilldelta.collect.graders.reply_code import CodeGrader, code_blocks
from skilldelta.collect.graders.workbook_file import (
    CellRange,
    WorkbookError,
    harness_ranges,
    parse_ranges,
    read_cells,
    sheet_names,
)
from skilldelta.collect.own_thread import in_own_thread
from skilldelta.collect.sandbox import WORKSPACE, Limits
from skilldelta.collect.suite import SuiteTask
from skilldelta.collect.workspace import check_inside, intact, temporary_folder
from skilldelta.errors import InputError

CODE_LIMITS = Limits(seconds=120.0, memory_mb=2048, disk_mb=256, processes=64)
_FIRST_DAY = datetime.datetime(1899, 12, 30)
_PATH_NAMES = ("INPUT_PATH", "OUTPUT_PATH")
_PATH_LINE = re.compile(rf"^[ \t]*(?:{'|'.join(_PATH_NAMES)})[ \t]*=.*$", re.MULTILINE)
_FIRST_FENCE = re.compile(r"```(?:python)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
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
    """`metadata` has `cases`, pairs of an input and an answer in the suite's folder, and `answer_position`.

    `answer_sheet`, where the metadata has it, is the sheet of every range that names none.
    """

    folder: Path
    mode: GradingMode = "lenient"

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> Graded:
        code = harness_program(answer) if self.mode == "exact" else _own_program(answer)
        if not code.strip():
            return Graded(0.0, "no code in the reply")
        for number, (input_name, expected_name) in enumerate(task.metadata["cases"], start=1):
            fault = await self._fault(code, self.folder / input_name, self.folder / expected_name, task)
            if fault:
                return Graded(0.0, f"case {number}: {fault}"[:300])
        return Graded(1.0, "all cells agree")

    async def _fault(self, code: str, input_file: Path, expected_file: Path, task: SuiteTask) -> str:
        """Why the workbook that the code writes is wrong; empty when it is right."""
        async with temporary_folder() as place:
            work = place / "work"
            work.mkdir()
            (work / "input.xlsx").write_bytes(input_file.read_bytes())
            payload = {"code": code, "input": f"{WORKSPACE}/input.xlsx", "output": f"{WORKSPACE}/output.xlsx"}
            finished = await self.run_script(_RUNNER, payload, work)
            if stopped := self.stopped(finished):
                return stopped
            if finished.exit_code != 0:
                lines = finished.stderr.strip().splitlines()
                return f"the code failed: {lines[-1] if lines else finished.exit_code}"
            if not intact(work):
                return "the working folder is gone"
            try:
                return await in_own_thread(
                    difference,
                    expected_file,
                    work / "output.xlsx",
                    task.metadata["answer_position"],
                    task.metadata.get("answer_sheet") or "",
                    self.mode,
                    name="workbook",
                )
            except GraderError as error:
                raise GraderError(f"task {task.task_id!r}: {error}") from None


def difference(expected: Path, produced: Path, position: str, answer_sheet: str, mode: GradingMode) -> str:
    """Why a produced workbook does not hold the expected answer; empty where it does.

    Raises:
        GraderError: in lenient mode, for an expected workbook or a position that cannot be read. The harness raises too,
            but its runner counts that as a failure, and so does exact mode.
    """
    try:
        ranges = harness_ranges(position) if mode == "exact" else parse_ranges(position)
        sheet = answer_sheet or _first_sheet(expected)
        ranges = [block if block.sheet else replace(block, sheet=sheet) for block in ranges]
        expected_cells = read_cells(expected, ranges)
    except InputError as error:
        if mode == "exact":
            return f"the expected workbook {expected.name}: {error}"
        raise GraderError(f"the expected workbook {expected.name}: {error}") from None
    try:
        values = read_cells(produced, ranges)
    except WorkbookError as error:
        return str(error)
    return _first_difference(ranges, values, expected_cells)


def harness_program(reply: str) -> str:
    """The program that the benchmark's harness runs for a reply: its first block in a `try`, without path assignments."""
    code = _PATH_LINE.sub("", first_block(reply))
    if not code.strip():
        return ""
    return f"try:\n{textwrap.indent(code, '    ')}\nfinally:\n    pass\n"


def first_block(reply: str) -> str:
    """The first closed block of a reply, thoughts included, or all of it where no block is closed."""
    block = _FIRST_FENCE.search(reply)
    return (block[1] if block else reply).strip()


def _own_program(reply: str) -> str:
    """The first block of a reply without its assignments to the two paths, however they are written."""
    code = code_blocks(reply)[0]
    if not any(name in code for name in _PATH_NAMES):
        return code
    try:
        return ast.unparse(_WithoutPaths().visit(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _PATH_LINE.sub("", code)


class _WithoutPaths(ast.NodeTransformer):
    """Puts `pass` where nothing but the two paths is assigned."""

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        return ast.Pass() if all(_is_path(target) for target in node.targets) else node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        return ast.Pass() if _is_path(node.target) else node


def _is_path(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return all(_is_path(element) for element in target.elts)
    return isinstance(target, ast.Name) and target.id in _PATH_NAMES


def _first_sheet(path: Path) -> str:
    names = sheet_names(path)
    if not names:
        raise WorkbookError("the workbook has no sheet")
    return names[0]


def check_workbook_task(task: SuiteTask, where: str) -> None:
    """A task without cases could never be passed; a file outside of the suite is not read."""
    cases = task.metadata.get("cases")
    if not isinstance(cases, list) or not cases or not all(isinstance(case, list) and len(case) == 2 for case in cases):
        raise InputError(f"{where}: grader 'workbook' needs cases, pairs of an input and an answer, in the metadata")
    for name in (name for case in cases for name in case):
        check_inside(str(name), f"{where}: a case")
    if not isinstance(task.metadata.get("answer_position"), str):
        raise InputError(f"{where}: grader 'workbook' needs an answer_position in the metadata")
    sheet = task.metadata.get("answer_sheet")
    if sheet is not None and not isinstance(sheet, str):
        raise InputError(f"{where}: answer_sheet must be the name of a sheet, got {sheet!r}")
    if task.grader.get("mode") != "exact":
        parse_ranges(task.metadata["answer_position"])


def same_value(expected: Any, produced: Any) -> bool:
    """Whether two cells count as equal, as the benchmark compares them."""
    first, second = _comparable(expected), _comparable(produced)
    if first in ("", None) and second in ("", None):
        return True
    return type(first) is type(second) and first == second


def _first_difference(ranges: list[CellRange], produced: list[list[Any]], expected: list[list[Any]]) -> str:
    for block, values, expected_values in zip(ranges, produced, expected, strict=True):
        width = block.last_column - block.first_column + 1
        for place, (value, right) in enumerate(zip(values, expected_values, strict=True)):
            if not same_value(right, value):
                row, column = block.first_row + place // width, block.first_column + place % width
                return f"row {row}, column {column} holds {str(value)[:60]!r}"
    return ""


def _comparable(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return round(float(value), 2)
        except ValueError:
            return value
    if isinstance(value, bool | int | float):
        try:
            return round(float(value), 2)
        except OverflowError:  # a whole number of hundreds of digits
            return value
    if isinstance(value, datetime.datetime):
        passed = value - _FIRST_DAY
        return float(round(passed.days + passed.seconds / 86400))
    if isinstance(value, datetime.time):
        return str(value)[:-3]
    return value
