"""The output guard: what a command writes never takes the place of evidence.

Refused are banks with the files beside them, the folders of collections and of suites, and whatever the same command
reads. Files are compared as the system knows them, so that a link or another spelling of a path does not hide one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from skilldelta.errors import InputError

SUITE_FILE = "suite.yaml"
# Of the folder beside a bank that holds manifests, ledgers and transcripts.
COLLECTION_SUFFIX = ".collect"

_BESIDE_A_BANK = ("", "-wal", "-shm", "-journal", ".lock", ".commits", ".cache")
_DATABASE = b"SQLite format 3\x00"


def guard_output(path: Path, *, read: Iterable[Path] = (), bank: Path | None = None, folder: bool = False) -> None:
    """Refuse an output that would overwrite a bank, a suite, a collection, or a file in `read`.

    A `folder` is refused where any file in it would be.
    """
    refuse_database(path)
    inside = path / "any file" if folder else path
    for beside in _BESIDE_A_BANK if bank is not None else ():
        if _same(inside, Path(f"{bank}{beside}")):
            raise InputError(f"cannot write {path}: it belongs to the bank {bank} that is in use; choose another file")
    for source in read:
        if _same(inside, source) or _real(source) in _real(inside).parents:
            raise InputError(f"cannot write {path}: this command reads {source}; choose another file")
    for above in _real(inside).parents:
        if above.name.endswith(COLLECTION_SUFFIX):
            raise InputError(f"cannot write {path}: {above} holds the records of a collection; choose another folder")
        if (above / SUITE_FILE).is_file():
            raise InputError(
                f"cannot write {path}: {above} is a suite, and a file in it would change the suite; "
                "choose another folder"
            )


def refuse_database(path: Path) -> None:
    """Refuse to replace a SQLite file, which may be a bank, or one of the files that belong to it."""
    for beside in _BESIDE_A_BANK:
        bank = Path(str(path).removesuffix(beside)) if beside else path
        if (bank != path or not beside) and _is_database(bank):
            raise InputError(f"cannot write {path}: it belongs to the database {bank}; choose another file")


def _is_database(path: Path) -> bool:
    """A new bank may still be empty, with all of its content in the log beside it."""
    try:
        if not path.is_file():  # opening a pipe would wait for its other end
            return False
        with path.open("rb") as file:
            head = file.read(len(_DATABASE))
        return head == _DATABASE or (not head and Path(f"{path}-wal").exists())
    except (OSError, ValueError):
        return False


def _same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except (OSError, ValueError):  # one of them does not exist yet
        return _real(path) == _real(other)


def _real(path: Path) -> Path:
    """Links followed as far as they lead; unlike `Path.resolve`, a loop of links is no error."""
    return Path(os.path.realpath(path))
