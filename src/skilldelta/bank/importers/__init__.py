"""Executions out of files: one reader a format, and the format told from the content."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers import csv_table, pairs_jsonl, paper_panel, paper_runs, paper_support, runs_jsonl
from skilldelta.bank.importers.detection import detect
from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.source import check_file
from skilldelta.errors import unknown_name

__all__ = ["FORMATS", "Format", "detect", "read_source"]


@dataclass(frozen=True, slots=True)
class Format:
    """One kind of file: how a person knows it, and what reads it."""

    description: str
    read: Callable[[Path, Defaults], Batch]


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "pairs.jsonl": Format("a task a line with the outcomes of both arms", pairs_jsonl.read),
        "runs.jsonl": Format("an execution a line", runs_jsonl.read),
        "csv": Format("CSV with the columns of either", csv_table.read),
        "paper-panel": Format("the paper's panel.json, embeddings NPZ beside it", paper_panel.read),
        "paper-support": Format("the paper's support index (skilldelta-support-v1)", paper_support.read),
        "paper-runs": Format("the paper's native run JSONL", paper_runs.read),
    }
)


def read_source(
    path: Path,
    *,
    format: str = "auto",
    agent: str | None = None,
    skill: str | None = None,
    suite: str | None = None,
) -> Batch:
    """The batch that a file holds; `agent`, `skill` and `suite` stand in for what its rows do not say.

    Nothing is returned from a file with a fault: the first one is raised with its file and line.
    """
    path = Path(path)
    if format != "auto" and format not in FORMATS:
        raise unknown_name("format", format, ["auto", *FORMATS])
    check_file(path)
    name = detect(path) if format == "auto" else format
    return FORMATS[name].read(path, Defaults(agent or "", skill or "", suite or ""))
