"""A control group per payload: the kernel itself limits memory of every kind and the number of processes.

Version 2 where a parent that we may write to hands out both controllers (a systemd user session does, root usually has
one), else version 1. Where neither can be made, there is none, and a watchdog takes its place.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.sandbox.base import Limits

_PREFIX = "skilldelta-"
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Cgroup:
    """A group of processes: one folder for both controllers (version 2), or one each (version 1)."""

    memory: Path
    processes: Path

    @property
    def unified(self) -> bool:
        return self.memory == self.processes

    def enter(self, pid: int) -> bool:
        """Put a process, and whatever it will start, into the group."""
        try:
            for folder in {self.memory, self.processes}:
                (folder / "cgroup.procs").write_text(str(pid))
        except OSError:
            return False
        return True

    def exceeded(self) -> str:
        """The limit that the kernel had to enforce so far, by killing a process or refusing to start one."""
        killed = _numbers_in(self.memory, "memory.events", "memory.oom_control").get("oom_kill", 0)
        refused = _numbers_in(self.processes, "pids.events").get("max", 0)
        return "memory" if killed else "processes" if refused else ""

    def remove(self) -> None:
        """Empty groups only; the last dead processes of one may take a moment to leave it."""
        for folder in {self.memory, self.processes}:
            for _ in range(100):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)


def make_cgroup(limits: Limits) -> Cgroup | None:
    """The group of one payload, with its limits set; None where none can be made."""
    parent = find_cgroups()
    if parent is None:
        return None
    name = f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
    cgroup = Cgroup(parent.memory / name, parent.processes / name)
    try:
        for folder in {cgroup.memory, cgroup.processes}:
            folder.mkdir()
        _write_limits(cgroup, limits)
    except OSError:
        cgroup.remove()
        return None
    return cgroup


def _write_limits(cgroup: Cgroup, limits: Limits) -> None:
    (cgroup.processes / "pids.max").write_text(str(limits.processes))
    if cgroup.unified:
        (cgroup.memory / "memory.max").write_text(str(limits.memory))
        swap, most = cgroup.memory / "memory.swap.max", 0
    else:
        (cgroup.memory / "memory.limit_in_bytes").write_text(str(limits.memory))
        swap, most = cgroup.memory / "memory.memsw.limit_in_bytes", limits.memory
    with contextlib.suppress(FileNotFoundError):  # a kernel without accounting of swap
        swap.write_text(str(most))


def find_cgroups(process: Path = Path("/proc/self")) -> Cgroup | None:
    """The group below which this process can make others; None where there is none."""
    try:
        own = _own_groups((process / "cgroup").read_text())
        mounts = (process / "mountinfo").read_text().splitlines()
    except OSError:
        return None
    return _version_2(own, mounts) or _version_1(own, mounts)


def _own_groups(text: str) -> dict[str, str]:
    """This process's group by controller; version 2 under the empty name."""
    rows = (line.split(":", 2) for line in text.splitlines())
    return {controller: path for _, controllers, path in rows for controller in controllers.split(",")}


def _version_2(own: Mapping[str, str], mounts: list[str]) -> Cgroup | None:
    """The nearest group above (a group with processes of its own cannot hand out controllers) that takes a child."""
    top = _mount_point(mounts, "cgroup2", "")
    if top is None or "" not in own:
        return None
    place = _below(top, own[""])
    for parent in (place, *place.parents):
        if not parent.is_relative_to(top.point):
            break
        with contextlib.suppress(OSError):
            controllers = (parent / "cgroup.subtree_control").read_text().split()
            if {"memory", "pids"} <= set(controllers) and _takes_child(parent):
                return Cgroup(parent, parent)
    return None


def _version_1(own: Mapping[str, str], mounts: list[str]) -> Cgroup | None:
    hierarchies = []
    for controller in ("memory", "pids"):
        top = _mount_point(mounts, "cgroup", controller)
        if top is None or controller not in own:
            return None
        place = _below(top, own[controller])
        if not _takes_child(place):
            return None
        hierarchies.append(place)
    return Cgroup(*hierarchies)


@dataclass(frozen=True, slots=True)
class _Mount:
    point: Path
    root: str


def _mount_point(mounts: list[str], kind: str, controller: str) -> _Mount | None:
    for line in mounts:
        before, _, after = line.partition(" - ")
        fields, (filesystem, _, options) = before.split(), after.split(" ", 2)
        if filesystem == kind and (not controller or controller in options.split(",")):
            return _Mount(Path(fields[4]), fields[3])
    return None


def _below(mount: _Mount, group: str) -> Path:
    """A container may see its own group as the root of the mount."""
    inside = group.removeprefix(mount.root) if mount.root != "/" else group
    return mount.point / inside.lstrip("/")


def _takes_child(parent: Path) -> bool:
    if not os.access(parent, os.W_OK) or not os.access(parent / "cgroup.procs", os.W_OK):
        return False
    _remove_stale(parent)
    return True


def _remove_stale(parent: Path) -> None:
    """Groups of collectors that were killed; their number says that nobody uses them any more."""
    for folder in parent.glob(f"{_PREFIX}*-*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            with contextlib.suppress(OSError):
                folder.rmdir()


def _numbers_in(folder: Path, *names: str) -> dict[str, int]:
    """`key number` lines of the first file that exists."""
    for name in names:
        with contextlib.suppress(OSError):
            rows = (line.split() for line in (folder / name).read_text().splitlines())
            return {row[0]: int(row[1]) for row in rows if len(row) == 2}
    return {}
