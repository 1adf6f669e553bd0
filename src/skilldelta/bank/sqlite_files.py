"""The files of a SQLite bank: its lock, its creation, its last acknowledged commit, and a private copy where its folder
cannot be written.

A log file that is removed takes commits with it and leaves a bank without a fault. So the number and the mark of the last
acknowledged commit stand in a file beside the bank: if the bank does not have that commit, some were lost. A bank that
was copied without the file, or another bank in its place, is not blamed.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from skilldelta.bank.schema import Head, read_head, read_mark
from skilldelta.errors import BankError, BankWarning, UnwritableBankError
from skilldelta.file_lock import LockHeldError, file_lock
from skilldelta.files import flush_durably, flush_folder
from skilldelta.nouns import plural


@contextmanager
def write_lock(path: Path, timeout: float) -> Iterator[None]:
    """Hold the lock file `path`; a BankError names it and its holder when `timeout` seconds were not enough.

    SQLite up to 3.51.2 has a rare race between writers and checkpointers in WAL mode; under this lock neither meets the
    other, and writers do not starve one another.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(file_lock(path, timeout=timeout))
        except LockHeldError as error:
            raise BankError(
                f"the bank is locked: {path} is held by {error.holder} and was not released within {timeout:g} s; "
                "wait for it to finish, or end it"
            ) from None
        except OSError as error:
            is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            remedy = "free some space" if is_full else "make it and its folder writable"
            raise UnwritableBankError(
                f"cannot write to the bank: {path} cannot be opened ({error.strerror}); {remedy}, or choose another bank"
            ) from None
        yield


def create_aside(path: Path, make: Callable[[Path], None]) -> None:
    """Let `make` write a file elsewhere, and give it the name `path`; a file with content that has it is kept.

    The file is whole and durable before it takes its name, so that a kill leaves no half of it. The caller holds the
    lock of the name. A kill may leave the folder in which the file was made; the next creation of the same name removes
    it.
    """
    # Not made of the name itself, which may be as long as names can be.
    prefix = f".skilldelta-{zlib.crc32(os.fsencode(path.name)):08x}-"
    _remove_left_over(path.parent, prefix)
    aside = Path(tempfile.mkdtemp(prefix=prefix, dir=path.parent))
    try:
        new_file = aside / "new"
        os.close(os.open(new_file, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        make(new_file)
        with new_file.open("rb+") as file:
            flush_durably(file.fileno())
        _take_name(new_file, path)
        flush_folder(path.parent)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _remove_left_over(folder: Path, prefix: str) -> None:
    for entry in os.scandir(folder):
        if entry.name.startswith(prefix):
            shutil.rmtree(entry.path, ignore_errors=True)


def _take_name(new_file: Path, path: Path) -> None:
    """Never over a file with content, which a program that knows no lock may have put there meanwhile."""
    if path.exists() and path.stat().st_size == 0:
        new_file.replace(path)
        return
    try:
        os.link(new_file, path)
    except FileExistsError:
        return
    except (OSError, NotImplementedError):  # a disk without hard links
        new_file.rename(path)


_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Copy:
    """A bank and its log, copied to a folder of their own; the copy stays as the bank was at that moment.

    SQLite must be able to write beside a bank to read its log. Where it cannot, the copy shows everything committed.
    """

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
    states = [os.stat(path) for path in paths if path.exists()]
    return [(file.st_ino, file.st_size, file.st_mtime_ns) for file in states]


_TITLE = "skilldelta-commits"
# Bytes of the record: of one length always, so that it is overwritten by one write.
_WIDTH = 96


def acknowledge(file: Path, head: Head) -> None:
    """Write the record down, durably. The commit itself is safe by then, so that a failure here is no failure of it."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    with suppress(OSError):
        descriptor = os.open(file, flags, 0o600)
        try:
            os.write(descriptor, _record(head))
            flush_durably(descriptor)
        finally:
            os.close(descriptor)


def acknowledged(file: Path) -> Head | None:
    """The record, or None where there is none that can be read."""
    try:
        raw = file.read_bytes()
        _, bank, number, mark, _ = raw.decode("ascii").split()
        head = Head(int(bank, 16), int(number), int(mark, 16))
    except (OSError, ValueError):
        return None
    return head if _record(head) == raw else None


def _record(head: Head) -> bytes:
    body = f"{_TITLE} {head.bank:x} {head.number} {head.mark:x}"
    return f"{body} {zlib.crc32(body.encode()):08x}".ljust(_WIDTH - 1).encode() + b"\n"


def lost(connection: Connection, acknowledged: Head | None, location: str, file: Path) -> str | None:
    """One line if the bank lacks the acknowledged commit. Read `acknowledged` first: the bank may grow meanwhile."""
    head = read_head(connection)
    if acknowledged is None or head is None or head.bank != acknowledged.bank:
        return None
    if read_mark(connection, acknowledged.number) == acknowledged.mark:
        return None
    missing = acknowledged.number - head.number
    what = (
        f"{plural(missing, 'acknowledged commit is', 'acknowledged commits are')} missing: its log was removed, or an "
        "older copy was put in its place"
        if missing > 0
        else "acknowledged commits are missing: a copy that was written elsewhere was put in its place"
    )
    return f"{what} ({location}); restore the newer bank with its log, or remove {file} to go on without them"
