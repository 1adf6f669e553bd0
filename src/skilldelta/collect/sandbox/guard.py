"""The guard of one bubblewrap payload: holds it back until its limits are in place, then watches it to its end.

It hears from bwrap by a pipe that the payload does not have: which process is the payload's first, and whether the
payload itself ended or never started.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.sandbox.base import Limits
from skilldelta.collect.sandbox.cgroup import Cgroup, make_cgroup
from skilldelta.collect.sandbox.watchdog import Watchdog

_EVERY = 0.02
# Bytes that one read of the status pipe takes.
_LARGEST_STATUS = 65536


@dataclass(frozen=True, slots=True)
class Guarded:
    """What became of a payload, from a source that it cannot touch."""

    payload_released: bool = False
    payload_ended: bool = False
    """bwrap reported the payload's own exit code."""
    stopped: str = ""
    """The limit that it was stopped for."""


class Channel:
    """The pipes between the guard and one bwrap; `close` closes every end that is still open."""

    def __init__(self) -> None:
        self.status, self._status_of_bwrap = os.pipe()
        self._block_of_bwrap, self._release = os.pipe()
        self.arguments, self._arguments_in = os.pipe()
        self._filter, self._filter_in = os.pipe()
        self._open = {
            *(self.status, self._status_of_bwrap, self._block_of_bwrap, self._release),
            *(self.arguments, self._arguments_in, self._filter, self._filter_in),
        }

    @property
    def options(self) -> list[str]:
        return ["--json-status-fd", str(self._status_of_bwrap), "--block-fd", str(self._block_of_bwrap)]

    @property
    def of_bwrap(self) -> tuple[int, ...]:
        return (self._status_of_bwrap, self._block_of_bwrap, self.arguments, self._filter)

    def send_options(self, options: list[str], syscall_filter: bytes) -> None:
        """Both fit into a pipe's buffer, so nobody needs to read yet."""
        if syscall_filter:
            os.write(self._filter_in, syscall_filter)
            options = [*options, "--seccomp", str(self._filter)]
        os.write(self._arguments_in, b"".join(os.fsencode(option) + b"\0" for option in options))
        self._close(self._arguments_in, self._filter_in)

    def release(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._release, b"x")

    def close_ends_of_bwrap(self) -> None:
        self._close(*self.of_bwrap)

    def close(self) -> None:
        self._close(*self._open)

    def _close(self, *ends: int) -> None:
        for end in ends:
            if end in self._open:
                self._open.discard(end)
                os.close(end)


def guard(channel: Channel, limits: Limits, workdir: Path | None) -> Guarded:
    """Watch one payload from before its start to its end; blocks until bwrap is gone."""
    status = _Status(channel.status)
    first = status.wait_for("child-pid")
    if first is None:
        return Guarded()
    with _killer(first) as kill:
        try:
            return _watch(channel, status, kill, first, limits, workdir)
        except BaseException:
            kill()  # nothing runs unwatched
            raise


def _watch(
    channel: Channel, status: _Status, kill: Callable[[], None], first: int, limits: Limits, workdir: Path | None
) -> Guarded:
    with _cgroup(limits, first) as cgroup:
        _limit_each_process(first, limits)
        watchdog = Watchdog(first, limits, workdir, memory_too=cgroup is None)
        channel.release()
        stopped = ""
        while not status.ended_within(_EVERY):
            if not stopped:
                stopped = (cgroup.exceeded() if cgroup else "") or watchdog.exceeded()
                if stopped:
                    kill()
        stopped = stopped or (cgroup.exceeded() if cgroup else "")
    return Guarded(True, "exit-code" in status.said, stopped)


class _Status:
    """bwrap's JSON documents, one per line."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._text = b""
        self._poll = select.poll()
        self._poll.register(pipe, select.POLLIN | select.POLLHUP)
        self.said: dict[str, int] = {}

    def wait_for(self, key: str) -> int | None:
        """The number under a key; None when bwrap is gone before it says so."""
        while key not in self.said:
            if self._read():
                return None
        return self.said[key]

    def ended_within(self, seconds: float) -> bool:
        return bool(self._poll.poll(seconds * 1000)) and self._read()

    def _read(self) -> bool:
        """Take in what there is; True at the end."""
        part = os.read(self._pipe, _LARGEST_STATUS)
        self._text += part
        *lines, self._text = self._text.split(b"\n")
        for line in lines:
            self.said.update(json.loads(line))
        return not part


@contextlib.contextmanager
def _cgroup(limits: Limits, first: int) -> Iterator[Cgroup | None]:
    cgroup = make_cgroup(limits)
    if cgroup is None:
        yield None
        return
    try:
        yield cgroup if cgroup.enter(first) else None
    finally:
        cgroup.remove()


def _limit_each_process(first: int, limits: Limits) -> None:
    """What the kernel holds each process to; the payload inherits it from the first one."""
    import resource  # not on Windows, where this module is imported and never called

    seconds = int(limits.seconds) + 1
    each = {
        resource.RLIMIT_AS: limits.memory,
        resource.RLIMIT_FSIZE: limits.disk,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: 1024,
    }
    if _counts_processes_per_sandbox():
        # Above the limit itself, so that the watchdog sees it exceeded and the result is that of a cgroup.
        each[resource.RLIMIT_NPROC] = 2 * limits.processes
    with contextlib.suppress(ProcessLookupError):
        for kind, most in each.items():
            highest = resource.prlimit(first, kind)[1]
            most = most if highest == resource.RLIM_INFINITY else min(most, highest)
            resource.prlimit(first, kind, (most, most))


def _counts_processes_per_sandbox() -> bool:
    """Kernels before 5.14 count a user's processes over the whole machine, where the limit would hit bystanders."""
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int("".join(filter(str.isdigit, minor)) or 0)) >= (5, 14)


@contextlib.contextmanager
def _killer(pid: int) -> Iterator[Callable[[], None]]:
    """Kills the first process of the sandbox, and the kernel with it all others; safe against a reused number."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        yield lambda: None
        return
    try:
        yield lambda: _kill(handle)
    finally:
        os.close(handle)


def _kill(handle: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(handle, signal.SIGKILL)
