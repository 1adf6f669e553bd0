"""A table as people keep it: a title above the header, blank rows, totals below, and cells such as `✓`, `33,3 %` and `4,512`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from skilldelta.bank.importers.source import Row
from skilldelta.errors import shown
from skilldelta.files import Place, fault

# Rows that are looked at for the header.
_MOST_ABOVE = 30
_TOTAL = re.compile(
    r"\s*(?:grand\s+)?(?:total|totals|sum|mean|average|avg|overall|summe|gesamt|median|Σ|∑)\b[\s:]*\Z", re.IGNORECASE
)


def header_row(grid: Sequence[Sequence[Any]], is_known: Callable[[str], bool]) -> int | None:
    """Which row names the columns: the first with two or more known names, else with one; None where there is none."""
    best, most = None, 0
    for position, row in enumerate(grid[:_MOST_ABOVE]):
        names = [str(cell).strip() for cell in row if isinstance(cell, str) and cell.strip()]
        matches = sum(is_known(name) for name in names)
        if len(names) > 1 and matches > most:
            best, most = position, matches
    return best


def table_rows(
    path: Path, grid: Sequence[Sequence[Any]], is_known: Callable[[str], bool], notes: list[str]
) -> Iterator[tuple[Place, Row]]:
    """The rows below the header as JSON would give them, each with its row number; what is passed over is said."""
    at = header_row(grid, is_known)
    if at is None:
        columns = next((row for row in grid[:_MOST_ABOVE] if sum(cell is not None for cell in row) > 1), [])
        listed = ", ".join(shown(str(cell)) for cell in columns if cell is not None)
        raise fault(
            path, 1, f"no row names known columns; the first row has {listed or 'nothing'}; say --map FIELD=COLUMN"
        )
    header = [str(cell).strip() if cell is not None else "" for cell in grid[at]]
    twice = [name for name, count in Counter(header).items() if count > 1 and name]
    if twice:
        raise fault(path, at + 1, f"the column {shown(twice[0])} stands twice in the header; rename one")
    if above := sum(any(_is_filled(cell) for cell in row) for row in grid[:at]):
        notes.append(
            f"{above} {'row stands' if above == 1 else 'rows stand'} above the header in row {at + 1}: passed over"
        )
    totals = 0
    for number, row in enumerate(grid[at + 1 :], at + 2):
        cells = [cell if _is_filled(cell) else None for cell in row]
        filled = [cell for cell in cells if cell is not None]
        if not filled:
            continue
        if isinstance(filled[0], str) and _TOTAL.fullmatch(filled[0]):
            totals += 1
            continue
        padded = cells + [None] * (len(header) - len(cells))
        yield f"row {number}", {name: cell for name, cell in zip(header, padded, strict=False) if name}
    if totals:
        notes.append(f"{totals} {'row of totals is' if totals == 1 else 'rows of totals are'} passed over")


def _is_filled(cell: Any) -> bool:
    return cell is not None and not (isinstance(cell, str) and not cell.strip())


def plain_number(text: str) -> str:
    """A number as a program writes it: `33,3` as 33.3, `4,512` and `1.234,5` with their thousands joined.

    >>> plain_number("33,3"), plain_number("4,512"), plain_number("1.234,5"), plain_number("12 000")
    ('33.3', '4512', '1234.5', '12000')
    """
    bare = text.strip().replace("\u00a0", " ").replace("\u202f", " ")
    if re.fullmatch(r"[1-9]\d{0,2}([ ,']\d{3})+(\.\d+)?", bare):
        return re.sub(r"[ ,']", "", bare)
    if re.fullmatch(r"[1-9]\d{0,2}(\.\d{3})+,\d+", bare):
        return bare.replace(".", "").replace(",", ".")
    return bare.replace(",", ".") if re.fullmatch(r"[+-]?\d+,\d+", bare) else bare
