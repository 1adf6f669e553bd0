"""SpreadsheetBench's grading: values of cells, code in the real sandbox, and workbooks that are hostile files."""

from __future__ import annotations

import asyncio
import datetime
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from collect.sandboxed import needs_bwrap
from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders import workbook_file
from skilldelta.collect.graders.base import Graded, GradingMode
from skilldelta.collect.graders.reply_code import packages_of
from skilldelta.collect.graders.workbook import CODE_LIMITS, Workbook, same_value
from skilldelta.collect.graders.workbook_file import WorkbookError, parse_ranges, preview, read_cells
from skilldelta.collect.sandbox import find_sandbox
from skilldelta.errors import InputError
from suites.grading import task_of
from suites.workbooks import openpyxl, write_workbook

DAY = datetime.datetime(2024, 2, 29)

VALUES = [
    (1, 1, True),
    (1, 1.0, True),
    (1, "1", True),
    ("1.0", 1, True),
    (1.004, 1.0, True),
    (1.006, 1.0, False),
    (0.1 + 0.2, 0.3, True),
    (1000, "1,000", False),
    (0.5, "50%", False),
    (0.5, "1/2", False),
    (-0.001, 0, True),
    (True, 1, True),
    (False, 0, True),
    (True, "TRUE", False),
    ("yes", "yes", True),
    ("yes", "Yes", False),
    ("yes", "yes ", False),
    ("12 kg", "12 kg", True),
    ("12 kg", 12, False),
    ("nan", "nan", False),  # read as the number that equals nothing
    ("inf", "inf", True),
    (None, None, True),
    (None, "", True),
    ("", None, True),
    (None, 0, False),
    ("", 0, False),
    (None, " ", False),
    (DAY, DAY, True),
    (DAY, datetime.datetime(2024, 2, 29, 9, 0), True),
    (DAY, datetime.datetime(2024, 3, 1), False),
    (DAY, 45351, True),
    (DAY, 45352, False),
    (DAY, "2024-02-29", False),
    (datetime.time(9, 30), datetime.time(9, 30), True),
    (datetime.time(9, 30, 20), datetime.time(9, 30), True),
    (datetime.time(9, 30), datetime.time(9, 31), False),
    (datetime.time(9, 30), "09:30", True),
]

FILL = "import openpyxl\nbook = openpyxl.load_workbook(INPUT_PATH)\nsheet = book.worksheets[0]\n"
SAVE = "book.save(OUTPUT_PATH)\n"
DOUBLE = FILL + "for row in sheet.iter_rows(min_row=2):\n    row[1].value = 2 * row[0].value\n" + SAVE


def fenced(code: str) -> str:
    return f"```python\n{code}```"


CODE = [
    (fenced(DOUBLE), True),
    (DOUBLE, True),
    (f"I double the column.\n{fenced(DOUBLE)}\nDone.", True),
    (fenced(DOUBLE.replace("2 * row", "3 * row")), False),
    (fenced(DOUBLE.replace("min_row=2", "min_row=3")), False),
    (fenced(DOUBLE.replace("2 * row[0].value", "f'=2*A{row[0].row}'")), False),  # a formula has no stored value
    (fenced(DOUBLE.replace("2 * row[0].value", "str(2 * row[0].value)")), True),
    (fenced(FILL + SAVE), False),
    (fenced(DOUBLE.replace("OUTPUT_PATH", "INPUT_PATH")), False),
    (fenced(FILL + "sheet.title = 'Other'\n" + SAVE), False),
    (fenced("open(OUTPUT_PATH, 'w').write('no workbook')\n"), False),
    (fenced("import os\nos.symlink(INPUT_PATH, OUTPUT_PATH)\n"), False),
    (fenced("import shutil\nshutil.rmtree('/workspace', ignore_errors=True)\n"), False),
    (fenced("import socket\nsocket.create_connection(('127.0.0.1', 80), 1)\n"), False),
    (fenced("raise ValueError('no')\n"), False),
    (fenced("def broken(:\n"), False),
    (fenced(DOUBLE + "raise SystemExit(0)\n"), True),
    ("", False),
    ("I cannot do this.", False),
    (f"{fenced(FILL + SAVE)}\nBetter:\n{fenced(DOUBLE)}", False),  # the benchmark takes the first block
]


@pytest.mark.parametrize(("one", "other", "truth"), VALUES)
def test_cells_are_compared_as_the_benchmark_compares_them(one: Any, other: Any, truth: bool) -> None:
    assert same_value(one, other) is truth
    assert same_value(other, one) is truth


