"""The files of one source as another tool left them: a folder, an archive of one, or a single file.

Nothing is unpacked to disk and no link is followed. How many files there are, how deep they lie and how much is read of
them is bounded, and a folder that changes between the first look and the last is noticed. What the files mean is left to
the tools' readers.
"""

from __future__ import annotations

import io
import json
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from skilldelta.bank.importers.loose_json import parse_loosely
from skilldelta.bank.importers.source import Source
from skilldelta.errors import InputError
from skilldelta.files import MOST_DOCUMENT, MOST_TEXT, check_file
from skilldelta.json_text import decode_json

MOST_FILES = 500_000
MOST_DEPTH = 32
# Bytes that an archive may unpack to, all members together.
MOST_UNPACKED = 4 << 30
# Bytes of a tar archive that are held in memory, which has no index to read single members by.
MOST_KEPT = 512 << 20

# JSON files of a folder that are opened to tell its format.
MOST_LOOKED_AT = 2_000
_SMALL = 256 << 10

_PASSED_OVER = frozenset(("node_modules", "__pycache__", ".git", ".venv", "__MACOSX"))
_KEPT_OF_A_TAR = (".json", ".jsonl", ".yaml", ".yml", ".md", ".txt", ".toml", ".eval")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UNREAD = object()
_HEAD = 1 << 20  # bytes that are read to find the first line
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, zlib.error, NotImplementedError, RuntimeError)


