"""One JSON document that holds all rows: an array of objects, or an object with one such array in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.rows import read_rows
from skilldelta.bank.importers.source import Row, Source, json_value
from skilldelta.errors import shown
from skilldelta.files import Place, fault


def read(source: Source, defaults: Defaults) -> Batch:
    """The batch of a document."""
    return read_rows(source, defaults, _rows(source, json_value(source)))


def arrays_in(document: dict[str, Any]) -> list[str]:
    """The keys of a document that hold lists of objects."""
    return [
        name for name, value in document.items() if isinstance(value, list) and value and isinstance(value[0], dict)
    ]


def _rows(source: Source, document: Any) -> Iterator[tuple[Place, Row]]:
    name = ""
    if isinstance(document, dict):
        names = arrays_in(document)
        if len(names) != 1:
            found = ", ".join(map(shown, names)) or "none"
            raise fault(
                source.path, 1, f"one list of objects is needed, and the document has {found}; save it by itself"
            )
        name, document = names[0], document[names[0]]
    if not isinstance(document, list):
        raise fault(source.path, 1, f"expected a JSON array of objects, got {type(document).__name__}; write [{{…}}]")
    for position, row in enumerate(document):
        if not isinstance(row, dict):
            raise fault(source.path, f"{name}[{position}]", f"expected an object, got {shown(row)}")
        yield f"{name}[{position}]", row
