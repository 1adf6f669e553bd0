"""Source files as numbered rows: opening, decoding and JSON, with every fault placed at its file and line.

What the values of a row mean is left to the formats.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from skilldelta.errors import InputError

Row = Mapping[str, Any]
Place = int | str
"""A line number, or the position in a document such as "rows[3]"."""


class RowError(InputError):
    """What is wrong with one row; whoever reads the file adds the place."""


def fault(path: Path, place: Place, message: str) -> InputError:
    """The one line that a person sees: file, place, what is wrong, what to do."""
    separator = ":" if isinstance(place, int) else ": "
    return InputError(f"{path}{separator}{place}: {message}")


def take_each(path: Path, rows: Iterable[tuple[Place, Row]], take: Callable[[Place, Row], None]) -> None:
    """Hand every row to `take`; a file without any is refused, and a row's fault gets its place."""
    place: Place = 1
    taken = 0
    try:
        for place, row in rows:
            take(place, row)
            taken += 1
    except RowError as error:
        raise fault(path, place, str(error)) from None
    if not taken:
        raise fault(path, 1, "the file has no rows; give a file with at least one")


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, decoded one at a time; a byte-order mark is dropped."""
    check_file(path)
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                yield number, _decoded(raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw, path, number)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the file and its permissions") from None


def json_lines(path: Path) -> Iterator[tuple[Place, Row]]:
    """The objects of a JSONL file; blank lines are passed over."""
    for number, line in lines(path):
        if line.isspace() or not line:
            continue
        row = _parsed(line, path, number - 1)
        if not isinstance(row, dict):
            raise fault(path, number, f"expected one JSON object a line, got {type(row).__name__}; write {{…}}")
        yield number, row


def json_document(path: Path) -> dict[str, Any]:
    """The one object that a JSON file holds."""
    text = "".join(line for _, line in lines(path))
    if not text.strip():
        raise fault(path, 1, "the file is empty; give a file with at least one row")
    document = _parsed(text, path, 0)
    if not isinstance(document, dict):
        raise fault(path, 1, f"expected a JSON object, got {type(document).__name__}; write {{…}}")
    return document


def check_file(path: Path) -> None:
    """Refuse what cannot be read as a file: a missing path, a folder, a pipe."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; check the path") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{str(path)!r}: cannot be read ({reason}); check the path and its permissions") from None
    if stat.S_ISDIR(mode):
        raise InputError(f"{path}: this is a folder; name the file in it")
    if not stat.S_ISREG(mode):
        raise InputError(f"{path}: this is not a regular file; save the data to a file first")


def _decoded(raw: bytes, path: Path, number: int) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise fault(
            path, number, f"byte {error.start + 1} (0x{raw[error.start]:02x}) is not UTF-8; save the file as UTF-8"
        ) from None


def _parsed(text: str, path: Path, lines_before: int) -> Any:
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        remedy = "a line that was cut off must be restored or removed"
        raise fault(
            path,
            lines_before + error.lineno,
            f"not valid JSON ({error.msg.removesuffix(' at')} at column {error.colno}); {remedy}",
        ) from None
    except RecursionError:
        raise fault(path, lines_before + 1, "the JSON is nested too deeply; flatten it") from None
    except ValueError as error:  # a key twice, or an integer of thousands of digits
        raise fault(path, lines_before + 1, f"{str(error)[:120]}; mend the row") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON would silently keep the last of two equal keys, and lose an outcome."""
    row = dict(pairs)
    if len(row) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice[:60]!r} stands twice in one object")
    return row


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)
