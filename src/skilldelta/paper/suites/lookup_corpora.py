"""ToolQA's corpora on a user's disk: its tables, turned into SQLite on first use, and its texts.

Tables hold millions of rows, so they are read as streams and queried where they lie. All values are texts and are compared
as texts, as the benchmark's own tools do: the texts are those that pandas 2 makes of a table, whichever pandas is installed,
if any. Whole numbers of a column with gaps end in ".0", a gap is "nan", and a null of a JSON row is "None".
"""

from __future__ import annotations

import csv
import re
import sqlite3
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from skilldelta.errors import InputError
from skilldelta.files import json_lines

TABLES = {
    "flights": "flights/Combined_Flights_2022.csv",
    "coffee": "coffee/coffee_price.csv",
    "airbnb": "airbnb/Airbnb_Open_Data.csv",
    "yelp": "yelp/yelp_academic_dataset_business.json",
}
TEXTS = {
    "agenda": ("agenda/agenda_descriptions_merged.jsonl", "event"),
    "scirex": ("scirex/Preprocessed_Scirex.jsonl", "content"),
}
_MOST_FIELD = 16 << 20
# What pandas reads as a gap in a CSV file.
_GAPS = frozenset(
    [
        "",
        "#N/A",
        "#N/A N/A",
        "#NA",
        "-1.#IND",
        "-1.#QNAN",
        "-NaN",
        "-nan",
        "1.#IND",
        "1.#QNAN",
        "<NA>",
        "N/A",
        "NA",
        "NULL",
        "NaN",
        "None",
        "n/a",
        "nan",
        "null",
    ]
)
_WHOLE = re.compile(r"\s*[+-]?[0-9]+\s*")
_FLOAT = re.compile(r"\s*[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity)\s*", re.IGNORECASE)
_ABSENT = object()


def check_corpora(folder: Path) -> list[str]:
    """What a corpora folder lacks, in words; a folder with none of the files is refused."""
    files = {**TABLES, **{name: place for name, (place, _) in TEXTS.items()}}
    lacking = {name: place for name, place in files.items() if not (folder / place).is_file()}
    if len(lacking) == len(files):
        raise InputError(
            f"{folder}: none of ToolQA's corpora is in this folder; expected {', '.join(sorted(files.values()))}"
        )
    return [f"no {place}: questions about {name} have no tool" for name, place in lacking.items()]


def available(folder: Path) -> tuple[list[str], list[str]]:
    """The tables and the texts that a corpora folder has."""
    tables = [name for name, place in TABLES.items() if (folder / place).is_file()]
    return tables, [name for name, (place, _) in TEXTS.items() if (folder / place).is_file()]


def read_texts(folder: Path, name: str) -> list[str]:
    """The passages of a text corpus."""
    place, field = TEXTS[name]
    return [str(row[field]) for _, row in json_lines(folder / place) if row.get(field)]


def table_file(folder: Path, name: str, cache: Path) -> Path:
    """A table as an SQLite file, written on first use; a process that dies meanwhile leaves no half of it."""
    target = cache / f"{name}.sqlite"
    if target.is_file():
        return target
    cache.mkdir(parents=True, exist_ok=True)
    unfinished = cache / f"{name}-{uuid.uuid4().hex[:8]}.partial"
    try:
        with closing(sqlite3.connect(unfinished)) as connection:
            _fill(connection, folder / TABLES[name])
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    return target


def columns_of(connection: sqlite3.Connection) -> list[str]:
    """The columns of the one table, in file order."""
    return [str(row[1]) for row in connection.execute("PRAGMA table_info(data)")]


def quoted(column: str) -> str:
    """A column's name as SQL writes it."""
    return '"' + column.replace('"', '""') + '"'


def _fill(connection: sqlite3.Connection, path: Path) -> None:
    columns, rows = _json_rows(path) if path.suffix == ".json" else _csv_rows(path)
    if not columns:
        raise InputError(f"{path}: the table has no columns")
    connection.execute("PRAGMA journal_mode=OFF")
    connection.execute(f"CREATE TABLE data ({', '.join(f'{quoted(name)} TEXT' for name in columns)})")
    places = ", ".join("?" for _ in columns)
    whole = ((row + [""] * len(columns))[: len(columns)] for row in rows)
    connection.executemany(f"INSERT INTO data VALUES ({places})", whole)
    connection.commit()


