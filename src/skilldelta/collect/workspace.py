"""Working copies: folders that an agent may fill as it likes, and that we touch without trusting a name in them.

Symbolic links are never followed, hard links never written through, and a folder is removed however deep it is nested and
whatever its permissions are.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from skilldelta.collect.own_thread import in_own_thread
from skilldelta.errors import InputError

# Whether names can be looked up below an open folder; Windows has no such calls, and links there need a privilege.
_BY_HANDLE = os.open in os.supports_dir_fd and os.scandir in os.supports_fd
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


@contextlib.asynccontextmanager
async def temporary_folder() -> AsyncIterator[Path]:
    """A folder that only this user can enter, removed at the end while other executions go on."""
    place = Path(tempfile.mkdtemp(prefix="skilldelta-"))
    try:
        yield place
    finally:
        await asyncio.shield(in_own_thread(remove_tree, place, name="clean-up"))


def check_inside(name: str, where: str) -> None:
    """Refuse a name that leads out of the working copy."""
    path = PurePosixPath(name.replace("\\", "/"))
    if not path.parts or path.is_absolute() or ".." in path.parts or "\0" in name or ":" in path.parts[0]:
        raise InputError(f"{where} must be a path inside the working copy, got {name!r}")


def intact(folder: Path) -> bool:
    """Whether a working copy is still the folder it was; an agent that removed or replaced it has nothing to grade."""
    try:
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            return False
        os.chmod(folder, 0o700)
    except OSError:
        return False
    return True


def write_below(folder: Path, name: str, content: str | bytes, mode: int = 0o644) -> None:
    """Write a file of a working copy; whatever stands in its way, a link or a folder, is replaced and not followed."""
    check_inside(name, "a file of the working copy")
    *parents, last = PurePosixPath(name.replace("\\", "/")).parts
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    if not _BY_HANDLE:
        _write_by_path(folder.joinpath(*parents), last, data)
        return
    here = os.open(folder, _FOLDER)
    try:
        for parent in parents:
            inner = _enter(here, parent)
            os.close(here)
            here = inner
        _write_new(here, last, data, mode)
    finally:
        os.close(here)


def _enter(here: int, name: str) -> int:
    """The real folder of a name, made when there is none."""
    with contextlib.suppress(FileNotFoundError):
        if _is_folder(here, name):
            os.chmod(name, 0o700, dir_fd=here)
            return os.open(name, _FOLDER, dir_fd=here)
        os.unlink(name, dir_fd=here)
    os.mkdir(name, 0o700, dir_fd=here)
    return os.open(name, _FOLDER, dir_fd=here)


def lay_over(folder: Path, source: Path) -> None:
    """Put the regular files of a folder of the suite into a working copy, in the place of whatever has their names."""
    for path in sorted(source.rglob("*")):
        if path.is_file() and not path.is_symlink():
            mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            write_below(folder, path.relative_to(source).as_posix(), path.read_bytes(), mode)


def remove_below(folder: Path, name: str) -> None:
    """Remove a file or a folder of a working copy, whatever it is; a link goes, and what it leads to stays."""
    check_inside(name, "a file of the working copy")
    path = folder.joinpath(*PurePosixPath(name).parts)
    with contextlib.suppress(OSError):
        if path.is_symlink() or not path.is_dir():
            path.unlink()
        else:
            remove_tree(path)


def _write_new(here: int, name: str, data: bytes, mode: int) -> None:
    """A new file under a name nobody knows, then renamed: neither a link nor a second name of the old file is written to."""
    fresh = f".{secrets.token_hex(16)}"
    file = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode, dir_fd=here)
    with os.fdopen(file, "wb") as stream:
        stream.write(data)
    with contextlib.suppress(FileNotFoundError):
        if _is_folder(here, name):
            os.rename(name, f".{secrets.token_hex(16)}", src_dir_fd=here, dst_dir_fd=here)
    os.rename(fresh, name, src_dir_fd=here, dst_dir_fd=here)


def _write_by_path(folder: Path, name: str, data: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        (folder / name).unlink()
    (folder / name).write_bytes(data)


def remove_tree(folder: Path) -> None:
    """Remove a folder and all below it. What another user owns may stay; that is never an error of an execution."""
    if not _BY_HANDLE:
        shutil.rmtree(folder, onerror=_retry_writable)
        return
    with contextlib.suppress(OSError):
        here = os.open(folder, _FOLDER)
        try:
            _empty(here)
        finally:
            os.close(here)
        folder.rmdir()


def _empty(here: int) -> None:
    """Without recursion, with one more open folder at any depth: inner folders are moved up before theirs is removed."""
    numbers = itertools.count()
    stuck: set[str] = set()
    while names := set(os.listdir(here)) - stuck:
        for name in names:
            try:
                if _is_folder(here, name):
                    _dissolve(here, name, numbers)
                else:
                    os.unlink(name, dir_fd=here)
            except OSError:
                stuck.add(name)


def _dissolve(here: int, name: str, numbers: Iterator[int]) -> None:
    os.chmod(name, 0o700, dir_fd=here)
    inner = os.open(name, _FOLDER, dir_fd=here)
    try:
        for child in os.listdir(inner):
            if _is_folder(inner, child):
                os.chmod(child, 0o700, dir_fd=inner)
                os.rename(child, _unused(here, numbers), src_dir_fd=inner, dst_dir_fd=here)
            else:
                os.unlink(child, dir_fd=inner)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=here)


def _is_folder(here: int, name: str) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode)


def _unused(here: int, numbers: Iterator[int]) -> str:
    for number in numbers:
        name = f".removed-{number}"
        try:
            os.stat(name, dir_fd=here, follow_symlinks=False)
        except FileNotFoundError:
            return name
    raise AssertionError("numbers do not end")


def _retry_writable(function: Callable[..., Any], path: str, error: object) -> None:
    """Windows refuses to remove files that are read-only; what it still refuses stays."""
    with contextlib.suppress(OSError):
        os.chmod(path, stat.S_IWRITE)
        function(path)
