"""The watchdog: measures what a payload and all its processes take, from outside, many times per second.

It always watches the disk. Memory and processes are its task where no cgroup can be made; between two looks a payload can
take more than its limit, so it is the weaker of the two.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skilldelta.collect.sandbox.base import Limits

# Files that are counted before a folder is taken to be over its limit: counting must end.
_MOST_FILES = 200_000
_TOO_MUCH = 2**62
_SURELY_SMALL = 2**26


@dataclass(slots=True)
class Watchdog:
    """Looks at the tree below the sandbox's first process."""

    first: int
    limits: Limits
    workdir: Path | None
    memory_too: bool
    _in_memory: bool = field(init=False)
    _before: int = field(init=False)
    _hidden: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._in_memory = self.workdir is not None and _is_in_memory(self.workdir)
        self._before = self._stored()

    def exceeded(self) -> str:
        """The limit that is exceeded now, or nothing."""
        if not self.memory_too and self.workdir is None:
            return ""
        tree = _tree(self.first)
        if self.memory_too:
            if _threads(tree) > self.limits.processes:
                return "processes"
            if memory_of(tree) > self.limits.memory:
                return "memory"
        if self.workdir is not None and max(self._written(tree), self._stored() - self._before) > self.limits.disk:
            return "disk"
        return ""

    def _written(self, tree: Sequence[int]) -> int:
        """What the tree wrote; a process that stays unreadable for two looks hides on purpose, and wrote too much."""
        written = {pid: _written_by(pid) for pid in tree}
        hidden = {pid for pid, count in written.items() if count == _TOO_MUCH}
        if hidden & self._hidden:
            return _TOO_MUCH
        self._hidden = hidden
        return sum(count for pid, count in written.items() if pid not in hidden)

    def _stored(self) -> int:
        """Bytes below the working copy where the kernel does not count writes: a file system kept in memory."""
        return _size_below(self.workdir) if self.workdir is not None and self._in_memory else 0


def memory_of(tree: Sequence[int]) -> int:
    """Bytes that the tree occupies. Pages that forks share count once; the program's own files do not count."""
    files = _memory_files(tree)
    anonymous, shared = _sums(tree, "status", "RssAnon", "RssShmem")
    quick = anonymous + max(shared, files)
    if quick < _SURELY_SMALL:
        return quick
    # Resident sizes count a shared page once per process; proportional ones are right, and dearer to ask for.
    anonymous, shared = _sums(tree, "smaps_rollup", "Pss_Anon", "Pss_Shmem")
    return min(quick, anonymous + max(shared, files)) if anonymous else quick


def _tree(first: int) -> list[int]:
    """A process and its descendants. Nobody leaves the tree: orphans become children of the sandbox's first process."""
    processes = [first]
    for pid in processes:
        with contextlib.suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                processes += map(int, _text(f"/proc/{pid}/task/{thread}/children").split())
    return processes


def _threads(tree: Sequence[int]) -> int:
    """A process counts as its threads, as in a cgroup."""
    total = 0
    for pid in tree:
        with contextlib.suppress(OSError):
            total += len(os.listdir(f"/proc/{pid}/task"))
    return total


def _sums(tree: Sequence[int], file: str, *keys: str) -> tuple[int, ...]:
    """Each key's kilobytes over the tree, in bytes."""
    sums = dict.fromkeys(keys, 0)
    for pid in tree:
        for line in _text(f"/proc/{pid}/{file}").splitlines():
            key, _, rest = line.partition(":")
            if key in sums:
                sums[key] += int(rest.split()[0]) * 1024
    return tuple(sums.values())


def _memory_files(tree: Sequence[int]) -> int:
    """What is in /tmp and /dev/shm, and in files of memory without a name there (memfd)."""
    total = 0
    counted: set[int] = set()
    for place in ("tmp", "dev/shm"):
        with contextlib.suppress(OSError):
            path = f"/proc/{tree[0]}/root/{place}"
            system = os.statvfs(path)
            counted.add(os.stat(path).st_dev)
            total += (system.f_blocks - system.f_bfree) * system.f_frsize
    nameless = {(file.st_dev, file.st_ino): file for pid in tree for file in _nameless_files(pid)}
    return total + sum(file.st_blocks * 512 for file in nameless.values() if file.st_dev not in counted)


def _nameless_files(pid: int) -> Iterator[os.stat_result]:
    """Open files without a name that no disk holds."""
    with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                status = os.stat(entry.path)
                if stat.S_ISREG(status.st_mode) and status.st_nlink == 0 and os.major(status.st_dev) == 0:
                    yield status


def _written_by(pid: int) -> int:
    """Bytes written to a disk, whether or not the file still has a name; the dead are counted by who reaped them."""
    try:
        with open(f"/proc/{pid}/io", encoding="ascii") as file:
            counts = dict(line.split(": ") for line in file)
    except PermissionError:
        # A process that is ending has no memory left and looks like this too.
        return _TOO_MUCH if "VmSize" in _text(f"/proc/{pid}/status") else 0
    except OSError:
        return 0
    return int(counts["write_bytes"]) - int(counts["cancelled_write_bytes"])


def _is_in_memory(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        device = folder.stat().st_dev
        number = f"{os.major(device)}:{os.minor(device)}"
        for line in _text("/proc/self/mountinfo").splitlines():
            before, _, after = line.partition(" - ")
            if before.split()[2] == number:
                return after.split()[0] in ("tmpfs", "ramfs")
    return False


def _size_below(folder: Path) -> int:
    """Bytes below a folder; one that cannot be counted counts as too large."""
    total = files = 0
    folders = [str(folder)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    files += 1
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except FileNotFoundError:
            continue
        except OSError:  # a path too long for the kernel, a folder without permissions
            return _TOO_MUCH
        if files > _MOST_FILES:
            return _TOO_MUCH
    return total


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:  # the process is gone
        return ""