def _csv_rows(path: Path) -> tuple[list[str], Iterable[list[str]]]:
    """The columns and rows of a CSV file, each value as pandas prints it. The file is read twice: types come first."""
    csv.field_size_limit(min(_MOST_FIELD, sys.maxsize))

    def rows() -> Iterator[list[str]]:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            yield from (row for row in csv.reader(file) if row)

    names = next(rows(), [])
    kinds = [_Column() for _ in names]
    body = rows()
    next(body, None)
    for row in body:
        for kind, value in zip(kinds, row, strict=False):
            kind.add(value)
        for kind in kinds[len(row) :]:
            kind.add("")
    body = rows()
    next(body, None)
    printers = [kind.printer() for kind in kinds]
    whole = ((row + [""] * (len(names) - len(row)))[: len(names)] for row in body)
    return _distinct(names), ([show(value) for show, value in zip(printers, row, strict=True)] for row in whole)


class _Column:
    """What pandas takes a column's values for: whole numbers, numbers, truths, or texts, with or without gaps."""

    __slots__ = ("has_gaps", "has_values", "kinds")

    def __init__(self) -> None:
        self.kinds = {"whole", "number", "truth"}
        self.has_gaps = self.has_values = False

    def add(self, value: str) -> None:
        if value in _GAPS:
            self.has_gaps = True
            return
        self.has_values = True
        if not self.kinds:
            return
        if "whole" in self.kinds and not (_WHOLE.fullmatch(value) and abs(int(value)) < 2**63):
            self.kinds.discard("whole")
        if "number" in self.kinds and not _FLOAT.fullmatch(value):
            self.kinds.discard("number")
        if "truth" in self.kinds and value.lower() not in ("true", "false"):
            self.kinds.discard("truth")

    def printer(self) -> Callable[[str], str]:
        if not self.has_values:
            return lambda value: "nan"
        if "whole" in self.kinds and not self.has_gaps:
            return lambda value: str(int(value))
        if "number" in self.kinds:
            return lambda value: "nan" if value in _GAPS else repr(float(value))
        if "truth" in self.kinds:
            return lambda value: "nan" if value in _GAPS else value.capitalize()
        return lambda value: "nan" if value in _GAPS else value


def _json_rows(path: Path) -> tuple[list[str], Iterable[list[str]]]:
    """The columns and rows of a file with one JSON object per line, each value as pandas prints it."""
    columns: dict[str, set[type | None]] = {}
    filled: Counter[str] = Counter()
    rows = 0
    for _, row in json_lines(path):
        rows += 1
        filled.update(map(str, row))
        for key, value in row.items():
            columns.setdefault(str(key), set()).add(None if value is None else type(value))
    printers = {
        name: _json_printer(types, has_gaps=None in types or filled[name] < rows) for name, types in columns.items()
    }
    names = list(columns)
    return names, ([printers[name](row.get(name, _ABSENT)) for name in names] for _, row in json_lines(path))


def _json_printer(types: set[type | None], *, has_gaps: bool) -> Callable[[Any], str]:
    numbers = types - {None}
    if numbers and numbers <= {int, float} and (float in numbers or has_gaps):
        return lambda value: "nan" if value is None or value is _ABSENT else repr(float(value))
    return lambda value: "nan" if value is _ABSENT else str(value)


def _distinct(names: Iterable[str]) -> list[str]:
    """Names as pandas makes them distinct: a second `a` is `a.1`, one without a name says so."""
    distinct: list[str] = []
    for place, name in enumerate(names):
        name = name or f"Unnamed: {place}"
        number, candidate = 0, name
        while candidate.lower() in {other.lower() for other in distinct}:  # SQLite ignores case, so we do too
            number += 1
            candidate = f"{name}.{number}"
        distinct.append(candidate)
    return distinct
