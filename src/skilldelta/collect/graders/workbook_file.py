"""Reading cells of a workbook that somebody else wrote: bounded, without following links, values and not formulas.

An .xlsx file is an archive of XML. Before anything is parsed, the archive's own figures are checked, so that a small file
that unpacks to gigabytes, a document type with entities, or a range of a billion cells is refused.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from skilldelta.errors import InputError, MissingExtraError

# Bytes of a workbook, packed and unpacked, its parts, and its cells: far above what agents write, far below a bomb.
MOST_FILE = 64 << 20
MOST_UNPACKED = 256 << 20
MOST_PARTS = 5_000
MOST_CELLS = 2_000_000
# How often a part may be larger unpacked; tables of zeros reach about 200.
_RATIO = 400
# Merged blocks that are read; later ones are left alone.
_MOST_MERGED = 100_000
_LARGEST_COLUMN, _LARGEST_ROW = 16_384, 1_048_576
# openpyxl accepts names of columns up to ZZZ.
_LAST_NAMED_COLUMN = 18_278
_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d{1,7})")


class WorkbookError(InputError):
    """A workbook that cannot be read: not one, broken, or beyond the limits."""


@dataclass(frozen=True, slots=True)
class CellRange:
    """A block of cells; `sheet` is empty for the first sheet."""

    sheet: str
    first_column: int
    first_row: int
    last_column: int
    last_row: int

    @property
    def cells(self) -> int:
        """How many cells there are: none where the corners are reversed."""
        width, height = self.last_column - self.first_column + 1, self.last_row - self.first_row + 1
        return max(width, 0) * max(height, 0)


def parse_ranges(text: str) -> list[CellRange]:
    """`A1`, `A1:B7`, `'Sheet 2'!C3:C9`, several joined by commas; whole columns such as `B:D` end at the last used row."""
    ranges = [_parse_range(part) for part in re.findall(r"(?:'[^']*'|[^,'])+", text) if part.strip()]
    if not ranges:
        raise InputError(f"no range of cells in {text[:60]!r}; write it like Sheet1!A2:B10")
    if sum(block.cells for block in ranges) > MOST_CELLS:
        raise InputError(f"the range {text[:60]!r} has more than {MOST_CELLS:,} cells")
    return ranges


def harness_ranges(text: str) -> list[CellRange]:
    """The ranges of an answer position as the benchmark's harness reads them, oddities included.

    A comma always separates, a sheet's name ends at the first exclamation mark, a reversed range has no cells, and in a
    range a lower-case letter counts on from Z. What the harness cannot read raises: its runner counts that as a failure.
    """
    ranges = []
    for part in (part.strip() for part in text.split(",")):
        if not part:
            continue
        sheet, _, cells = part.partition("!") if "!" in part else ("", "", part)
        ranges.append(_harness_range(sheet.strip().strip("'\""), cells.strip().strip("'\"")))
    if sum(block.cells for block in ranges) > MOST_CELLS:
        raise InputError(f"the range {text[:60]!r} has more than {MOST_CELLS:,} cells")
    return ranges


def _harness_range(sheet: str, cells: str) -> CellRange:
    corners = cells.split(":")
    if len(corners) == 1:
        cell = _CELL.fullmatch(cells)
        if not cell or not 1 <= int(cell[2]) <= _LARGEST_ROW:
            raise InputError(f"the benchmark's harness cannot read the cell {cells[:60]!r}")
        column, row = _column(cell[1]), int(cell[2])
        return CellRange(sheet, column, row, column, row)
    letters = ["".join(character for character in corner if character.isalpha()) for corner in corners]
    digits = ["".join(character for character in corner if character.isdecimal()) for corner in corners]
    if len(corners) != 2 or not all(letters) or not all(0 < len(number) < 8 for number in digits):
        raise InputError(f"the benchmark's harness cannot read the range {cells[:60]!r}")
    # The harness numbers letters by their distance from "A", so that "a" is the 33rd column.
    columns = [_letters_number(word) for word in letters]
    rows = [int(number) for number in digits]
    block = CellRange(sheet, columns[0], rows[0], columns[1], rows[1])
    if block.cells and (min(columns[0], rows[0]) < 1 or columns[1] > _LAST_NAMED_COLUMN or rows[1] > _LARGEST_ROW):
        raise InputError(f"the range {cells[:60]!r} lies outside of a sheet")
    return block


def sheet_names(path: Path) -> list[str]:
    """The names of a workbook's sheets in their order, hidden ones and charts included."""
    with _opened(path, data_only=True) as book:
        return list(book.sheetnames)


