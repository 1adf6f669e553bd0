"""SpreadsheetBench: an instruction and a workbook to change by code; one skill for cell-level and sheet-level tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from skilldelta.collect.graders.workbook_file import parse_ranges, preview
from skilldelta.errors import InputError, shown
from skilldelta.files import json_lines, json_list
from skilldelta.paper.suites.base import (
    BenchmarkData,
    GivenFiles,
    OmittedTask,
    PaperCounts,
    PaperSuite,
    Preset,
    TaskSheet,
)
from skilldelta.paper.suites.source_files import check_name, read_one_skill

SKILL = "spreadsheet"
_CELL_LEVEL, _SHEET_LEVEL = "cell-level", "sheet-level"
_TYPES = {"Cell-Level Manipulation": _CELL_LEVEL, "Sheet-Level Manipulation": _SHEET_LEVEL}
_INPUT = re.compile(r"(?:(\d+)_.*_)?(?:input|init|initial)\.xlsx", re.IGNORECASE)
_ANSWER = re.compile(r"(?:(\d+)_.*_)?(?:answer|golden)\.xlsx", re.IGNORECASE)
_NO_CASE = "its folder has no pair of an input and an answer"
_SYSTEM = "You change spreadsheets with Python and openpyxl."
_PROMPT = """\
{task}

Write a Python script that reads the workbook at the path in the variable INPUT_PATH, does this, and saves the result at
the path in OUTPUT_PATH. Both variables are set. The rows above may be only the first ones: work on all rows that the
workbook has, and leave every other cell as it is. Write values, not formulas. Answer with one block of Python code."""


def _read(sources: GivenFiles) -> BenchmarkData:
    if not sources.data.is_dir():
        raise InputError(f"{sources.data}: --from names the data folder of SpreadsheetBench, with dataset.json in it")
    tasks, left_out = [], []
    for where, row in _rows(sources.data):
        task_id = check_name(str(row.get("id")), f"{where}: id")
        cases = _cases(sources.data, row, task_id)
        if not cases:
            left_out.append(OmittedTask(task_id, _NO_CASE))
            continue
        tasks.append(_task(row, task_id, cases, where, is_authors=sources.protocol == "authors"))
    skills = {SKILL: read_one_skill(sources.skills, SKILL)} if sources.skills else {}
    return BenchmarkData(tasks, skills, left_out=left_out)


def _rows(folder: Path) -> list[tuple[str, Mapping[str, Any]]]:
    for name in ("dataset.json", "dataset.jsonl"):
        path = folder / name
        if path.is_file():
            rows = json_lines(path) if name.endswith("l") else enumerate(json_list(path))
            return [(f"{path}: [{number}]", row) for number, row in rows]
    raise InputError(f"{folder}: no dataset.json in this folder; name the folder that was unpacked with --from")


def _cases(folder: Path, row: Mapping[str, Any], task_id: str) -> dict[str, tuple[Path, Path]]:
    """The test cases by number: pairs of an input and an answer under the names that its releases use."""
    folder_name = row.get("spreadsheet_path")
    places = [folder / "spreadsheet" / task_id]
    if isinstance(folder_name, str) and ".." not in Path(folder_name).parts and not Path(folder_name).is_absolute():
        places.insert(0, folder / folder_name)
    return next((pairs for place in places if place.is_dir() and (pairs := _pairs_in(place))), {})


def _pairs_in(place: Path) -> dict[str, tuple[Path, Path]]:
    files = sorted(path for path in place.iterdir() if path.is_file() and not path.is_symlink())
    inputs = {name[1] or "1": path for path in files if (name := _INPUT.fullmatch(path.name))}
    answers = {name[1] or "1": path for path in files if (name := _ANSWER.fullmatch(path.name))}
    return {number: (inputs[number], answers[number]) for number in sorted(inputs) if number in answers}


def _task(
    row: Mapping[str, Any], task_id: str, cases: Mapping[str, tuple[Path, Path]], where: str, *, is_authors: bool
) -> TaskSheet:
    instruction, kind, position = row.get("instruction"), row.get("instruction_type"), row.get("answer_position")
    if not isinstance(instruction, str) or not instruction.strip():
        raise InputError(f"{where}: instruction must be a text, got {shown(instruction)}")
    if kind not in _TYPES:
        raise InputError(f"{where}: instruction_type must be one of {', '.join(_TYPES)}, got {shown(kind)}")
    if not isinstance(position, str):
        raise InputError(f"{where}: answer_position must be a text, got {shown(position)}")
    sheet = row.get("answer_sheet")
    if sheet is not None and not isinstance(sheet, str):
        raise InputError(f"{where}: answer_sheet must be the name of a sheet, got {shown(sheet)}")
    try:
        # The harness counts a position that it cannot read as a failure, so exact grading goes without the check.
        if not is_authors:
            parse_ranges(position)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
    shown_first = preview(next(iter(cases.values()))[0])
    place = shown_position(position, sheet)
    text = f"{instruction.strip()}\n\nCells of the answer: {place} ({_TYPES[kind]})\n\n{shown_first}"
    places = [[f"workbooks/{task_id}/{n}_input.xlsx", f"workbooks/{task_id}/{n}_answer.xlsx"] for n in cases]
    files = dict(zip(chain(*places), chain(*cases.values()), strict=True))
    metadata: dict[str, Any] = {"answer_position": position, "cases": places}
    if sheet:
        metadata["answer_sheet"] = sheet
    if is_authors:  # their wording is put around these
        metadata |= {"instruction": instruction, "instruction_type": kind}
    return TaskSheet(task_id, text, _TYPES[kind], (SKILL,), metadata=metadata, files=files)


def shown_position(position: str, sheet: str | None) -> str:
    """The answer's cells with the sheet that they are on, where the position names none."""
    return f"{sheet}!{position}" if sheet and "!" not in position else position


SUITE = PaperSuite(
    name="spreadsheetbench",
    title="SpreadsheetBench",
    licence="CC-BY-SA 4.0",
    origin="github.com/RUCKBReasoning/SpreadsheetBench: data/spreadsheetbench_verified_400.tar.gz",
    needs="--from FOLDER --skills skill.md",
    counts=PaperCounts(
        tasks=399,
        skills=1,
        groups=2,
        group_sizes={125: 1, 274: 1},
        named_groups={_CELL_LEVEL: 274, _SHEET_LEVEL: 125},
    ),
    preset=Preset(16_384, _SYSTEM, _PROMPT),
    grader={"type": "workbook"},
    read=_read,
    files=("dataset.json", "dataset.jsonl"),
)
