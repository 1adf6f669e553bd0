"""The bank's one writer: a lock file beside a SQLite bank.

SQLite up to 3.51.2 has a rare race between writers and checkpointers in WAL mode; under this lock neither meets the
other, and writers do not starve one another.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from skilldelta.errors import BankError, UnwritableBankError
from skilldelta.file_lock import LockHeldError, file_lock


@contextmanager
def write_lock(path: Path, timeout: float) -> Iterator[None]:
    """Hold the lock file `path`; a BankError names it and its holder when `timeout` seconds were not enough."""
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
