"""The files that people have of their own: JSONL, a JSON array, CSV and Parquet. They differ only in how they bring rows.

A JSON array may stand in an object, if it is the only one there. In CSV an empty cell is missing, and commas, semicolons
and tabs are recognized as separators. Parquet needs pyarrow.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers.columns import FIELDS, ColumnPlan, Columns, Form
from skilldelta.bank.importers.draft import Defaults, Draft
from skilldelta.bank.importers.fields import amount, task_text
from skilldelta.bank.importers.messy_tables import header_row, plain_number, table_rows
from skilldelta.bank.importers.pair_and_run_rows import take_pair, take_run
from skilldelta.bank.importers.source import (
    MOST_BYTES,
    Row,
    RowError,
    Source,
    json_value,
    lines,
    numbered_objects,
    take_each,
)
from skilldelta.bank.importers.vocabulary import ALIASES, arm_column, plain_name
from skilldelta.bank.importers.workbooks import read_grid
from skilldelta.errors import InputError, MissingExtraError, shown
from skilldelta.files import Place, fault
from skilldelta.nouns import listed, plural
from skilldelta.records import text_digest

PARQUET_MAGIC = b"PAR1"
_AT_ONCE = 4096


def read_rows(
    source: Source,
    defaults: Defaults,
    *,
    rows_in: Callable[[Source], Iterable[tuple[Place, Row]]],
    form: Form | None = None,
    is_table: bool = False,
) -> Batch:
    """The batch of rows that are pairs or runs; without `form` their columns say which.

    In a table that people keep (`is_table`) an amount that is no number is left out, and stops nothing.
    Every row that cannot be read is named at once, so that a table is mended in one go.
    """
    draft = Draft(source.path, defaults)
    faults: list[tuple[Place, str]] = []
    columns = Columns(defaults.columns, form, defaults.given)
    counts: Counter[Hashable] = Counter()
    unnamed = _Unnamed(draft)

    def take(place: Place, row: Row) -> None:
        plan = columns.plan(row)
        try:
            renamed = plan.applied(row) if plan.places else row
            if is_table:
                renamed = _without_bad_amounts(renamed, draft)
            renamed = _scaled(renamed, plan, defaults.scale)
            if "task_id" not in renamed:
                renamed = unnamed.with_id(renamed)
            if plan.form == "pairs":
                take_pair(draft, place, renamed)
            else:
                take_run(draft, counts, place, renamed)
        except RowError as error:
            # What an option says for the whole file is missing in every row.
            is_of_the_file = not draft.executions and not faults and " NAME at the import" in str(error)
            if len(faults) >= _MOST_FAULTS or is_of_the_file:
                raise RowError(plan.placed(str(error))) from None
            faults.append((place, plan.placed(str(error))))

    take_each(source.path, rows_in(source), take)
    if faults:
        raise _all_faults(source, faults)
    draft.notes += columns.notes() + unnamed.notes()
    return draft.batch()


_MOST_FAULTS = 40
_LONGEST_ID = 60
_SCORES = ("y0", "y1", "success")
_OPTIONAL = ("tokens", "seconds", "cost_usd", "tokens0", "tokens1")


def _all_faults(source: Source, faults: list[tuple[Place, str]]) -> InputError:
    """Everything that is wrong with a table, in one line; rows with the same fault are named together."""
    places: dict[str, list[Place]] = {}
    for place, message in faults:
        places.setdefault(message, []).append(place)
    (first, at), *others = places.items()
    parts = [f"{first}{f' (and in {listed(list(map(_row, at[1:])), 8)})' if len(at) > 1 else ''}"]
    parts += [f"{listed(list(map(_row, at)), 8)}: {message}" for message, at in others]
    return fault(source.path, at[0], "; ".join(parts))


def _row(place: Place) -> str:
    return f"line {place}" if isinstance(place, int) else place


def _scaled(row: Row, plan: ColumnPlan, scale: float) -> Row:
    """Successes as shares: of a column that says % in its name, or all of them where a person says so."""
    columns = {name: plan.places.get(name, (name,)) for name in _SCORES if name in row}
    factors = {name: 100.0 if all("%" in column for column in listed) else scale for name, listed in columns.items()}
    if all(factor == 1.0 for factor in factors.values()):
        return row
    return {**row, **{name: _divided(row[name], factor) for name, factor in factors.items()}}


def _divided(value: Any, factor: float) -> Any:
    if isinstance(value, list):
        return [_divided(item, factor) for item in value]
    if isinstance(value, str):
        try:
            value = float(plain_number(value))
        except ValueError:
            return value  # a word, or a percentage with its sign
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value / factor if is_number else value


def _without_bad_amounts(row: Row, draft: Draft) -> Row:
    """The row without tokens, seconds or costs that are none: an optional column never stops an import."""
    bad: dict[str, None] = {}
    for name in _OPTIONAL:
        value = row.get(name)
        for one in value if isinstance(value, list) else [value]:
            try:
                amount(one, name)
            except RowError:
                bad[name] = None
                draft.count(f"unreadable {name}")
    return {**row, **bad} if bad else row


class _Unnamed:
    """Ids for the tasks of a file that has none: their words, which stay the same at every import."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._named = 0

    def with_id(self, row: Row) -> Row:
        """The row with an id, unless an earlier row of the file brought its own: then this one lacks what it needs."""
        if not self._named and self._draft.executions:
            return row
        text = task_text(row)
        self._named += bool(text)
        return {**row, "task_id": named_by_words(text)}

    def notes(self) -> list[str]:
        return ["there is no id column: each task is named by its words"] if self._named else []


