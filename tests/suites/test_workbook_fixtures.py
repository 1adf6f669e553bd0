"""SpreadsheetBench's exact mode gives the harness's verdict on every cell, workbook and program that was tried on it."""

from __future__ import annotations

import asyncio
import textwrap
from pathlib import Path
from typing import Any

import pytest

from collect.sandboxed import needs_bwrap
from skilldelta.collect.graders.reply_code import packages_of
from skilldelta.collect.graders.workbook import (
    CODE_LIMITS,
    Workbook,
    difference,
    first_block,
    harness_program,
    same_value,
)
from skilldelta.collect.sandbox import find_sandbox
from suites.grader_fixtures import cell_value, disagreements, fixture_rows
from suites.grading import task_of
from suites.workbooks import openpyxl, write_workbook


def write_sheets(path: Path, sheets: list[dict[str, Any]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for sheet in sheets:
        page = book.create_sheet(sheet["name"])
        for name, value in sheet["cells"].items():
            page[name] = cell_value(value)
        for block in sheet.get("merged", ()):
            page.merge_cells(block)
        if sheet.get("hidden"):
            page.sheet_state = "hidden"
    path.parent.mkdir(parents=True, exist_ok=True)
    book.save(path)
    return path


def test_every_pair_of_cells_is_compared_as_the_harness_compares_it() -> None:
    rows = fixture_rows("spreadsheet_cells.jsonl")
    grades = [int(same_value(cell_value(row["a"]), cell_value(row["b"]))) for row in rows]
    assert disagreements(rows, grades) == {}


def test_every_pair_of_workbooks_gets_the_harness_verdict(tmp_path: Path) -> None:
    rows, grades = fixture_rows("spreadsheet_books.jsonl"), []
    for row in rows:
        expected = write_sheets(tmp_path / f"{row['case']}_expected.xlsx", row["expected"])
        produced = tmp_path / f"{row['case']}_produced.xlsx"
        if row["produced"] is not None:
            write_sheets(produced, row["produced"])
        fault = difference(expected, produced, row["answer_position"], row["answer_sheet"] or "", "exact")
        grades.append(int(not fault))
    assert disagreements(rows, grades) == {}


def test_every_program_is_taken_from_its_reply_as_the_harness_takes_it() -> None:
    rows = fixture_rows("spreadsheet_programs.jsonl")
    assert disagreements(rows, [first_block(row["reply"]) for row in rows], "original_code") == {}
    for row in rows:
        body = harness_program(row["reply"]).removeprefix("try:\n").removesuffix("\nfinally:\n    pass\n")
        assert textwrap.dedent(body).split() == row["cleaned_code"].split()


@needs_bwrap
def test_every_program_gets_the_harness_verdict(tmp_path: Path) -> None:
    pytest.importorskip("pandas", reason="one of the programs uses pandas")
    write_workbook(tmp_path / "in.xlsx", {"Data": [[2], [3]]})
    write_workbook(tmp_path / "out.xlsx", {"Data": [[2, 5], [3]]})
    rows = fixture_rows("spreadsheet_programs.jsonl")
    grader = Workbook(find_sandbox("bubblewrap"), packages_of("", "test"), CODE_LIMITS, tmp_path, "exact")
    task = task_of(metadata={"cases": [["in.xlsx", "out.xlsx"]], "answer_position": "B1"})

    async def main() -> list[int]:
        turn = asyncio.Semaphore(2)

        async def grade(reply: str) -> int:
            async with turn:
                return int((await grader.grade(reply, task, None)).success)

        return list(await asyncio.gather(*(grade(row["reply"]) for row in rows)))

    assert disagreements(rows, asyncio.run(main())) == {}
