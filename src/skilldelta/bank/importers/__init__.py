"""Executions out of files: one reader per format, and the format told from the content.

`read_any` reads whatever a person has: a tool's folder or log, or a file of the formats here. `read_source` is the same for
callers that want the records only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers.columns import parse_mapping
from skilldelta.bank.importers.detection import detect
from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.joining import Unsaid, UnsaidError
from skilldelta.bank.importers.mapping_file import NameMapping, read_mapping
from skilldelta.bank.importers.row_formats import FORMATS, Format
from skilldelta.bank.importers.source import Source
from skilldelta.bank.importers.source_reading import Omission, Reading, read_any
from skilldelta.bank.importers.tool_run import ToolFormat, ToolResults, ToolRun, parse_arms, tool_formats
from skilldelta.errors import InputError
from skilldelta.records import Condition

__all__ = [
    "FORMATS",
    "Defaults",
    "Format",
    "NameMapping",
    "Omission",
    "Reading",
    "Source",
    "ToolFormat",
    "ToolResults",
    "ToolRun",
    "Unsaid",
    "UnsaidError",
    "detect",
    "parse_arms",
    "parse_mapping",
    "read_any",
    "read_mapping",
    "read_source",
    "tool_formats",
]


def read_source(
    source: Path | Source,
    *,
    format: str = "auto",
    agent: str | None = None,
    skill: str | None = None,
    suite: str | None = None,
    condition: Condition | None = None,
    repetitions: int | None = None,
    columns: Mapping[str, Sequence[str]] | None = None,
) -> Batch:
    """The batch that a file, a folder of files, or bytes hold.

    `agent`, `skill`, `suite` and `condition` stand in for what the rows do not say, `repetitions` says how many runs are
    behind each mean, and `columns` which columns hold what (see `parse_mapping`). Nothing is returned from a file with a
    fault: the first one is raised with its file and line.
    """
    if repetitions is not None and repetitions < 1:
        raise InputError(f"repetitions must be at least 1, got {repetitions}")
    defaults = Defaults(agent or "", skill or "", suite or "", condition, repetitions, columns or {})
    return read_any(source, defaults, format=format).batch
