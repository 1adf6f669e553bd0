"""Sources as numbered rows: a file, a gzip file, or bytes that came over standard input.

Decoding and JSON are `files`'; what the values of a row mean is left to the formats.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from skilldelta.errors import InputError, shown
from skilldelta.files import MOST_DOCUMENT, MOST_TEXT, Place, fault, json_objects, lines_of, opened, parse_json

Row = Mapping[str, Any]

# Bytes that a compressed source may unpack to, all lines together.
MOST_BYTES = 4 << 30

_GZIP = b"\x1f\x8b"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class RowError(InputError):
    """What is wrong with one row; whoever reads the file adds the place."""


class UnknownColumnsError(RowError):
    """Columns of a table that somebody has to explain, with the best guess at what they hold."""

    def __init__(self, message: str, guess: Mapping[str, Sequence[str]]) -> None:
        self.guess = guess
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Source:
    """Where rows come from: the file at `path`, or `content` that `path` only names in messages."""

    path: Path
    content: bytes | None = None

    @contextmanager
    def opened(self) -> Iterator[IO[bytes]]:
        """The bytes, unpacked where they are gzip; whatever the system says against them is one line."""
        with self.raw() as file:
            head = file.read(2)
            file.seek(0)
            try:
                yield cast(IO[bytes], _Unpacked(self.path, file)) if head == _GZIP else file
            except (gzip.BadGzipFile, EOFError, zlib.error) as error:
                raise InputError(f"{self.path}: damaged gzip data ({error}); compress the file again") from None

    @contextmanager
    def raw(self) -> Iterator[IO[bytes]]:
        """The bytes as they are."""
        with opened(self.path) if self.content is None else nullcontext(io.BytesIO(self.content)) as file:
            yield file

    def head(self, size: int) -> bytes:
        """The first bytes, unpacked."""
        with self.opened() as file:
            return file.read(size)


class _Unpacked(gzip.GzipFile):
    """A gzip stream that ends in an error where it unpacks to more than a memory should take."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        super().__init__(fileobj=file, mode="rb")
        self._path = path

    def readline(self, size: int | None = -1) -> bytes:
        line = super().readline(-1 if size is None else size)
        if self.tell() > MOST_BYTES:
            raise InputError(f"{self._path}: the file unpacks to more than {MOST_BYTES >> 20:,} MiB; split it")
        return line


def take_each(path: Path, rows: Iterable[tuple[Place, Row]], take: Callable[[Place, Row], None]) -> None:
    """Hand every row to `take`; a file without any is refused, and a row's fault gets its place."""
    place: Place = 1
    taken = 0
    try:
        for place, row in rows:
            take(place, row)
            taken += 1
    except UnknownColumnsError as error:
        raise UnknownColumnsError(str(fault(path, place, str(error))), error.guess) from None
    except RowError as error:
        raise fault(path, place, str(error)) from None
    if not taken:
        raise fault(path, 1, "the file has no rows; give a file with at least one")


def lines(source: Source, *, most: int = MOST_TEXT) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, decoded one at a time; lines end at a line feed and nowhere else.

    A byte-order mark is dropped, and tells UTF-16, which spreadsheets write, from UTF-8.
    """
    with source.opened() as file:
        mark = file.read(2)
        file.seek(0)
        yield from (
            _utf16_lines(source.path, file, most) if mark in _UTF16_MARKS else lines_of(file, source.path, most=most)
        )


def json_lines(source: Source) -> Iterator[tuple[Place, Row]]:
    """The objects of a JSONL file; blank lines are passed over."""
    return json_objects(lines(source), source.path)


def numbered_objects(path: Path, name: str, listed: list[Any]) -> Iterator[tuple[Place, Row]]:
    """The objects of the list `name`, each with its position in it."""
    for position, row in enumerate(listed):
        if not isinstance(row, dict):
            raise fault(path, f"{name}[{position}]", f"expected an object, got {shown(row)}")
        yield f"{name}[{position}]", row


def json_document(source: Source) -> dict[str, Any]:
    """The one object that a JSON file holds."""
    document = json_value(source)
    if not isinstance(document, dict):
        raise fault(source.path, 1, f"expected a JSON object, got {type(document).__name__}; write {{…}}")
    return document


def json_value(source: Source) -> Any:
    """What a JSON file holds, whole."""
    parts, size = [], 0
    for _, line in lines(source, most=MOST_DOCUMENT):
        parts.append(line)
        size += len(line)
        if size > MOST_DOCUMENT:
            raise InputError(
                f"{source.path}: the document has more than {MOST_DOCUMENT >> 20:,} MiB; write JSONL instead"
            )
    text = "".join(parts)
    if not text.strip():
        raise fault(source.path, 1, "the file is empty; give a file with at least one row")
    return parse_json(text, source.path)


def _utf16_lines(path: Path, file: IO[bytes], most: int) -> Iterator[tuple[int, str]]:
    text = io.TextIOWrapper(file, encoding="utf-16", newline="\n")
    number = 0
    try:
        while line := text.readline(most):
            number += 1
            yield number, line
    except UnicodeDecodeError as error:
        raise fault(path, number + 1, f"not valid UTF-16 ({error.reason}); save the file as UTF-8") from None
    finally:
        text.detach()  # the file is its opener's to close
