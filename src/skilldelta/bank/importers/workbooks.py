"""Workbooks as grids of cells: .xlsx and .ods, read with nothing but the standard library.

Only values are read: no formula is run, no link is followed, and nothing but the chosen sheet is unpacked.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

from skilldelta.bank.importers.source import Source
from skilldelta.errors import InputError, shown

Grid = list[list[Any]]

WORKBOOKS = (".xlsx", ".xlsm", ".ods")
_MOST_UNPACKED = 256 << 20
_MOST_COLUMNS = 1_000
_MOST_ROWS = 1_000_000
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"


def is_workbook(source: Source) -> bool:
    """Whether a file is a workbook, by its name and its first bytes."""
    return source.path.suffix.lower() in WORKBOOKS and source.head(2) == b"PK"


def read_grid(source: Source, sheet: str = "") -> Grid:
    """The cells of one sheet, by name or number from 1; the first where none is named."""
    try:
        with source.raw() as file, zipfile.ZipFile(io.BytesIO(file.read())) as archive:
            names = set(archive.namelist())
            return _xlsx(source, archive, sheet) if "xl/workbook.xml" in names else _ods(source, archive, sheet)
    except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, EOFError) as error:
        raise InputError(
            f"{source.path}: not a readable workbook ({str(error)[:80]}); save it again, or as CSV"
        ) from None


def _parsed(source: Source, archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    if archive.getinfo(name).file_size > _MOST_UNPACKED:
        raise InputError(f"{source.path}: the sheet is larger than {_MOST_UNPACKED >> 20} MiB; save it as CSV")
    content = archive.read(name)
    if b"<!DOCTYPE" in content[:4096] or b"<!ENTITY" in content[:4096]:
        raise InputError(f"{source.path}: a workbook with a document type is not trusted; save it again")
    return ElementTree.fromstring(content)


def _chosen(source: Source, sheets: list[str], sheet: str) -> int:
    if not sheet:
        return 0
    if sheet in sheets:
        return sheets.index(sheet)
    if sheet.isdecimal() and 0 < int(sheet) <= len(sheets):
        return int(sheet) - 1
    raise InputError(
        f"{source.path}: there is no sheet {shown(sheet)}; the sheets are {', '.join(map(shown, sheets[:10]))}"
    )


def _xlsx(source: Source, archive: zipfile.ZipFile, wanted: str) -> Grid:
    book = _parsed(source, archive, "xl/workbook.xml")
    sheets = list(book.iter(f"{_MAIN}sheet"))
    position = _chosen(source, [sheet.get("name", "") for sheet in sheets], wanted)
    links = {link.get("Id"): link.get("Target", "") for link in _parsed(source, archive, "xl/_rels/workbook.xml.rels")}
    target = links.get(sheets[position].get(_RELATION), "").lstrip("/")
    shared: list[str] = []
    if "xl/sharedStrings.xml" in archive.namelist():
        strings = _parsed(source, archive, "xl/sharedStrings.xml")
        shared = ["".join(text.text or "" for text in item.iter(f"{_MAIN}t")) for item in strings.iter(f"{_MAIN}si")]
    page = _parsed(source, archive, target if target.startswith("xl/") else f"xl/{target}")
    grid: Grid = []
    for row in page.iter(f"{_MAIN}row"):
        number = int(row.get("r", len(grid) + 1))
        if number > _MOST_ROWS:
            break
        grid += [[] for _ in range(number - len(grid))]
        for cell in row.iter(f"{_MAIN}c"):
            column = _column(cell.get("r", ""), len(grid[number - 1]))
            if column < _MOST_COLUMNS:
                grid[number - 1] += [None] * (column + 1 - len(grid[number - 1]))
                grid[number - 1][column] = _xlsx_value(cell, shared)
    return grid


def _column(reference: str, following: int) -> int:
    letters = re.match(r"[A-Z]+", reference)
    if letters is None:
        return following
    column = 0
    for letter in letters[0]:
        column = 26 * column + ord(letter) - 64
    return column - 1


def _xlsx_value(cell: ElementTree.Element, shared: list[str]) -> Any:
    kind, value = cell.get("t", "n"), cell.findtext(f"{_MAIN}v")
    if kind == "inlineStr":
        return "".join(text.text or "" for text in cell.iter(f"{_MAIN}t"))
    if value is None or kind == "e":
        return None
    if kind == "s":
        return shared[int(value)] if int(value) < len(shared) else None
    if kind == "b":
        return value == "1"
    return value if kind == "str" else _number(value)


def _number(text: str) -> Any:
    number = float(text)
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _ods(source: Source, archive: zipfile.ZipFile, sheet: str) -> Grid:
    tables = list(_parsed(source, archive, "content.xml").iter(f"{_TABLE}table"))
    position = _chosen(source, [table.get(f"{_TABLE}name", "") for table in tables], sheet)
    grid: Grid = []
    for row in tables[position].iter(f"{_TABLE}table-row"):
        cells = list(_ods_cells(row))
        while cells and cells[-1] is None:
            cells.pop()
        # The rest of a sheet is one empty row that is repeated a million times.
        repeated = int(row.get(f"{_TABLE}number-rows-repeated", 1))
        grid += [list(cells) for _ in range(min(repeated, 100 if not cells else 10_000))]
        if len(grid) > _MOST_ROWS:
            break
    return grid


def _ods_cells(row: ElementTree.Element) -> Iterator[Any]:
    for cell in row:
        if not cell.tag.endswith("table-cell"):
            continue
        repeated = min(int(cell.get(f"{_TABLE}number-columns-repeated", 1)), _MOST_COLUMNS)
        kind, value = cell.get(f"{_OFFICE}value-type"), cell.get(f"{_OFFICE}value")
        text = "\n".join("".join(line.itertext()) for line in cell.iter(f"{_TEXT}p"))
        if kind == "boolean":
            content: Any = cell.get(f"{_OFFICE}boolean-value") == "true"
        else:
            content = _number(value) if value is not None else text or None
        yield from [content] * repeated
