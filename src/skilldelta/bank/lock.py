"""One writer at a time, across processes: a lock file beside the bank.

SQLite up to 3.51.2 has a rare race between writers and checkpointers in WAL mode; under this lock neither meets the
other, and writers do not starve one another. The operating system frees the lock when its holder dies, even by SIGKILL,
so the file itself is never removed.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from skilldelta.errors import BankError

_FIRST_WAIT, _LONGEST_WAIT = 0.0005, 0.02
_HOLDER_WIDTH = 20


@contextmanager
def write_lock(path: Path, timeout: float) -> Iterator[None]:
    """Hold the lock file `path`; a BankError names it and its holder when `timeout` seconds were not enough."""
    descriptor = _open(path)
    try:
        _acquire(descriptor, path, timeout)
        try:
            _write_holder(descriptor)
            yield
        finally:
            _unlock(descriptor)
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
    except OSError as error:
        raise BankError(
            f"cannot write to the bank: {path} cannot be opened ({error.strerror}); "
            "make its folder writable, or choose another bank"
        ) from None


def _acquire(descriptor: int, path: Path, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    wait = _FIRST_WAIT
    while not _try_lock(descriptor):
        if time.monotonic() >= deadline:
            raise BankError(
                f"the bank is locked: {path} is held by {_holder(descriptor)} and was not released within "
                f"{timeout:g} s; wait for it to finish, or end it"
            )
        time.sleep(wait)
        wait = min(2 * wait, _LONGEST_WAIT)


def _write_holder(descriptor: int) -> None:
    """Note who holds the lock, for the message of those who wait; at a fixed width, so that nothing is truncated."""
    holder = str(os.getpid()).encode().ljust(_HOLDER_WIDTH)
    os.lseek(descriptor, 0, os.SEEK_SET)
    if os.read(descriptor, _HOLDER_WIDTH) != holder:
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, holder)


def _holder(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    holder = os.read(descriptor, _HOLDER_WIDTH).decode("ascii", "replace").strip()
    return f"process {holder}" if holder else "another process"


if sys.platform == "win32":
    import msvcrt

    _LOCKED_BYTE = 1 << 30  # beyond the holder's number, which others must be able to read

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