def grade_all(
    folder: Path,
    replies: list[str],
    *,
    position: str = "'Data'!B2:B4",
    sheet: str = "",
    mode: GradingMode = "lenient",
    **limits: Any,
) -> list[Graded]:
    if not (folder / "in.xlsx").exists():
        write_workbook(folder / "in.xlsx", {"Data": [["n", "2n"], [1, None], [2, None], [3, None]]})
    if not (folder / "out.xlsx").exists():
        write_workbook(folder / "out.xlsx", {"Data": [["n", "2n"], [1, 2], [2, 4], [3, 6]]})
    allowed = replace(CODE_LIMITS, **{"seconds": 60.0, **limits})
    grader = Workbook(find_sandbox("bubblewrap"), packages_of("", "test"), allowed, folder, mode)
    metadata = {"cases": [["in.xlsx", "out.xlsx"]], "answer_position": position, "answer_sheet": sheet}
    task = task_of(metadata=metadata)

    async def main() -> list[Graded]:
        room = asyncio.Semaphore(3)

        async def one(reply: str) -> Graded:
            async with room:
                return await grader.grade(reply, task, None)

        return await asyncio.gather(*map(one, replies))

    return asyncio.run(main())


@needs_bwrap
def test_code_is_graded_by_the_workbook_that_it_writes(tmp_path: Path) -> None:
    found = grade_all(tmp_path, [reply for reply, _ in CODE])
    assert [(r, one) for (r, truth), one in zip(CODE, found, strict=True) if one.success != float(truth)] == []


OWN_PATHS = [
    'INPUT_PATH = "in.xlsx"\nOUTPUT_PATH = "out.xlsx"\n' + DOUBLE,
    "def main():\n    INPUT_PATH = 'a.xlsx'\n    OUTPUT_PATH = 'b.xlsx'\n"
    + "".join(f"    {line}\n" for line in DOUBLE.splitlines())
    + "\nmain()\n",
]
OWN_PATHS_OF_A_PERSON = [
    'INPUT_PATH, OUTPUT_PATH = "in.xlsx", "out.xlsx"\n' + DOUBLE,
    'INPUT_PATH: str = "in.xlsx"\n' + DOUBLE,
    'INPUT_PATH = (\n    "in.xlsx"\n)\n' + DOUBLE,
    'if True:\n    OUTPUT_PATH = "out.xlsx"\n' + DOUBLE,
    'print("INPUT_PATH = nothing"); INPUT_PATH = "x"\n' + DOUBLE,
]


@needs_bwrap
@pytest.mark.parametrize("mode", ["exact", "lenient"])
def test_code_that_sets_the_paths_itself_reads_and_writes_the_cases_own_files(tmp_path: Path, mode: Any) -> None:
    replies = OWN_PATHS + (OWN_PATHS_OF_A_PERSON if mode == "lenient" else [])
    assert [grade.success for grade in grade_all(tmp_path, list(map(fenced, replies)), mode=mode)] == [1.0] * len(
        replies
    )


@needs_bwrap
@pytest.mark.parametrize("mode", ["exact", "lenient"])
def test_the_answer_is_sought_on_the_answer_sheet(tmp_path: Path, mode: Any) -> None:
    first: list[list[Any]] = [["n"], [1]]
    write_workbook(tmp_path / "in.xlsx", {"Front": first, "Data": [["n", "2n"], [1, None], [2, None], [3, None]]})
    write_workbook(tmp_path / "out.xlsx", {"Front": first, "Data": [["n", "2n"], [1, 2], [2, 4], [3, 6]]})
    right = DOUBLE.replace("book.worksheets[0]", "book['Data']")
    replies = [fenced(right), fenced(FILL + SAVE), fenced(right.replace("2 * row", "3 * row"))]
    graded = grade_all(tmp_path, replies, position="B2:B4", sheet="Data", mode=mode)
    assert [grade.success for grade in graded] == [1.0, 0.0, 0.0]


@needs_bwrap
@pytest.mark.parametrize("mode", ["exact", "lenient"])
def test_without_a_sheet_the_expected_first_sheet_is_found_by_its_name(tmp_path: Path, mode: Any) -> None:
    in_front = DOUBLE.replace(SAVE, "book.create_sheet('Summary', 0)['B2'] = 9\n" + SAVE)
    renamed = DOUBLE.replace(SAVE, "sheet.title = 'Other'\n" + SAVE)
    graded = grade_all(tmp_path, [fenced(in_front), fenced(renamed)], position="B2:B4", mode=mode)
    assert [grade.success for grade in graded] == [1.0, 0.0]