def read_cells(path: Path, ranges: list[CellRange]) -> list[list[Any]]:
    """The values of each range, row by row; a sheet that is missing raises."""
    with _opened(path, data_only=True) as book:
        return [_values(book, block) for block in ranges]


def preview(path: Path, *, rows: int = 5, columns: int = 20, sheets: int = 10) -> str:
    """The first rows of each sheet in words, for a prompt; formulas are shown as they are written."""
    try:
        with _opened(path, data_only=False) as book:
            return "\n\n".join(_preview_of(book[name], name, rows, columns) for name in book.sheetnames[:sheets])
    except WorkbookError as error:
        raise WorkbookError(f"{path}: {error}") from None


def harness_preview(path: Path) -> str:
    """What SpreadsheetBench's harness shows of a workbook: of every sheet the first five rows and twenty columns."""
    check_archive(path)
    book = require_openpyxl("reading workbooks").load_workbook(path)
    lines = []
    for sheet in (book[name] for name in book.sheetnames):
        if not hasattr(sheet, "iter_rows"):
            continue
        rows, columns = sheet.max_row, sheet.max_column
        lines.append(f"## Sheet: {sheet.title}  (dim={sheet.dimensions}, max_row={rows}, max_col={columns})")
        first = sheet.iter_rows(max_row=min(rows, 5), max_col=min(columns, 20))
        lines += [" | ".join(f"{cell.coordinate}={_shortened(cell.value)}" for cell in row) for row in first]
        if rows > 5:
            lines.append(f"... ({rows - 5} more rows)")
        lines.append("")
    book.close()
    return "\n".join(lines)


def _shortened(value: Any) -> str:
    text = "" if value is None else str(value)
    return f"{text[:37]}..." if len(text) > 40 else text


@contextmanager
def _opened(path: Path, *, data_only: bool) -> Iterator[Any]:
    """A workbook of which nothing is trusted; whatever is wrong with it is a WorkbookError."""
    check_archive(path)
    load_workbook = require_openpyxl("reading workbooks").load_workbook
    try:
        book = load_workbook(path, read_only=True, data_only=data_only, keep_links=False)
    except MemoryError:
        raise
    except Exception as error:
        raise WorkbookError(f"the workbook does not open ({type(error).__name__})") from None
    try:
        yield book
    except WorkbookError:
        raise
    except Exception as error:
        raise WorkbookError(f"the workbook cannot be read ({type(error).__name__})") from None
    finally:
        book.close()


def check_archive(path: Path) -> None:
    """Refuse what is no archive, or one whose content is too large, too much compressed, or has a document type."""
    if path.is_symlink() or not path.is_file():
        raise WorkbookError("there is no workbook")
    if path.stat().st_size > MOST_FILE:
        raise WorkbookError(f"the workbook has more than {MOST_FILE >> 20} MiB")
    try:
        with zipfile.ZipFile(path) as archive:
            _check_parts(archive)
    except (WorkbookError, MemoryError):
        raise
    except Exception as error:  # whatever the decompressors raise; it must not become a failure of the grader
        raise WorkbookError(f"the workbook is no archive that can be read ({type(error).__name__})") from None


def _check_parts(archive: zipfile.ZipFile) -> None:
    parts = archive.infolist()
    if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > MOST_UNPACKED:
        raise WorkbookError("the workbook unpacks to more than a workbook of this benchmark has")
    for part in parts:
        if part.file_size > (1 << 20) and part.file_size > _RATIO * max(part.compress_size, 1):
            raise WorkbookError("a part of the workbook is compressed beyond what data can be")
        if part.filename.lower().endswith((".xml", ".rels", ".vml")):
            with archive.open(part) as opened:
                start = opened.read(4096)
            if b"<!DOCTYPE" in start.replace(b"\0", b"").upper():
                raise WorkbookError("a part of the workbook declares a document type")


