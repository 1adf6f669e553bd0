"""The formats of SkillDelta's own and of the paper's authors, and folders of such files."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers import csv_table, json_array, paper_panel, paper_runs, paper_support, parquet, rows
from skilldelta.bank.importers.detection import detect
from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.folder import files_in, merged
from skilldelta.bank.importers.source import Source
from skilldelta.errors import InputError


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file: how a person knows it, and what reads it."""

    description: str
    read: Callable[[Source, Defaults], Batch]


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "pairs.jsonl": Format("one task per line with the outcomes of both arms", rows.read_pairs_jsonl),
        "runs.jsonl": Format("one execution per line", rows.read_runs_jsonl),
        "csv": Format("a CSV table with the columns of pairs.jsonl or runs.jsonl", csv_table.read),
        "json": Format("a JSON array with the rows of pairs.jsonl or runs.jsonl", json_array.read),
        "parquet": Format("a Parquet table with the columns of pairs.jsonl or runs.jsonl", parquet.read),
        "paper-panel": Format("the paper's panel.json, embeddings NPZ beside it", paper_panel.read),
        "paper-support": Format("the paper's support index (skilldelta-support-v1)", paper_support.read),
        "paper-runs": Format("the paper's native run JSONL", paper_runs.read),
    }
)


class FolderBatch(NamedTuple):
    """The records of a folder's files, and the formats that they had."""

    batch: Batch
    formats: tuple[str, ...]


def read_folder(folder: Path, format: str, said: Defaults, refusal: Callable[[], InputError]) -> FolderBatch:
    """Every file that has a known format; the others are named in a note. `refusal` is for a folder without any."""
    batches: list[Batch] = []
    notes: list[str] = []
    formats: dict[str, None] = {}
    faults: list[InputError] = []
    digests: dict[bytes, Path] = {}
    for path in files_in(folder, refusal):
        source, name = Source(path), path.relative_to(folder)
        first = digests.setdefault(_digest(source), name)
        if first != name:
            notes.append(f"{name} is a copy of {first}: passed over")
            continue
        try:
            found = detect(source, said) if format == "auto" else format
            if format == "auto" and found == "json" and not _may_be_rows(source):
                raise InputError(f"{path}: an array of no objects")
        except InputError as error:
            faults.append(error)
            notes.append(f"{name} has no known format: passed over")
            continue
        batch = FORMATS[found].read(source, said)
        formats.setdefault(found)
        notes += [f"{name}: {remark}" for remark in batch.notes]
        batches.append(batch)
    if not batches:
        raise faults[0] if len(faults) == 1 else refusal()
    whole = merged(batches)
    return FolderBatch(replace(whole, notes=(*notes, *whole.notes)), tuple(formats))


def _may_be_rows(source: Source) -> bool:
    """Whether an array begins with an object; a folder has many other arrays in it."""
    head = source.head(1024).lstrip()
    return not head.startswith(b"[") or head[1:].lstrip().startswith(b"{")


def _digest(source: Source) -> bytes:
    with source.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
