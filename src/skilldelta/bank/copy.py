"""A private copy of a SQLite bank whose log cannot be read where it lies.

SQLite needs to write beside a bank to read its log. In a folder that may not be written, the bank and its log are copied
to where that is possible, so that nothing committed is missing from what is shown.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path

from skilldelta.errors import BankError, BankWarning

_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Copy:
    """The copied bank, in a folder of its own; it stays as the bank was at that moment."""

    path: Path

    @classmethod
    def of(cls, path: Path, log: Path, location: str) -> Copy:
        """Copy both files. A log that may not be read is left out with a warning."""
        folder = Path(tempfile.mkdtemp(prefix="skilldelta-"))
        copy = cls(folder / "copy.bank")
        try:
            for _ in range(_ATTEMPTS):
                before = _state(path, log)
                shutil.copyfile(path, copy.path)
                _copy_log(log, Path(f"{copy.path}-wal"), location)
                if _state(path, log) == before:
                    return copy
        except BaseException:
            copy.remove()
            raise
        copy.remove()
        raise BankError(f"the bank {location} is being written and its folder cannot be; repeat in a moment")

    def remove(self) -> None:
        """Remove the copy."""
        shutil.rmtree(self.path.parent, ignore_errors=True)


def _copy_log(log: Path, copy: Path, location: str) -> None:
    try:
        shutil.copyfile(log, copy)
    except FileNotFoundError:
        copy.unlink(missing_ok=True)
    except PermissionError as error:
        warnings.warn(
            f"the bank {location} is shown without its newest changes: its log {log} cannot be read "
            f"({error.strerror}); ask its owner for the right to read it",
            BankWarning,
            stacklevel=2,
        )


def _state(*paths: Path) -> list[tuple[int, int, int]]:
    """What differs when a file was written or replaced."""
    found = [os.stat(path) for path in paths if path.exists()]
    return [(file.st_ino, file.st_size, file.st_mtime_ns) for file in found]
