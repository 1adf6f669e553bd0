"""One holder at a time, across processes: a lock file that the operating system frees when its holder dies.

The file itself is never removed, because whoever waits for it has it open. It holds the process number of its holder, for
the message of those who wait. What a busy lock means, and what to do about it, is left to the caller.

Not the package `filelock`: it cannot say who holds a lock, and asks again every 50 ms, where writers of a bank take turns
every one or two.
"""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_FIRST_WAIT, _LONGEST_WAIT = 0.0005, 0.02
_HOLDER_WIDTH = 20


class LockHeldError(Exception):
    """Someone else holds the lock; `holder` names them."""

    def __init__(self, holder: str) -> None:
        super().__init__(f"held by {holder}")
        self.holder = holder


@contextmanager
def file_lock(path: Path, *, timeout: float) -> Iterator[None]:
    """Hold the lock file `path`: LockHeldError after `timeout` seconds, OSError when the file cannot be opened."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        _acquire(descriptor, timeout)
        try:
            _write_holder(descriptor)
            yield
        finally:
            _unlock(descriptor)
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    wait = _FIRST_WAIT
    while not _try_lock(descriptor):
        if time.monotonic() >= deadline:
            raise LockHeldError(_holder(descriptor))
        time.sleep(wait)
        wait = min(2 * wait, _LONGEST_WAIT)


def _write_holder(descriptor: int) -> None:
    """Note who holds the lock, at a fixed width, so that nothing is truncated."""
    holder = str(os.getpid()).encode().ljust(_HOLDER_WIDTH)
    os.lseek(descriptor, 0, os.SEEK_SET)
    if os.read(descriptor, _HOLDER_WIDTH) != holder:
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, holder)


def _holder(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    holder = os.read(descriptor, _HOLDER_WIDTH).decode("ascii", "replace").strip()
    return f"process {holder}" if holder else "another process"


try:
    import fcntl
except ImportError:  # Windows
    _msvcrt: Any = importlib.import_module("msvcrt")
    _LOCKED_BYTE = 1 << 30  # beyond the holder's number, which others must be able to read

    def _try_lock(descriptor: int) -> bool:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        try:
            _msvcrt.locking(descriptor, _msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        _msvcrt.locking(descriptor, _msvcrt.LK_UNLCK, 1)

else:

    def _try_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
