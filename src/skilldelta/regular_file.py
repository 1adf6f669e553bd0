"""Reading a file that somebody else may have prepared: it never waits, and never takes more than it was told to.

A pipe blocks whoever opens it, a device may answer for ever, a link may lead anywhere. Only the standard library is used,
because hooks of agent harnesses read through this file while a person waits.
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False  # as `typing` has it, which takes 2 ms to load
if TYPE_CHECKING:
    from pathlib import Path

_NEVER_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def read_regular(path: str | Path, most: int, *, follow_links: bool = True) -> bytes:
    """The content of a regular file of at most `most` bytes.

    Raises OSError for everything else: a pipe, a device, a folder, a larger file, and a link where none may be followed.
    """
    with os.fdopen(open_regular(path, os.O_RDONLY, follow_links=follow_links), "rb") as file:
        if os.fstat(file.fileno()).st_size > most:
            raise OSError(errno.EFBIG, f"has more than {most >> 20} MiB", str(path))
        content = file.read(most + 1)
    if len(content) > most:  # it has grown meanwhile
        raise OSError(errno.EFBIG, f"has more than {most >> 20} MiB", str(path))
    return content


def open_regular(path: str | Path, flags: int, *, follow_links: bool = True, mode: int = 0o600) -> int:
    """A descriptor of a regular file; whatever else has the name is refused without waiting for it."""
    links = 0 if follow_links else getattr(os, "O_NOFOLLOW", 0)
    try:
        _check_regular(os.stat(path, follow_symlinks=follow_links), path)  # some devices act when they are opened
    except FileNotFoundError:
        if not flags & os.O_CREAT:
            raise
    descriptor = os.open(path, flags | _NEVER_WAIT | _PLAIN | links, mode)
    try:
        _check_regular(os.fstat(descriptor), path)  # what was opened may not be what was looked at
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def is_below(path: str | Path, folder: str | Path) -> bool:
    """Whether a path is in a folder once every link on the way is followed."""
    place, home = os.path.realpath(path), os.path.realpath(folder)
    return place.startswith(home.rstrip(os.sep) + os.sep)


def _check_regular(status: os.stat_result, path: str | Path) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "is not a regular file", str(path))