def named_by_words(text: str) -> str:
    """The words of a task as its id: all of a short text, else the first words and a digest that tells it from others.

    >>> named_by_words("Merge two reports")
    'Merge two reports'
    """
    words = " ".join(text.split())
    if len(words) <= _LONGEST_ID and words == text:
        return words
    beginning = words[:_LONGEST_ID].rpartition(" ")[0] or words[:_LONGEST_ID]
    return f"{beginning}… {text_digest(text)[:6]}" if text else ""


def arrays_in(document: dict[str, Any]) -> list[str]:
    """The keys of a document that hold lists of objects."""
    return [
        name for name, value in document.items() if isinstance(value, list) and value and isinstance(value[0], dict)
    ]


def json_rows(source: Source) -> Iterator[tuple[Place, Row]]:
    """The objects of the one array in a JSON document, each with its position."""
    name, document = "", json_value(source)
    if isinstance(document, dict):
        names = arrays_in(document)
        if len(names) != 1:
            columns = ", ".join(map(shown, names)) or "none"
            raise fault(
                source.path, 1, f"one list of objects is needed, and the document has {columns}; save it by itself"
            )
        name, document = names[0], document[names[0]]
    if not isinstance(document, list):
        raise fault(source.path, 1, f"expected a JSON array of objects, got {type(document).__name__}; write [{{…}}]")
    return numbered_objects(source.path, name, document)


def header_of(line: str) -> list[str]:
    """The column names of a header line."""
    try:
        names = next(csv.reader([line], delimiter=_separator(line)), [])
    except csv.Error:
        return []
    return [name.strip() for name in names]


def csv_rows(source: Source) -> Iterator[tuple[Place, Row]]:
    """The rows as JSON would give them, each with the line where it begins."""
    path, numbered = source.path, lines(source)
    first = next(numbered, None)
    if first is None or not first[1].strip():
        raise fault(path, 1, "the first line must name the columns; add a header such as task_id,text,family,…")
    header = header_of(first[1])
    if not any(map(is_known_column, header)):
        yield from _messy_csv(source)
        return
    twice = [name for name, count in Counter(header).items() if count > 1 and name]
    if twice:
        raise fault(path, 1, f"the column {shown(twice[0])} stands twice in the header; rename one")
    table = csv.reader((line for _, line in numbered), delimiter=_separator(first[1]), strict=True)
    begin = 2
    try:
        for cells in table:
            if len(cells) == len(header):
                yield (
                    begin,
                    {
                        name: cell if cell and not cell.isspace() else None
                        for name, cell in zip(header, cells, strict=True)
                    },
                )
            elif cells:
                many = f"{plural(len(cells), 'cell')} for {plural(len(header), 'column')}"
                raise fault(path, begin, f"{many}; quote a text that holds the separator")
            begin = table.line_num + 2
    except csv.Error as error:
        raise fault(path, begin, f"not valid CSV ({error}); fix the quotes, or write JSONL instead") from None


def _messy_csv(source: Source) -> Iterator[tuple[Place, Row]]:
    """The rows of a CSV file whose header is not its first line, or has no name that is known."""
    texts = [line for _, line in lines(source)]
    separator = max(",;\t", key=lambda mark: sum(line.count(mark) for line in texts[:50]))
    try:
        grid = [[cell or None for cell in row] for row in csv.reader(texts, delimiter=separator)]
    except csv.Error as error:
        raise fault(source.path, 1, f"not valid CSV ({error}); fix the quotes, or write JSONL instead") from None
    if header_row(grid, is_known_column) is None:  # named with --map, perhaps
        position = next((at for at, row in enumerate(grid) if sum(cell is not None for cell in row) > 1), 0)
        return table_rows(source.path, grid[position:], lambda name: True, [])
    return table_rows(source.path, grid, is_known_column, [])


def workbook_rows(source: Source, sheet: str, notes: list[str]) -> Iterator[tuple[Place, Row]]:
    """The rows of a sheet of a workbook."""
    return table_rows(source.path, read_grid(source, sheet), is_known_column, notes)


def read_workbook(source: Source, defaults: Defaults) -> Batch:
    """The batch of one sheet of a workbook."""
    notes: list[str] = []
    batch = read_rows(source, defaults, rows_in=lambda own: workbook_rows(own, defaults.sheet, notes), is_table=True)
    return replace(batch, notes=(*notes, *batch.notes))


def is_known_column(name: str) -> bool:
    """Whether a column's name is one that a bank knows, under any of its names."""
    plain = plain_name(name)
    return plain in _KNOWN or arm_column(name) is not None


_KNOWN = (
    frozenset(plain_name(name) for name in FIELDS)
    | {plain_name(alias) for aliases in ALIASES.values() for alias in aliases}
    | {"task"}
)


def _separator(header: str) -> str:
    return max(",;\t", key=header.count)


def parquet_rows(source: Source) -> Iterator[tuple[Place, Row]]:
    """The rows of a Parquet table, a batch of them in memory at a time."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("reading Parquet", "parquet") from None
    number = 0
    try:
        with source.opened() as file:
            table = pyarrow.parquet.ParquetFile(file if source.content is None else io.BytesIO(source.content))
            _check_table_size(source, table.metadata)
            for batch in table.iter_batches(_AT_ONCE):
                for row in batch.to_pylist():
                    number += 1
                    yield f"row {number}", row
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:120]
        raise InputError(f"{source.path}: not a readable Parquet file ({reason}); write it again") from None


def _check_table_size(source: Source, metadata: Any) -> None:
    """Refuse by the file's own account, before anything is unpacked."""
    size = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    if size > MOST_BYTES:
        raise InputError(f"{source.path}: the table unpacks to more than {MOST_BYTES >> 30} GiB; split it")
