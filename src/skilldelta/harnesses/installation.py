"""Changing a harness's files so that it can be undone: what was there is kept, byte for byte, before anything is written.

The record is written first. A crash in between leaves files that are as they were or as they should be, and `undo` takes
back either.
"""

from __future__ import annotations

import base64
import difflib
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skilldelta.errors import InputError
from skilldelta.files import check_destination, json_document, read_bytes, write_bytes

if TYPE_CHECKING:
    from skilldelta.harnesses.harness import Harness, Scope
    from skilldelta.harnesses.wanted_setup import WantedSetup

# Bytes of a harness's settings file that are read to be changed.
MOST_BYTES = 16 << 20
# From what a file holds to what it holds without SkillDelta; None is no file.
Cleaner = Callable[[Path, bytes], bytes | None]


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file as it is and as it shall be; None is no file."""

    path: Path
    before: bytes | None
    after: bytes | None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return self.before == self.after

    def diff(self) -> str:
        """The difference as people read it."""
        old, new = (_lines(content) for content in (self.before, self.after))
        before, after = ("/dev/null" if content is None else str(self.path) for content in (self.before, self.after))
        return "".join(difflib.unified_diff(old, new, before, after))


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file of an installation: what was there before it, and what it left."""

    path: Path
    before: bytes | None
    after: str
    """A digest; empty is no file."""


@dataclass(frozen=True, slots=True)
class InstallationRecord:
    """Everything that an installation has changed."""

    files: tuple[KeptFile, ...]
    folders: tuple[Path, ...]
    """Made for the files, the innermost last."""


class Installations:
    """The records of what was installed, one per name, in a folder of the user."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "installed"

    def record(self, name: str) -> InstallationRecord | None:
        """What an installation has changed; None where there is none."""
        path = self._path(name)
        if not path.is_file():
            return None
        try:
            document = json_document(path, most=8 * MOST_BYTES)
            files = [
                KeptFile(Path(row["path"]), _decoded(row["before"]), str(row["after"])) for row in document["files"]
            ]
            return InstallationRecord(tuple(files), tuple(map(Path, document["folders"])))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(
                f"{path}: the record of the installation is damaged ({error}); remove it by hand"
            ) from None

    def install(self, name: str, changes: Sequence[FileChange]) -> None:
        """Make the changes, or none: a file that cannot be written takes the others back."""
        for change in changes:
            check_destination(change.path)
        self._write(name, self._next_record(name, changes))
        done: list[FileChange] = []
        try:
            for change in changes:
                done.append(change)
                _put(change.path, change.after)
        except (InputError, OSError):
            for change in reversed(done):
                with suppress(InputError, OSError):
                    _put(change.path, change.before)
            raise

    def undoing(self, name: str, *, cleaned: Cleaner | None = None) -> list[FileChange]:
        """The changes that take an installation back.

        A file that was changed since is refused by name, or cleaned of what is ours where `cleaned` says how.
        """
        record = self.record(name)
        if record is None:
            raise InputError(f"nothing is installed for {name}; there is nothing to undo")
        return [self._undoing(file, cleaned) for file in record.files]

    def _undoing(self, file: KeptFile, cleaned: Cleaner | None) -> FileChange:
        now = content_of(file.path)
        if _digest(now) in (file.after, _digest(file.before)):
            return FileChange(file.path, now, file.before)
        if cleaned is None:
            raise InputError(
                f"{file.path} was changed after the installation; say --keep-changes to take out only what is SkillDelta's"
            )
        return FileChange(file.path, now, None if now is None else cleaned(file.path, now))

    def undo(self, name: str, changes: Sequence[FileChange]) -> None:
        """Make the changes of `undoing`, and forget the installation."""
        record = self.record(name)
        for change in changes:
            _put(change.path, change.after)
        for folder in reversed(record.folders if record else ()):
            with suppress(OSError):  # something else is in it by now
                folder.rmdir()
        self._path(name).unlink(missing_ok=True)

    def _next_record(self, name: str, changes: Sequence[FileChange]) -> InstallationRecord:
        """What to restore: of a file that nobody has touched since an earlier installation, what was before that one."""
        earlier = self.record(name) or InstallationRecord((), ())
        files_before = {file.path: file for file in earlier.files}
        files = []
        for change in changes:
            old = files_before.pop(change.path, None)
            before = old.before if old is not None and _digest(change.before) == old.after else change.before
            files.append(KeptFile(change.path, before, _digest(change.after)))
        folders = [*earlier.folders, *(folder for change in changes for folder in _missing_folders(change.path))]
        return InstallationRecord((*files, *files_before.values()), tuple(dict.fromkeys(folders)))

    def _write(self, name: str, record: InstallationRecord) -> None:
        files = [
            {"path": str(file.path), "before": _encoded(file.before), "after": file.after} for file in record.files
        ]
        document = {"name": name, "files": files, "folders": [str(folder) for folder in record.folders]}
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_bytes(self._path(name), json.dumps(document, indent=1).encode(), private=True)

    def _path(self, name: str) -> Path:
        return self._folder / f"{hashlib.sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}.json"


def settings_folder(harness: Harness, scope: Scope, home: Path, project: Path, environment: Mapping[str, str]) -> Path:
    """The folder of a harness's settings."""
    if scope == "user":
        return harness.folder(home, environment)
    if not harness.project_folder:
        raise InputError(f"{harness.name} has no settings of a project; install it with --scope user")
    return project / harness.project_folder


def planned_changes(harness: Harness, folder: Path, setup: WantedSetup) -> list[FileChange]:
    """The files as they are, and with SkillDelta in them; a change may be empty."""
    first, *_ = harness.setup.files(harness, folder)
    with _naming(first):
        return [
            FileChange(file.path, content_of(file.path), file.content)
            for file in harness.setup.wanted(harness, folder, setup)
        ]


def cleaned(harness: Harness, path: Path, content: bytes) -> bytes | None:
    """What a file holds without SkillDelta, whatever else has changed in it; None where it was all ours."""
    with _naming(path):
        text = harness.setup.cleaned(harness, path, content.decode("utf-8"))
    return None if text is None else text.encode()


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors about a file's content name the file."""
    try:
        yield
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; SkillDelta leaves it alone") from None
    except InputError as error:
        raise InputError(str(error) if str(path) in str(error) else f"{path}: {error}") from None


def _missing_folders(path: Path) -> list[Path]:
    """The folders that have to be made for a file, the outermost first."""
    return [folder for folder in reversed(path.parents) if not folder.exists()]


def content_of(path: Path) -> bytes | None:
    """What a file holds; None where there is none."""
    try:
        path.lstat()
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise InputError(f"{path}: a part of the path is not a folder") from None
    return read_bytes(path, most=MOST_BYTES)


def _put(path: Path, content: bytes | None) -> None:
    if content is None:
        path.unlink(missing_ok=True)
    elif content_of(path) != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, content)


def _lines(content: bytes | None) -> list[str]:
    text = (content or b"").decode("utf-8", "replace")
    return [line if line.endswith("\n") else f"{line}\n" for line in text.splitlines(keepends=True)]


def _digest(content: bytes | None) -> str:
    return "" if content is None else hashlib.sha256(content).hexdigest()


def _encoded(content: bytes | None) -> str | None:
    return None if content is None else base64.b64encode(content).decode()


def _decoded(text: str | None) -> bytes | None:
    return None if text is None else base64.b64decode(text)
