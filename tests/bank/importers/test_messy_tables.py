"""Tables as people keep them: workbooks, titles, totals, marks, commas, percentages, and all faults at once."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest

from skilldelta.bank.importers import Defaults, read_any
from skilldelta.errors import InputError

ME = Defaults(agent="me", skill="adding")
GRID: list[list[Any]] = [
    ["Results of the spring evaluation", None, None, None],
    [],
    ["#", "Prompt", "Without skill", "With skill", "Tokens without"],
    [1, "Add 17 and 25.", "✗", "✓", "4,512"],
    [2, "Sum the list.", 1, "n/a", 12],
    [],
    [3, "Subtract 8 from 21.", "33,3 %", 0.5, "many"],
    ["Total", None, 0.44, 0.75, None],
]


def write_xlsx(path: Path, sheets: dict[str, Sequence[Sequence[Any]]]) -> Path:
    """A workbook with the parts that every spreadsheet program writes."""
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    rels = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
    office = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    with zipfile.ZipFile(path, "w") as archive:
        listed = "".join(f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"/>' for at, name in enumerate(sheets, 1))
        archive.writestr("xl/workbook.xml", f"<workbook {main} {office}><sheets>{listed}</sheets></workbook>")
        links = "".join(
            f'<Relationship Id="rId{at}" Target="worksheets/sheet{at}.xml"/>' for at in range(1, len(sheets) + 1)
        )
        archive.writestr("xl/_rels/workbook.xml.rels", f"<Relationships {rels}>{links}</Relationships>")
        texts: list[str] = []
        for at, grid in enumerate(sheets.values(), 1):
            rows = []
            for number, row in enumerate(grid, 1):
                cells = []
                for column, value in enumerate(row):
                    place = f'r="{"ABCDEFGH"[column]}{number}"'
                    if isinstance(value, str):
                        texts.append(value)
                        cells.append(f'<c {place} t="s"><v>{len(texts) - 1}</v></c>')
                    elif value is not None:
                        cells.append(f"<c {place}><v>{value}</v></c>")
                rows.append(f'<row r="{number}">{"".join(cells)}</row>')
            archive.writestr(
                f"xl/worksheets/sheet{at}.xml", f"<worksheet {main}><sheetData>{''.join(rows)}</sheetData></worksheet>"
            )
        strings = "".join(f"<si><t>{escape(text)}</t></si>" for text in texts)
        archive.writestr("xl/sharedStrings.xml", f"<sst {main}>{strings}</sst>")
    return path


def write_ods(path: Path, grid: Sequence[Sequence[Any]]) -> Path:
    spaces = " ".join(
        f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{short}:1.0"' for short in ("office", "table", "text")
    )
    rows = []
    for row in grid:
        cells = [
            f"<table:table-cell><text:p>{escape(value)}</text:p></table:table-cell>"
            if isinstance(value, str)
            else "<table:table-cell/>"
            if value is None
            else f'<table:table-cell office:value-type="float" office:value="{value}"/>'
            for value in row
        ]
        rows.append(f"<table:table-row>{''.join(cells)}</table:table-row>")
    rows.append('<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>')
    table = f'<table:table table:name="Sheet1">{"".join(rows)}</table:table>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", f"<office:document-content {spaces}>{table}</office:document-content>")
    return path


def outcomes(path: Path, said: Defaults = ME) -> dict[tuple[str, str], tuple[float | None, float | None]]:
    reading = read_any(path, said)
    texts = {task.task_id: task.text for task in reading.tasks}
    return {(texts[run.task_id], run.condition): (run.success, run.tokens) for run in reading.executions}


EXPECTED = {
    ("Add 17 and 25.", "skip"): (0.0, 4512.0),
    ("Add 17 and 25.", "use"): (1.0, None),
    ("Sum the list.", "skip"): (1.0, 12.0),
    ("Subtract 8 from 21.", "skip"): (pytest.approx(0.333), None),
    ("Subtract 8 from 21.", "use"): (0.5, None),
}


def test_a_messy_workbook_is_read_in_one_go(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "results.xlsx", {"Spring": GRID})
    assert outcomes(path) == EXPECTED
    notes = read_any(path, ME).notes
    assert any("1 row stands above the header in row 3" in note for note in notes)
    assert any("1 row of totals is passed over" in note for note in notes)
    assert any("1 value of tokens0 cannot be read as a number" in note for note in notes)


def test_an_open_document_has_the_same_rows(tmp_path: Path) -> None:
    assert outcomes(write_ods(tmp_path / "results.ods", GRID)) == EXPECTED


def test_a_sheet_is_chosen_by_name_or_number_and_an_unknown_one_is_refused(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "two.xlsx", {"Notes": [["nothing"]], "Spring": GRID})
    assert outcomes(path, Defaults(agent="me", skill="adding", sheet="Spring")) == EXPECTED
    assert outcomes(path, Defaults(agent="me", skill="adding", sheet="2")) == EXPECTED
    with pytest.raises(InputError, match="there is no sheet 'Autumn'; the sheets are 'Notes', 'Spring'"):
        read_any(path, Defaults(agent="me", skill="adding", sheet="Autumn"))


def test_a_csv_with_a_title_and_semicolons_is_read(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text(
        'Spring evaluation;;\n\n"Prompt";"Without skill (%)";"With skill (%)"\n"Add; then stop.";33,3;100\nMean;33,3;100\n',
        encoding="utf-8",
    )
    assert outcomes(path) == {
        ("Add; then stop.", "skip"): (pytest.approx(0.333), None),
        ("Add; then stop.", "use"): (1.0, None),
    }


def test_percentages_are_scaled_when_a_person_says_so(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("text,y0,y1\nAdd 1 and 2,40,75\n", encoding="utf-8")
    with pytest.raises(InputError, match="must lie in"):
        read_any(path, ME)
    scaled = Defaults(agent="me", skill="adding", scale=100.0)
    assert outcomes(path, scaled) == {("Add 1 and 2", "skip"): (0.4, None), ("Add 1 and 2", "use"): (0.75, None)}


def test_everything_that_is_wrong_with_a_table_is_said_at_once(tmp_path: Path) -> None:
    path = tmp_path / "results.csv"
    path.write_text("text,y0,y1\nfirst,0,1\nsecond,perhaps,1\nthird,0,7\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_any(path, ME)
    assert "results.csv:3: y0 must be a number" in str(caught.value)
    assert "line 4: y1 must lie in [0, 1], got 7" in str(caught.value)


def test_a_workbook_that_is_none_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "results.xlsx"
    path.write_bytes(b"PK\x03\x04 not a zip")
    with pytest.raises(InputError, match="not a readable workbook"):
        read_any(path, ME)