class ResultTree:
    """The names of the files, relative to `root` with forward slashes and in order, and their contents when asked for."""

    def __init__(
        self,
        root: Path,
        names: list[str],
        *,
        base: Path,
        links: int = 0,
        is_file: bool = False,
        folders: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self.root = root
        self.names = names
        self.links = links
        """Links that were not followed."""
        self.is_file = is_file
        self._folders = folders  # to the time at which an entry last came or went
        self._base = base
        self._prefix = os.fspath(base) + os.sep
        self._read: dict[str, tuple[int, int]] = {}  # name to time of change and size
        self._known = frozenset(names)
        self._document: Any = _UNREAD
        self._looked_at: dict[str, Any] = {}

    @property
    def document(self) -> Any:
        """The JSON document that a single file is; for a JSONL file its first row, and None for everything else.

        Read once, however many formats ask.
        """
        if self._document is _UNREAD:
            self._document = self._read_document() if self.is_file else None
        return self._document

    def documents(self, *, most: int = MOST_LOOKED_AT) -> Iterator[tuple[str, Any]]:
        """The single file's document, or those of a folder's JSON files, the first `most`; what is no JSON is passed over."""
        if self.is_file:
            yield self.names[0], self.document
            return
        for name in [file_name for file_name in self.names if file_name.endswith(".json")][:most]:
            if name not in self._looked_at:
                try:
                    document = self.json(name, most=MOST_DOCUMENT)
                except InputError:
                    document = None
                if self._read.get(name, (0, 0))[1] > _SMALL:
                    yield name, document
                    continue
                self._looked_at[name] = document
            yield name, self._looked_at[name]

    @property
    def on_disk(self) -> bool:
        """Whether a library can open the files itself."""
        return True

    def _read_document(self) -> Any:
        name = self.names[0]
        if self.on_disk:
            self.watched(name)
        head = self.head(name)
        begin = head.removeprefix(_BYTE_ORDER_MARK).lstrip()
        if not begin.startswith(b"{"):
            return None
        row = _first_row(begin)
        if row is not None or len(head) < _HEAD:
            return row if row is not None else _document(head)
        try:
            return _document(self.read(name, most=MOST_DOCUMENT))
        except InputError:  # larger than any document: rows, which their own reader takes one by one
            return None

    def head(self, name: str, size: int = _HEAD) -> bytes:
        """The beginning of a file."""
        with self._opened(name) as descriptor:
            return os.read(descriptor, size)

    def first_row(self, name: str) -> Any:
        """The object in a file's first line; None where that is none."""
        return _first_row(self.head(name).removeprefix(_BYTE_ORDER_MARK).lstrip())

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def path(self, name: str) -> Path:
        """Where a file lies, for messages and for libraries that open it themselves."""
        return self._base / name

    def watched(self, name: str) -> Path:
        """Where a file lies that a library opens itself; a change of it until the end is noticed."""
        status = os.stat(self._prefix + name)
        self._read[name] = (status.st_mtime_ns, status.st_size)
        return self.path(name)

    def read(self, name: str, *, most: int = MOST_TEXT) -> bytes:
        """A file's content; one of more than `most` bytes is refused."""
        with self._opened(name) as descriptor:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"{self.path(name)}: this is not a regular file; save the data to a file first")
            self._read[name] = (status.st_mtime_ns, status.st_size)
            self._check_size(name, status.st_size, most)
            content = os.read(descriptor, status.st_size + 1)
            while 0 < len(content) < status.st_size and (more := os.read(descriptor, status.st_size - len(content))):
                content += more
        if len(content) != status.st_size:
            raise self._changed(name)
        return content

    def json(self, name: str, *, most: int = MOST_TEXT) -> Any:
        """The JSON document in a file; another tool's file may repeat a key, and then the last one counts, as it does there."""
        return parsed(self.read(name, most=most), self._prefix + name)

    def loose_json(self, name: str) -> Any:
        """The document in a file that a language model may have written; None where there is none."""
        try:
            return parse_loosely(self.read(name, most=MOST_DOCUMENT))[0]
        except InputError:
            return None

    def json_lines(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """The objects of a JSONL file with their line numbers."""
        for number, line in enumerate(self.read(name, most=MOST_DOCUMENT).split(b"\n"), start=1):
            if line.strip():
                row = parsed(line, self._prefix + name, number)
                if isinstance(row, dict):
                    yield number, row

    def check_unchanged(self) -> None:
        """Refuse a source that changed while it was read: a run that is still going would be imported by half."""
        for name, (changed_at, size) in self._read.items():
            try:
                now = os.stat(self._prefix + name, follow_symlinks=False)
            except OSError:
                raise self._changed(name) from None
            if (now.st_mtime_ns, now.st_size) != (changed_at, size):
                raise self._changed(name)
        for folder, changed_at in self._folders.items():
            if _time_of(folder) != changed_at:
                raise InputError(f"{folder}: files came or went while it was read; import it when the run has ended")

    @contextmanager
    def _opened(self, name: str) -> Iterator[int]:
        """The descriptor of a file on disk, which is no link."""
        try:
            descriptor = os.open(self._prefix + name, os.O_RDONLY | getattr(os, "O_BINARY", 0) | _NO_LINKS)
            try:
                yield descriptor
            finally:
                os.close(descriptor)
        except OSError as error:
            raise InputError(
                f"{self.path(name)}: cannot be read ({error.strerror}); check the file and its permissions"
            ) from None

    def _changed(self, name: str) -> InputError:
        return InputError(f"{self.path(name)}: the file changed while it was read; import it when the run has ended")

    def _check_size(self, name: str, size: int, most: int) -> None:
        if size > most:
            raise InputError(f"{self.path(name)}: the file has more than {most >> 20:,} MiB; give a smaller file")


class _MemoryTree(ResultTree):
    """What does not lie on disk as files of its own: bytes that came over a stream, or the members of an archive."""

    def __init__(self, source: Source, contents: Mapping[str, bytes], *, links: int = 0, is_file: bool = False) -> None:
        base = source.path.parent if is_file else source.path
        super().__init__(source.path, sorted(contents), base=base, links=links, is_file=is_file)
        self._identity = _identity(source)
        self._source = source
        self._contents = contents

    @property
    def on_disk(self) -> bool:
        return False

    def read(self, name: str, *, most: int = MOST_TEXT) -> bytes:
        content = self._content(name, most)
        self._check_size(name, len(content), most)
        return content

    def check_unchanged(self) -> None:
        if _identity(self._source) != self._identity:
            raise InputError(f"{self.root}: the file changed while it was read; import it when the run has ended")

    def head(self, name: str, size: int = _HEAD) -> bytes:
        return self._content(name, size)[:size]

    def _content(self, name: str, most: int) -> bytes:
        return self._contents[name]


class _ZipTree(_MemoryTree):
    """A zip archive, whose index allows to unpack a member when it is asked for."""

    def __init__(
        self, source: Source, archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], links: int
    ) -> None:
        super().__init__(source, dict.fromkeys(members, b""), links=links)
        self._archive, self._members = archive, members
        self._unpacked = 0

    def _content(self, name: str, most: int) -> bytes:
        try:
            with self._archive.open(self._members[name]) as member:
                content = member.read(most + 1)  # the size that the index claims is not believed
        except _DAMAGE as error:
            raise _damaged(self.root, error) from None
        self._unpacked += len(content)
        if self._unpacked > MOST_UNPACKED:
            raise _too_large(self.root)
        return content


def open_tree(source: Source) -> ResultTree:
    """The files of a folder, of a zip or tar archive, or one file by itself."""
    path = source.path
    if source.content is None and os.path.isdir(path):
        return _folder_tree(path)
    if source.content is None:
        check_file(path)
    kind = _archive_kind(source)
    if kind == "zip":
        return _zip_tree(source)
    if kind == "tar":
        return _tar_tree(source)
    if source.content is not None:
        return _MemoryTree(source, {path.name: source.content}, is_file=True)
    if os.path.islink(path):  # the file that was named may be a link; those inside a folder are not followed
        path = Path(os.path.realpath(path))
    return ResultTree(path, [path.name], base=path.parent, is_file=True)


def parsed(content: bytes, path: Path | str, first_line: int = 1) -> Any:
    """A JSON document of another tool, whose faults are one line."""
    try:
        return decode_json(content)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}:{first_line + error.lineno - 1}: not valid JSON ({error.msg.removesuffix(' at')} at column "
            f"{error.colno}); a file that was cut off must be restored or removed"
        ) from None
    except ValueError as error:  # no UTF-8, too deep, or an integer of thousands of digits
        raise InputError(f"{path}:{first_line}: {str(error)[:120]}; fix or remove the file") from None