def _parse_range(text: str) -> CellRange:
    sheet, mark, cells = text.strip().rpartition("!")
    first, _, last = cells.strip().strip("'").partition(":")
    columns_only = re.fullmatch(r"\$?([A-Za-z]{1,3}):\$?([A-Za-z]{1,3})", cells.strip().strip("'"))
    if columns_only:
        return CellRange(_bare(sheet), _column(columns_only[1]), 1, _column(columns_only[2]), 10_000)
    start, other = _CELL.fullmatch(first.strip()), _CELL.fullmatch((last or first).strip())
    if not start or not other or (mark and not _bare(sheet)):
        raise InputError(f"{text.strip()[:60]!r} is no range of cells; write it like Sheet1!A2:B10")
    columns = sorted((_column(start[1]), _column(other[1])))
    rows = sorted((int(start[2]), int(other[2])))
    if columns[1] > _LARGEST_COLUMN or not 1 <= rows[0] <= rows[1] <= _LARGEST_ROW:
        raise InputError(f"{text.strip()[:60]!r} lies outside of a sheet")
    return CellRange(_bare(sheet), columns[0], rows[0], columns[1], rows[1])


def _bare(sheet: str) -> str:
    return sheet.strip().strip("'\"").strip()


def _column(letters: str) -> int:
    return _letters_number(letters.upper())


def _letters_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def _values(book: Any, wanted: CellRange) -> list[Any]:
    names = book.sheetnames
    name = wanted.sheet or (names[0] if names else "")
    if name not in names:
        raise WorkbookError(f"the workbook has no sheet {name!r}")
    sheet = book[name]
    if not hasattr(sheet, "iter_rows"):
        raise WorkbookError(f"{name!r} is a chart and has no cells")
    if not wanted.cells:
        return []
    sheet.reset_dimensions()  # what a file says of its own size is not trusted
    width = wanted.last_column - wanted.first_column + 1
    rows = [
        [*row, *[None] * (width - len(row))]
        for row in sheet.iter_rows(
            min_row=wanted.first_row,
            max_row=wanted.last_row,
            min_col=wanted.first_column,
            max_col=wanted.last_column,
            values_only=True,
        )
    ]
    height = wanted.last_row - wanted.first_row + 1
    rows = rows[:height] + [[None] * width for _ in range(height - len(rows))]
    for block in _merged_blocks(book, sheet):
        # Of merged cells only the first has a value, whatever the file holds for the others.
        for row in range(max(block.first_row, wanted.first_row), min(block.last_row, wanted.last_row) + 1):
            for column in range(
                max(block.first_column, wanted.first_column), min(block.last_column, wanted.last_column) + 1
            ):
                if (row, column) != (block.first_row, block.first_column):
                    rows[row - wanted.first_row][column - wanted.first_column] = None
    return [value for row in rows for value in row]


def _merged_blocks(book: Any, sheet: Any) -> list[CellRange]:
    """The merged blocks of a sheet, read from its part of the archive: a read-only workbook does not know them."""
    blocks: list[CellRange] = []
    with book._archive.open(sheet._worksheet_path) as part:
        for _, element in ElementTree.iterparse(part):
            if element.tag.endswith("}mergeCell") and len(blocks) < _MOST_MERGED:
                blocks.append(_parse_range(element.get("ref") or ""))
            element.clear()
    return blocks


def _preview_of(sheet: Any, name: str, rows: int, columns: int) -> str:
    if not hasattr(sheet, "iter_rows"):
        return f"Sheet {name}: a chart"
    sheet.reset_dimensions()
    lines = []
    for number, row in enumerate(sheet.iter_rows(max_row=rows, max_col=columns, values_only=True), start=1):
        cells = " | ".join("" if value is None else str(value)[:60].replace("\n", " ") for value in row)
        lines.append(f"{number}: {cells.rstrip(' |')}")
    return "\n".join([f"Sheet {name}, first rows:", *lines])


def require_openpyxl(capability: str) -> Any:
    """The package that reads workbooks, which is optional."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError(capability, "suites") from None
    return openpyxl
