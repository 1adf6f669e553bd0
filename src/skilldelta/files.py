"""Reading and writing files whole: replaced atomically and durably, read with limits, every fault placed in its file.

The one home of these; what the values in a file mean is left to its readers.
"""

from __future__ import annotations

import errno
import itertools
import json
import math
import os
import re
import shutil
import stat
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

from skilldelta.errors import InputError
from skilldelta.output_guard import refuse_database
from skilldelta.redaction import without_known_secrets

# Bytes of a text that is read whole, and of one line: far above what people write, far below what fills a memory.
MOST_TEXT = 64 << 20
# Bytes of a JSON document, which holds a whole panel.
MOST_DOCUMENT = 1 << 30

# A line number, or the position in a document such as "rows[3]".
Place = int | str
Errors = Literal["strict", "replace", "surrogatepass"]

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UNSUPPORTED = (errno.EINVAL, errno.ENOTSUP, errno.ENOTTY)
_UNFINISHED = re.compile(r"\.skilldelta-[0-9a-f]{12}\.partial")
# Whatever is still being written was touched since; a folder may hold any number of names.
_ABANDONED_SECONDS, _MOST_LOOKED_AT = 86_400.0, 1_000


# Writing


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """A file that takes the name `path` when its block ends, and leaves nothing behind when the block fails.

    A reader finds the old content or the new one, never a part. A file that exists keeps its permissions; a new one is
    for its owner alone when `private`. A bank, a link and a device are never replaced.
    """
    check_destination(path)
    # Not made of the file's own name, which may be as long as names can be.
    part = unfinished_name(path)
    try:
        with _created(part, 0o600 if private else 0o666) as file:
            yield file
            file.flush()
            flush_durably(file.fileno())
        with suppress(FileNotFoundError):
            part.chmod(0o600 if private else stat.S_IMODE(path.stat().st_mode))
        part.replace(path)
        flush_folder(path.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def unfinished_name(path: Path) -> Path:
    """A name beside a path for what is to take its place; whatever a killed process left there a day ago is removed."""
    with suppress(OSError), os.scandir(path.parent) as entries:
        for entry in itertools.islice(entries, _MOST_LOOKED_AT):
            if _UNFINISHED.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_abandoned(entry)
    return path.with_name(f".skilldelta-{uuid.uuid4().hex[:12]}.partial")


def _remove_abandoned(entry: os.DirEntry[str]) -> None:
    if time.time() - entry.stat(follow_symlinks=False).st_mtime < _ABANDONED_SECONDS:
        return
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path, ignore_errors=True)
    else:
        os.unlink(entry.path)


def write_bytes(path: Path, content: bytes, *, private: bool = False) -> None:
    """Replace a file's content; see `replacing`."""
    with replacing(path, private=private) as file:
        file.write(content)


def write_text(path: Path, text: str, *, private: bool = False, errors: Errors = "strict") -> None:
    """Replace a file's content by a text in UTF-8, with the line ends as they are and known secrets masked."""
    write_bytes(path, without_known_secrets(text).encode("utf-8", errors), private=private)


def check_destination(path: Path) -> None:
    """Refuse what is never replaced: a database, a link, which may lead anywhere, a device, a pipe, a folder."""
    refuse_database(path)
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:  # a name that is too long, a folder that may not be entered
        raise _cannot_write(path, error) from error
    if stat.S_ISLNK(mode):
        raise InputError(f"cannot write {path}: it is a link to {os.readlink(path)}; name the file itself")
    if stat.S_ISDIR(mode):
        raise InputError(f"cannot write {path}: it is a folder; name a file in it")
    if not stat.S_ISREG(mode):
        raise InputError(f"cannot write {path}: it is not a regular file; name a file, or leave the option out")


def flush_durably(descriptor: int) -> None:
    """Return when what was written to an open file survives a power cut.

    On macOS, where fsync leaves data in the drive's own memory, with F_FULLFSYNC where the disk knows it.
    """
    if not _full_fsync(descriptor):
        getattr(os, "fdatasync", os.fsync)(descriptor)  # neither macOS nor Windows has fdatasync


def _full_fsync(descriptor: int) -> bool:
    try:
        import fcntl
    except ImportError:
        return False
    command = getattr(fcntl, "F_FULLFSYNC", None)
    if command is None:
        return False
    try:
        fcntl.fcntl(descriptor, command)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        return False
    return True