def _first_row(begin: bytes) -> Any:
    line = begin.partition(b"\n")[0].strip()
    return _document(line) if len(line) > 1 else None


def _document(content: bytes) -> Any:
    try:
        return decode_json(content)
    except ValueError:
        return None


def _folder_tree(root: Path) -> ResultTree:
    """Every regular file below a folder; links are counted and passed over."""
    names: list[str] = []
    folders: dict[str, int] = {}
    links = 0
    pending = [(os.fspath(root), "", 0)]
    while pending:
        folder, prefix, depth = pending.pop()
        try:
            folders[folder] = _time_of(folder)  # before the look inside: what comes later changes it
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        names.append(prefix + entry.name)
                    elif entry.is_dir(follow_symlinks=False):
                        if entry.name not in _PASSED_OVER:
                            pending.append((entry.path, f"{prefix}{entry.name}/", depth + 1))
                    elif entry.is_symlink():
                        links += 1
        except OSError as error:
            raise InputError(
                f"{folder}: cannot be read ({error.strerror}); check the folder and its permissions"
            ) from None
        if len(names) > MOST_FILES:
            raise InputError(f"{root}: more than {MOST_FILES:,} files; name a folder with fewer")
        if depth > MOST_DEPTH:
            raise _too_deep(root)
    if not names:
        raise InputError(f"{root}: the folder is empty; name the folder that holds the results")
    return ResultTree(root, sorted(names), base=root, links=links, folders=folders)


def _time_of(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0


def _archive_kind(source: Source) -> str:
    """zip or tar by the first bytes; an Inspect log is a zip that is read as a log, and a gzip file may be any format."""
    with source.raw() as file:
        head = file.read(4)
    name = source.path.name.lower()
    if head == b"PK\x03\x04" and not name.endswith(".eval"):
        return "zip"
    return "tar" if name.endswith((".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")) else ""


def _zip_tree(source: Source) -> ResultTree:
    path = source.path
    members: dict[str, zipfile.ZipInfo] = {}
    links = unpacked = 0
    try:
        archive = zipfile.ZipFile(path if source.content is None else io.BytesIO(source.content))
        for member in archive.infolist():
            if stat.S_ISLNK(member.external_attr >> 16):
                links += 1
            elif not member.is_dir() and _is_wanted(path, member.filename):
                members[member.filename] = member
                unpacked += member.file_size
    except _DAMAGE as error:
        raise _damaged(path, error) from None
    _check_archive(path, len(members), unpacked)
    return _ZipTree(source, archive, members, links)


def _tar_tree(source: Source) -> ResultTree:
    path = source.path
    contents: dict[str, bytes] = {}
    links = unpacked = size = 0
    try:
        with source.raw() as file, tarfile.open(fileobj=file) as archive:
            for member in archive:
                links += member.issym() or member.islnk()
                unpacked += member.size
                _check_archive(path, len(contents), unpacked)
                if not (member.isfile() and _is_wanted(path, member.name)):
                    continue
                content = b""
                if member.name.lower().endswith(_KEPT_OF_A_TAR):
                    size += member.size
                    if size > MOST_KEPT:
                        raise _too_large(path)
                    extracted = archive.extractfile(member)
                    content = extracted.read() if extracted is not None else b""
                contents[member.name.removeprefix("./")] = content
    except _DAMAGE as error:
        raise _damaged(path, error) from None
    return _MemoryTree(source, contents, links=links)


def _identity(source: Source) -> tuple[int, int]:
    if source.content is not None:
        return (0, 0)
    status = source.path.stat()
    return (status.st_mtime_ns, status.st_size)


def _is_wanted(path: Path, name: str) -> bool:
    """Whether a member is of interest; one that points out of its archive makes the whole archive suspect."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if name.startswith(("/", "\\")) or ".." in parts or (parts and parts[0].endswith(":")) or "\0" in name:
        raise InputError(f"{path}: the archive has a member outside of its own folder ({name[:80]!r}); do not trust it")
    if len(parts) > MOST_DEPTH:
        raise _too_deep(path)
    return _PASSED_OVER.isdisjoint(parts)


def _check_archive(path: Path, count: int, unpacked: int) -> None:
    if count > MOST_FILES:
        raise InputError(f"{path}: more than {MOST_FILES:,} files; name an archive with fewer")
    if unpacked > MOST_UNPACKED:
        raise _too_large(path)


def _too_deep(path: Path) -> InputError:
    return InputError(f"{path}: folders lie more than {MOST_DEPTH} deep in each other; name a folder further down")


def _too_large(path: Path) -> InputError:
    return InputError(
        f"{path}: the archive unpacks to too much to be read here; unpack it, and import the folder that holds the results"
    )


def _damaged(path: Path, error: Exception) -> InputError:
    reason = " ".join(str(error).split())[:100]
    return InputError(f"{path}: the archive is damaged or cut off ({reason}); make or fetch it again")
