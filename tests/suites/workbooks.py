"""Small workbooks, and a data folder in the format of SpreadsheetBench, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not installed")


def write_workbook(path: Path, sheets: dict[str, list[list[Any]]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    path.parent.mkdir(parents=True, exist_ok=True)
    book.save(path)
    return path


def write_benchmark(folder: Path, *, cell_level: int = 4, sheet_level: int = 4) -> Path:
    """Tasks that ask to double a column (cell level) or to sort a table (sheet level), one test case each."""
    rows = []
    for number in range(cell_level + sheet_level):
        task_id, values = f"{number + 1}-{number}", [number + 3, number + 1, number + 2]
        is_cell = number < cell_level
        before: list[list[Any]] = [["n", "result"], *[[value, None] for value in values]]
        if is_cell:
            after: list[list[Any]] = [["n", "result"], *[[value, 2 * value] for value in values]]
        else:
            after = [["n", "result"], *[[value, None] for value in sorted(values)]]
        place = folder / "spreadsheet" / task_id
        write_workbook(place / f"1_{task_id}_init.xlsx", {"Data": before})
        write_workbook(place / f"1_{task_id}_golden.xlsx", {"Data": after})
        rows.append(
            {
                "id": task_id,
                "instruction": f"{'Double column A into B' if is_cell else 'Sort the rows by column A'}, sheet {number}.",
                "spreadsheet_path": f"spreadsheet/{task_id}",
                "instruction_type": f"{'Cell' if is_cell else 'Sheet'}-Level Manipulation",
                "answer_position": "B2:B4" if is_cell else "'Data'!A2:B4",
            }
        )
    rows.append({**rows[0], "id": "42930", "spreadsheet_path": "spreadsheet/42930"})
    (folder / "dataset.json").write_text(json.dumps(rows))
    return folder


def write_benchmark_with_answer_sheets(folder: Path, *, tasks: int = 20) -> Path:
    """Tasks that ask to double a column of a sheet that is not the first one; every other range is named by answer_sheet."""
    rows = []
    for number in range(tasks):
        task_id, values = f"{number + 1}-{number}", [number + 3, number + 1, number + 2]
        front: list[list[Any]] = [["n", "result"], [1, 2]]
        before: list[list[Any]] = [["n", "result"], *[[value, None] for value in values]]
        after: list[list[Any]] = [["n", "result"], *[[value, 2 * value] for value in values]]
        place = folder / "spreadsheet" / task_id
        write_workbook(place / f"1_{task_id}_init.xlsx", {"Front": front, "Data": before})
        write_workbook(place / f"1_{task_id}_golden.xlsx", {"Front": front, "Data": after})
        rows.append(
            {
                "id": task_id,
                "instruction": f"Double column A into B, sheet {number}.",
                "spreadsheet_path": f"spreadsheet/{task_id}",
                "instruction_type": "Cell-Level Manipulation",
                "answer_position": "B2:B4",
                "answer_sheet": "Data",
            }
        )
    (folder / "dataset.json").write_text(json.dumps(rows))
    return folder
