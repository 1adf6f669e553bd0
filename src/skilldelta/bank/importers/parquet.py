"""Parquet tables, where pyarrow is installed, a batch of rows at a time."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.rows import read_rows
from skilldelta.bank.importers.source import MOST_BYTES, Row, Source
from skilldelta.errors import InputError, MissingExtraError
from skilldelta.files import Place

MAGIC = b"PAR1"
_AT_ONCE = 4096


def read(source: Source, defaults: Defaults) -> Batch:
    """The batch of a table in either form."""
    return read_rows(source, defaults, _rows(source))


def _rows(source: Source) -> Iterator[tuple[Place, Row]]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtraError("reading Parquet", "parquet") from None
    number = 0
    try:
        with source.opened() as file:
            table = pyarrow.parquet.ParquetFile(file if source.content is None else io.BytesIO(source.content))
            _check_size(source, table.metadata)
            for batch in table.iter_batches(_AT_ONCE):
                for row in batch.to_pylist():
                    number += 1
                    yield f"row {number}", row
    except (pyarrow.ArrowException, OSError) as error:
        reason = " ".join(str(error).split())[:120]
        raise InputError(f"{source.path}: not a readable Parquet file ({reason}); write it again") from None


def _check_size(source: Source, metadata: Any) -> None:
    """Refuse by the file's own account, before anything is unpacked."""
    size = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    if size > MOST_BYTES:
        raise InputError(f"{source.path}: the table unpacks to more than {MOST_BYTES >> 30} GiB; split it")
