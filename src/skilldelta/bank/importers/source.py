"""Source files as numbered rows, with every fault placed at its file and line.

Opening, decoding and JSON are `files`'; what the values of a row mean is left to the formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from skilldelta.errors import InputError
from skilldelta.files import Place, check_file, fault, json_document, json_lines, lines

__all__ = ["Place", "Row", "RowError", "check_file", "fault", "json_document", "json_lines", "lines", "take_each"]

Row = Mapping[str, Any]


class RowError(InputError):
    """What is wrong with one row; whoever reads the file adds the place."""


def take_each(path: Path, rows: Iterable[tuple[Place, Row]], take: Callable[[Place, Row], None]) -> None:
    """Hand every row to `take`; a file without any is refused, and a row's fault gets its place."""
    place: Place = 1
    taken = 0
    try:
        for place, row in rows:
            take(place, row)
            taken += 1
    except RowError as error:
        raise fault(path, place, str(error)) from None
    if not taken:
        raise fault(path, 1, "the file has no rows; give a file with at least one")
