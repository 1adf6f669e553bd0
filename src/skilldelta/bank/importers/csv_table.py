"""CSV: a header and one row per pair or per run. An empty cell is missing.

Commas, semicolons and tabs are recognised as separators.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.rows import read_rows
from skilldelta.bank.importers.source import Row, Source, lines
from skilldelta.errors import shown
from skilldelta.files import Place, fault
from skilldelta.nouns import plural


def read(source: Source, defaults: Defaults) -> Batch:
    """The batch of a table in either form."""
    return read_rows(source, defaults, _rows(source))


def header_of(line: str) -> list[str]:
    """The column names of a header line."""
    try:
        names = next(csv.reader([line], delimiter=_separator(line)), [])
    except csv.Error:
        return []
    return [name.strip() for name in names]


def _rows(source: Source) -> Iterator[tuple[Place, Row]]:
    """The rows as JSON would give them, each with the line where it begins."""
    path, numbered = source.path, lines(source)
    first = next(numbered, None)
    if first is None or not first[1].strip():
        raise fault(path, 1, "the first line must name the columns; add a header such as task_id,text,family,…")
    header = header_of(first[1])
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


def _separator(header: str) -> str:
    return max(",;\t", key=header.count)
