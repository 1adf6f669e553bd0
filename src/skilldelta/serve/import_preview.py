"""What an import would understand of a file, before it is added: the wizard of the dashboard's import page."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

from skilldelta.bank.importers import FORMATS, Defaults, Source, UnsaidError, read_any, tool_formats
from skilldelta.bank.importers.columns import PAIRS, RUNS
from skilldelta.bank.importers.source_reading import Reading, left_out_lines, understood
from skilldelta.errors import InputError

# Of a file's beginning, enough for one line of a wide table.
_HEAD = 1 << 20
_MOST_COLUMNS = 200


def import_preview(source: Source, defaults: Defaults, content: bytes, *, format: str) -> dict[str, Any]:
    """What would be imported, what is missing, and the columns that a mapping can name; nothing is added."""
    reading: Reading | None = None
    problem, questions = "", []
    try:
        reading = read_any(source, defaults, format=format)
    except InputError as error:
        problem = str(error)
        if isinstance(error, UnsaidError):
            questions = [{"about": one.about, "name": one.name, "guess": one.guess} for one in error.questions]
        # Most files lack one name only: what else they hold is shown with a name in its place.
        stand_in = replace(defaults, agent=defaults.agent or "(no agent yet)", skill=defaults.skill or "(no skill yet)")
        with suppress(InputError):
            reading = read_any(source, stand_in, format=format)
    return {
        "problem": problem or None,
        "format": None if reading is None else reading.format,
        "why": None if reading is None else reading.why,
        "understood": [] if reading is None else [asdict(row) for row in understood(reading)],
        "pairs": 0 if reading is None else len(reading.pairing().pairs),
        "notes": [] if reading is None else [*reading.notes, *left_out_lines(reading.left_out)],
        "questions": questions,
        "columns": _columns(content),
        "fields": sorted(PAIRS | RUNS),
        "formats": sorted({*FORMATS, *tool_formats()}),
    }


def _columns(content: bytes) -> Sequence[str]:
    """The names in the first line of a table or of a file of rows; none where the file is neither."""
    line = content[:_HEAD].decode("utf-8-sig", errors="replace").lstrip().partition("\n")[0].strip()
    if not line or "\0" in line:
        return []
    try:
        row = json.loads(line)
    except ValueError:
        if line[0] in "[{<" or "\ufffd" in line:
            return []
        dialect = max(",;\t", key=line.count)
        return [name for name in next(csv.reader([line], delimiter=dialect)) if name][:_MOST_COLUMNS]
    return list(row)[:_MOST_COLUMNS] if isinstance(row, dict) else []