def test_values_hidden_below_merged_cells_are_not_read(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.merge_cells("A1:B2")
    book.active["A1"], book.active["C1"] = 1, 3
    book.save(tmp_path / "merged.xlsx")
    sheet = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(tmp_path / "merged.xlsx") as archive:
        content = archive.read(sheet)
    hidden = content.replace(b'<c r="C1"', b'<c r="B1"><v>7</v></c><c r="C1"')
    assert hidden != content
    path = repacked(tmp_path / "merged.xlsx", tmp_path / "hidden.xlsx", sheet, hidden)
    assert read_cells(path, parse_ranges("A1:C2")) == [[1, None, 3, None, None, None]]


def test_there_are_at_least_forty_truth_cases() -> None:
    assert len(VALUES) + len(CODE) >= 40


@needs_bwrap
def test_code_that_loops_for_ever_or_eats_memory_is_a_failure_that_names_the_limit(tmp_path: Path) -> None:
    endless, greedy = "while True:\n    pass\n", "kept = []\nwhile True:\n    kept.append(bytearray(10**6))\n"
    found = grade_all(tmp_path, [fenced(endless), fenced(greedy)], seconds=3.0, memory_mb=128)
    assert [one.success for one in found] == [0.0, 0.0]
    assert found[0].remark == "case 1: stopped at the limit of time"
    assert "memory" in found[1].remark.lower() or "limit of time" in found[1].remark


@needs_bwrap
def test_the_expected_workbook_is_not_where_the_code_runs(tmp_path: Path) -> None:
    look = "import os\nprint(os.listdir('/workspace'), file=__import__('sys').stderr)\nraise SystemExit(3)\n"
    (found,) = grade_all(tmp_path, [fenced(look)])
    assert "['input.xlsx']" in found.remark


@needs_bwrap
def test_an_expected_workbook_that_does_not_open_is_a_grader_error(tmp_path: Path) -> None:
    (tmp_path / "out.xlsx").write_bytes(b"not a workbook")
    with pytest.raises(GraderError, match=r"the expected workbook out\.xlsx"):
        grade_all(tmp_path, [fenced(DOUBLE)])


def refused(path: Path) -> str:
    with pytest.raises(WorkbookError) as caught:
        read_cells(path, parse_ranges("A1"))
    return str(caught.value)


def repacked(source: Path, target: Path, part: str, content: bytes) -> Path:
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            new.writestr(info.filename, content if info.filename == part else old.read(info))
    return target


def test_hostile_workbooks_are_refused_before_they_are_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = write_workbook(tmp_path / "good.xlsx", {"Data": [[1]]})
    sheet = "xl/worksheets/sheet1.xml"
    assert "compressed beyond" in refused(repacked(good, tmp_path / "bomb.xlsx", sheet, b" " * (20 << 20)))
    entity = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>'
    assert "document type" in refused(repacked(good, tmp_path / "entity.xlsx", sheet, entity))
    assert "does not open" in refused(repacked(good, tmp_path / "broken.xlsx", sheet, b"<worksheet><sheetData><row"))
    (tmp_path / "text.xlsx").write_text("name,value\n")
    assert "no archive" in refused(tmp_path / "text.xlsx")
    (tmp_path / "empty.xlsx").write_bytes(b"")
    assert "no archive" in refused(tmp_path / "empty.xlsx")
    (tmp_path / "cut.xlsx").write_bytes(good.read_bytes()[:-200])
    assert "no archive" in refused(tmp_path / "cut.xlsx")
    (tmp_path / "link.xlsx").symlink_to(good)
    assert "there is no workbook" in refused(tmp_path / "link.xlsx")
    assert "there is no workbook" in refused(tmp_path / "missing.xlsx")
    monkeypatch.setattr(workbook_file, "MOST_UNPACKED", 100)
    assert "unpacks to more" in refused(good)
    monkeypatch.setattr(workbook_file, "MOST_FILE", 10)
    assert "MiB" in refused(good)


def test_a_workbook_that_claims_to_be_huge_is_read_only_where_it_is_asked(tmp_path: Path) -> None:
    good = write_workbook(tmp_path / "good.xlsx", {"Data": [[1, 2], [3, 4]]})
    with zipfile.ZipFile(good) as archive:
        content = archive.read("xl/worksheets/sheet1.xml")
    huge = content.replace(b'ref="A1:B2"', b'ref="A1:XFD1048576"')
    assert huge != content
    path = repacked(good, tmp_path / "huge.xlsx", "xl/worksheets/sheet1.xml", huge)
    assert read_cells(path, parse_ranges("A1:B3")) == [[1, 2, 3, 4, None, None]]
    assert preview(path).splitlines()[1:] == ["1: 1 | 2", "2: 3 | 4"]


def test_a_link_to_another_workbook_is_not_followed(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active["A1"] = "='[/etc/passwd]Sheet1'!A1"
    book.save(tmp_path / "linked.xlsx")
    assert read_cells(tmp_path / "linked.xlsx", parse_ranges("A1")) == [[None]]


@pytest.mark.parametrize("text", ["", "A0", "A1:B", "1:2", "AAAA1", "A1:XFD1048576", "!A1", "A1048577", "Sheet1!"])
def test_a_range_that_is_none_or_too_large_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_ranges(text)


def test_ranges_are_read_as_the_benchmark_writes_them() -> None:
    first, second, third = parse_ranges("'My, Sheet'!A1:B2,C3,Other!$D$4:$C$3")
    assert (first.sheet, first.cells) == ("My, Sheet", 4)
    assert (second.sheet, second.first_column, second.first_row) == ("", 3, 3)
    assert (third.sheet, third.first_column, third.last_column, third.first_row) == ("Other", 3, 4, 3)


def test_a_workbook_that_cannot_be_decompressed_is_a_bad_answer_and_no_failure_of_the_grader(tmp_path: Path) -> None:
    path = tmp_path / "book.xlsx"
    write_workbook(path, {"Data": [[1]]})
    content = bytearray(path.read_bytes())
    for at in range(40, 400, 7):
        content[at] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(WorkbookError):
        read_cells(path, parse_ranges("Data!A1"))