def flush_folder(folder: Path) -> None:
    """Make a new name durable; folders cannot be opened on Windows, which keeps names by itself."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _created(path: Path, mode: int) -> IO[bytes]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    return os.fdopen(os.open(path, flags, mode), "wb")


def _cannot_write(path: Path, error: OSError) -> InputError:
    if isinstance(error, FileNotFoundError) and not path.parent.is_dir():
        return InputError(f"cannot write {path}: the folder {path.parent} does not exist; make it first")
    return InputError(f"cannot write {path} ({error.strerror or error}); choose another file")


def jsonable(value: Any) -> Any:
    """Plain JSON values: arrays as lists, numpy's numbers as Python's; what is not finite is unknown and becomes null."""
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    if hasattr(value, "tolist"):
        return jsonable(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


# Reading


def fault(path: Path, place: Place, message: str) -> InputError:
    """The one line that a person sees: file, place, what is wrong, what to do."""
    separator = ":" if isinstance(place, int) else ": "
    return InputError(f"{path}{separator}{place}: {message}")


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


def read_bytes(path: Path, *, most: int = MOST_TEXT) -> bytes:
    """A regular file's content; one of more than `most` bytes is refused unread."""
    with opened(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise InputError(f"{path}: the file has more than {_size(most)}; give a smaller file")
    return content


def read_text(path: Path, *, most: int = MOST_TEXT, errors: Errors = "strict") -> str:
    """A text in UTF-8, of at most `most` bytes, with line ends as Python writes them; a byte-order mark is dropped."""
    content = read_bytes(path, most=most).removeprefix(_BYTE_ORDER_MARK)
    try:
        text = content.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise _not_utf8(path, content.count(b"\n", 0, error.start) + 1, error) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines(path: Path, *, most: int = MOST_TEXT) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, decoded one at a time; a line of more than `most` bytes is refused."""
    with opened(path) as file:
        yield from lines_of(file, path, most=most)


def lines_of(file: IO[bytes], path: Path, *, most: int = MOST_TEXT) -> Iterator[tuple[int, str]]:
    """The lines of an open file or stream that `path` names; see `lines`."""
    number = 0
    while raw := file.readline(most + 1):
        number += 1
        if len(raw) > most:
            raise fault(path, number, f"the line has more than {_size(most)}; split it, or give another file")
        try:
            yield number, (raw.removeprefix(_BYTE_ORDER_MARK) if number == 1 else raw).decode("utf-8")
        except UnicodeDecodeError as error:
            raise _not_utf8(path, number, error) from None


def json_lines(path: Path, *, most: int = MOST_TEXT) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSONL file with their line numbers; blank lines are passed over."""
    return json_objects(lines(path, most=most), path)


def json_objects(numbered: Iterable[tuple[int, str]], path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The object of each line that is not blank."""
    for number, line in numbered:
        if not line.strip():
            continue
        row = parse_json(line.rstrip(), path, number)  # so that a line cut off is not blamed on the next
        if not isinstance(row, dict):
            raise fault(path, number, f"expected one JSON object per line, got {type(row).__name__}; write {{…}}")
        yield number, row


def json_document(path: Path, *, most: int = MOST_DOCUMENT) -> dict[str, Any]:
    """The one object that a JSON file holds."""
    document = _json_value(path, most)
    if not isinstance(document, dict):
        raise fault(path, 1, f"expected a JSON object, got {type(document).__name__}; write {{…}}")
    return document


def json_list(path: Path, *, most: int = MOST_DOCUMENT) -> list[dict[str, Any]]:
    """The objects of a JSON file that holds one list of them."""
    document = _json_value(path, most)
    if not isinstance(document, list):
        raise fault(path, 1, f"expected a JSON list, got {type(document).__name__}; write [{{…}}, …]")
    for number, row in enumerate(document):
        if not isinstance(row, dict):
            raise fault(path, f"[{number}]", f"expected an object, got {type(row).__name__}; write {{…}}")
    return document


def _json_value(path: Path, most: int) -> Any:
    text = read_text(path, most=most)
    if not text.strip():
        raise fault(path, 1, "the file is empty; give a file with at least one row")
    return parse_json(text, path)


def parse_json(text: str, path: Path, first_line: int = 1) -> Any:
    """A JSON value that begins at a line of a file; a key that stands twice in one object is a fault."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        remedy = "a line that was cut off must be restored or removed"
        raise fault(
            path,
            first_line + error.lineno - 1,
            f"not valid JSON ({error.msg.removesuffix(' at')} at column {error.colno}); {remedy}",
        ) from None
    except RecursionError:
        raise fault(path, first_line, "the JSON is nested too deeply; flatten it") from None
    except ValueError as error:  # a key twice, or an integer of thousands of digits
        raise fault(path, first_line, f"{str(error)[:120]}; fix the row") from None


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A regular file open for reading; whatever the system says against it is one line."""
    check_file(path)
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check the file and its permissions") from None


def _not_utf8(path: Path, number: int, error: UnicodeDecodeError) -> InputError:
    byte = error.object[error.start]
    column = error.start - error.object.rfind(b"\n", 0, error.start)
    return fault(path, number, f"byte {column} (0x{byte:02x}) is not UTF-8; save the file as UTF-8")


def _size(count: int) -> str:
    return f"{count >> 20:,} MiB" if count >= 1 << 20 else f"{count:,} bytes"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON would silently keep the last of two equal keys, and lose an outcome."""
    row = dict(pairs)
    if len(row) < len(pairs):
        twice = next(key for place, (key, _) in enumerate(pairs) if key in dict(pairs[:place]))
        raise ValueError(f"the key {twice[:60]!r} stands twice in one object")
    return row


_DECODER = json.JSONDecoder(object_pairs_hook=_unique)
