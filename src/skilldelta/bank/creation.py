"""A new file made aside, whole and durable before it takes its name, so that a kill leaves no half of it.

Whoever calls holds the lock of the name. A kill may leave the folder in which the file was made; the next one that makes a
file of the same name removes it.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

from skilldelta.files import flush_durably, flush_folder


def create_aside(path: Path, make: Callable[[Path], None]) -> None:
    """Let `make` write a file elsewhere, and give it the name `path`; a file with content that has it is kept."""
    # Not made of the name itself, which may be as long as names can be.
    prefix = f".skilldelta-{zlib.crc32(os.fsencode(path.name)):08x}-"
    _remove_left_over(path.parent, prefix)
    aside = Path(tempfile.mkdtemp(prefix=prefix, dir=path.parent))
    try:
        made = aside / "new"
        os.close(os.open(made, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        make(made)
        with made.open("rb+") as file:
            flush_durably(file.fileno())
        _take_name(made, path)
        flush_folder(path.parent)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _remove_left_over(folder: Path, prefix: str) -> None:
    for entry in os.scandir(folder):
        if entry.name.startswith(prefix):
            shutil.rmtree(entry.path, ignore_errors=True)


def _take_name(made: Path, path: Path) -> None:
    """Never over a file with content, which a program that knows no lock may have put there meanwhile."""
    if path.exists() and path.stat().st_size == 0:
        made.replace(path)
        return
    try:
        os.link(made, path)
    except FileExistsError:
        return
    except (OSError, NotImplementedError):  # a disk without hard links
        made.rename(path)
