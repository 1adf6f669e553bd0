"""ToolQA's corpora on a user's disk: its tables, turned into SQLite on first use, and its texts.

Tables hold millions of rows, so they are read as streams and queried where they lie. All values are texts and are compared
as texts, as the benchmark's own tools do. The benchmark's graphs are stored as Python pickles, which run code when they
are read; they are never opened.
"""

from __future__ import annotations

import csv
import json
import sqlite3
import sys
import uuid
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

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


def check_corpora(folder: Path) -> list[str]:
    """What a corpora folder lacks, in words; a folder with none of the files is refused."""
    files = {**TABLES, **{name: place for name, (place, _) in TEXTS.items()}}
    lacking = {name: place for name, place in files.items() if not (folder / place).is_file()}
    if len(lacking) == len(files):
        raise InputError(
            f"{folder}: none of ToolQA's corpora is in this folder; expected {', '.join(sorted(files.values()))}"
        )
    notes = [f"no {place}: questions about {name} have no tool" for name, place in lacking.items()]
    return [*notes, "the DBLP graphs are stored as pickles, which run code; questions about them have no tool"]


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
    csv.field_size_limit(min(_MOST_FIELD, sys.maxsize))

    def rows() -> Iterator[list[str]]:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            yield from csv.reader(file)

    everything = rows()
    names = next(everything, [])
    return _distinct(names), everything


def _json_rows(path: Path) -> tuple[list[str], Iterable[list[str]]]:
    columns: dict[str, None] = {}
    for number, (_, row) in enumerate(json_lines(path)):
        columns.update(dict.fromkeys(map(str, row)))
        if number > 1000:
            break
    names = list(columns)
    return names, ([_value(row.get(name)) for name in names] for _, row in json_lines(path))


def _value(value: object) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _distinct(names: Iterable[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        clean = name.strip() or f"column {len(found) + 1}"
        found.append(clean if clean.lower() not in {one.lower() for one in found} else f"{clean} {len(found) + 1}")
    return found
