"""Executions out of files: one reader per format, and the format told from the content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers import csv_table, json_array, paper_panel, paper_runs, paper_support, parquet, rows
from skilldelta.bank.importers.columns import FIELDS, parse_mapping
from skilldelta.bank.importers.detection import detect
from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.folder import files_in, merged
from skilldelta.bank.importers.source import Source
from skilldelta.errors import InputError, unknown_name
from skilldelta.files import MOST_DOCUMENT, check_file
from skilldelta.records import Condition

__all__ = ["FIELDS", "FORMATS", "MOST_DOCUMENT", "Format", "Source", "detect", "parse_mapping", "read_source"]


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file: how a person knows it, and what reads it."""

    description: str
    read: Callable[[Source, Defaults], Batch]


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "pairs.jsonl": Format("one task per line with the outcomes of both arms", rows.read_pairs_jsonl),
        "runs.jsonl": Format("one execution per line", rows.read_runs_jsonl),
        "csv": Format("CSV with the columns of either", csv_table.read),
        "json": Format("a JSON array of the rows of either", json_array.read),
        "parquet": Format("a Parquet table with the columns of either", parquet.read),
        "paper-panel": Format("the paper's panel.json, embeddings NPZ beside it", paper_panel.read),
        "paper-support": Format("the paper's support index (skilldelta-support-v1)", paper_support.read),
        "paper-runs": Format("the paper's native run JSONL", paper_runs.read),
    }
)


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
    source = source if isinstance(source, Source) else Source(Path(source))
    if format != "auto" and format not in FORMATS:
        raise unknown_name("format", format, ["auto", *FORMATS])
    if repetitions is not None and repetitions < 1:
        raise InputError(f"repetitions must be at least 1, got {repetitions}")
    defaults = Defaults(agent or "", skill or "", suite or "", condition, repetitions, columns or {})
    if source.content is None and os.path.isdir(source.path):
        return _read_folder(source.path, format, defaults)
    if source.content is None:
        check_file(source.path)
    return FORMATS[detect(source, defaults) if format == "auto" else format].read(source, defaults)


def _read_folder(folder: Path, format: str, defaults: Defaults) -> Batch:
    """Every file that has a known format; the others are named in a note."""
    batches: list[Batch] = []
    notes: list[str] = []
    faults: list[InputError] = []
    digests: dict[bytes, Path] = {}
    for path in files_in(folder):
        source, name = Source(path), path.relative_to(folder)
        first = digests.setdefault(_digest(source), name)
        if first != name:
            notes.append(f"{name} is a copy of {first}: passed over")
            continue
        try:
            found = detect(source, defaults) if format == "auto" else format
        except InputError as error:
            faults.append(error)
            notes.append(f"{name} has no known format: passed over")
            continue
        batch = FORMATS[found].read(source, defaults)
        notes += [f"{name}: {remark}" for remark in batch.notes]
        batches.append(batch)
    if not batches:
        raise faults[0]
    whole = merged(batches)
    return replace(whole, notes=(*notes, *whole.notes))


def _digest(source: Source) -> bytes:
    with source.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
