"""The formats of SkillDelta's own and of the paper's authors, and folders of such files.

A folder is one source: its files in order of their names, a pair in two files being repeated.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers import paper_documents, paper_runs
from skilldelta.bank.importers.detection import detect
from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.row_files import csv_rows, json_rows, parquet_rows, read_rows, read_workbook
from skilldelta.bank.importers.source import Source, json_lines
from skilldelta.errors import InputError
from skilldelta.nouns import plural
from skilldelta.records import Agent, Execution


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file: how a person knows it, and what reads it."""

    description: str
    read: Callable[[Source, Defaults], Batch]


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "pairs.jsonl": Format(
            "one task per line with the outcomes of both arms", partial(read_rows, rows_in=json_lines, form="pairs")
        ),
        "runs.jsonl": Format("one execution per line", partial(read_rows, rows_in=json_lines, form="runs")),
        "csv": Format(
            "a CSV table with the columns of pairs.jsonl or runs.jsonl",
            partial(read_rows, rows_in=csv_rows, is_table=True),
        ),
        "workbook": Format("a sheet of an .xlsx or .ods workbook with such columns", read_workbook),
        "json": Format(
            "a JSON array with the rows of pairs.jsonl or runs.jsonl", partial(read_rows, rows_in=json_rows)
        ),
        "parquet": Format(
            "a Parquet table with the columns of pairs.jsonl or runs.jsonl", partial(read_rows, rows_in=parquet_rows)
        ),
        "paper-panel": Format("the paper's panel.json, embeddings NPZ beside it", paper_documents.read_panel),
        "paper-support": Format("the paper's support index (skilldelta-support-v1)", paper_documents.read_support),
        "paper-runs": Format("the paper's native run JSONL", paper_runs.read),
    }
)

_SUFFIXES = frozenset((".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".gz", ".xlsx", ".xlsm", ".ods"))
_MOST_FILES = 10_000


class FolderBatch(NamedTuple):
    """The records of a folder's files, and the formats that they had."""

    batch: Batch
    formats: tuple[str, ...]


def read_folder(folder: Path, format: str, defaults: Defaults, refusal: Callable[[], InputError]) -> FolderBatch:
    """Every file that has a known format; the others are named in a note. `refusal` is for a folder without any."""
    batches: list[Batch] = []
    notes: list[str] = []
    formats: dict[str, None] = {}
    faults: list[InputError] = []
    digests: dict[bytes, Path] = {}
    for path in _files_in(folder, refusal):
        source, name = Source(path), path.relative_to(folder)
        first = digests.setdefault(_digest(source), name)
        if first != name:
            notes.append(f"{name} is a copy of {first}: passed over")
            continue
        try:
            format_ = detect(source, defaults) if format == "auto" else format
            if format == "auto" and format_ == "json" and not _may_be_rows(source):
                raise InputError(f"{path}: an array of no objects")
        except InputError as error:
            faults.append(error)
            notes.append(f"{name} has no known format: passed over")
            continue
        batch = FORMATS[format_].read(source, defaults)
        formats.setdefault(format_)
        notes += [f"{name}: {remark}" for remark in batch.notes]
        batches.append(batch)
    if not batches:
        raise faults[0] if len(faults) == 1 else refusal()
    whole = _merged(batches)
    return FolderBatch(replace(whole, notes=(*notes, *whole.notes)), tuple(formats))


def _may_be_rows(source: Source) -> bool:
    """Whether an array begins with an object; a folder has many other arrays in it."""
    head = source.head(1024).lstrip()
    return not head.startswith(b"[") or head[1:].lstrip().startswith(b"{")


def _digest(source: Source) -> bytes:
    with source.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _files_in(folder: Path, refusal: Callable[[], InputError]) -> list[Path]:
    """The data files of a folder and of those below it; hidden ones and other kinds are passed over.

    `refusal` is for a folder without any.
    """
    try:
        below = (path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file())
        files = list(itertools.islice(below, _MOST_FILES + 1))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror}); check the folder and its permissions") from None
    if len(files) > _MOST_FILES:
        raise InputError(f"{folder}: more than {_MOST_FILES:,} files; name a folder with fewer")
    visible = [path for path in files if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    if not visible:
        raise refusal()
    return sorted(visible)


def _merged(batches: Sequence[Batch]) -> Batch:
    """The batches of a folder's files as one: a run that another file has too is a further repetition of its pair.

    Runs that agree in everything, tokens among them, are copies and keep their number, so that they count once.
    """
    amounts: dict[_Key, tuple[float | None, float | None]] = {}
    following: dict[_Arm, int] = {}
    executions: list[Execution] = []
    repeated: set[_Arm] = set()
    for batch in batches:
        shifts = {_arm(e): following.get(_arm(e), 0) for e in batch.executions if _is_another(e, amounts)}
        repeated |= shifts.keys()
        came = [replace(e, repetition=e.repetition + shifts.get(_arm(e), 0)) for e in batch.executions]
        for e in came:
            amounts[_arm(e), e.repetition] = (e.success, e.tokens)
            following[_arm(e)] = max(following.get(_arm(e), 0), e.repetition + 1)
        executions += came
    verbs = ("arm of a pair stands", "arms of pairs stand")
    return Batch(
        tasks=tuple(dict.fromkeys(task for batch in batches for task in batch.tasks)),
        skills=tuple(dict.fromkeys(skill for batch in batches for skill in batch.skills)),
        executions=tuple(executions),
        listed=tuple(dict.fromkeys(execution for batch in batches for execution in batch.listed)),
        vectors=tuple(vector for batch in batches for vector in batch.vectors),
        notes=(f"{plural(len(repeated), *verbs)} in several files: taken as repetitions",) if repeated else (),
    )


_Arm = tuple[str, str, str, str, Agent, str]
_Key = tuple[_Arm, int]


def _arm(e: Execution) -> _Arm:
    return (e.suite, e.task_id, e.skill_id, e.skill_digest, e.agent, e.condition)


def _is_another(e: Execution, amounts: Mapping[_Key, tuple[float | None, float | None]]) -> bool:
    """Whether an earlier file has an outcome under the same number that is not, for all one can tell, this one."""
    earlier = amounts.get((_arm(e), e.repetition))
    if earlier is None or earlier[0] is None or e.success is None:
        return False
    return e.tokens is None or earlier != (e.success, e.tokens)
