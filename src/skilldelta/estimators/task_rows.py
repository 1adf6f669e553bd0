"""Files with one row per task, CSV or JSONL, that say of tasks what was decided or computed elsewhere."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from skilldelta.files import fault, json_objects, lines


def read_task_rows(path: Path, column: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows with their line numbers; a CSV needs a header with task_id and the column."""
    numbered = lines(path)
    first = next(numbered, (1, ""))
    if first[1].lstrip().startswith("{"):
        yield from json_objects(itertools.chain([first], numbered), path)
        return
    header = [name.strip().lower() for name in next(csv.reader([first[1]]), [])]
    if not {"task_id", column} <= set(header):
        raise fault(path, 1, f"the columns task_id and {column} are needed; add a header such as task_id,{column}")
    try:
        table = csv.reader((line for _, line in numbered), strict=True)
        for cells in table:
            if cells:
                yield table.line_num + 1, dict(zip(header, cells, strict=False))
    except csv.Error as error:
        raise fault(path, table.line_num + 1, f"not valid CSV ({error}); fix the quotes") from None
