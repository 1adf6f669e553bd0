"""Namespaces of the kernel through bwrap: starts in milliseconds, needs no daemon.

The payload has no capability, no further user namespace, no network, no environment, no writable place but /workspace,
/tmp and /dev/shm, and is nobody inside. bwrap itself starts with an empty environment and reads its options from a
pipe, because the payload can read both in /proc/1.
"""

from __future__ import annotations

import asyncio
import functools
import os
import platform
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from skilldelta.collect.execution_errors import StopCollectionError
from skilldelta.collect.own_thread import in_own_thread
from skilldelta.collect.process import Finished, run_process
from skilldelta.collect.sandbox.base import PACKAGES, WORKSPACE, Payload
from skilldelta.collect.sandbox.cgroup import find_cgroups
from skilldelta.collect.sandbox.guard import Channel, Guarded, guard
from skilldelta.collect.sandbox.syscalls import syscall_filter
from skilldelta.errors import InputError

_NOBODY = "65534"
# Files of /proc about the machine rather than the payload.
_HIDDEN = ("kcore", "keys", "key-users", "timer_list", "sched_debug", "latency_stats", "kallsyms", "modules")


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """One bwrap per payload, held to its limits by a cgroup where one can be made, else by a watchdog."""

    program: str
    name: str = "bubblewrap"

    @property
    def python(self) -> str:
        return os.path.realpath(Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}")

    @property
    def limiter(self) -> str:
        return "cgroup" if find_cgroups() else "watchdog"

    async def run(self, payload: Payload) -> Finished:
        with closing(Channel()) as channel:
            options = [*_options(self.program, payload), *channel.options]
            channel.send_options(options, syscall_filter(platform.machine()))
            watching = asyncio.create_task(
                in_own_thread(guard, channel, payload.limits, payload.workdir, name="sandbox")
            )
            try:
                finished = await run_process(
                    [self.program, "--args", str(channel.arguments), "--", *payload.command],
                    stdin=payload.stdin,
                    seconds=payload.limits.seconds,
                    environment={},
                    pass_fds=channel.of_bwrap,
                    on_start=channel.close_ends_of_bwrap,
                )
            finally:
                channel.close_ends_of_bwrap()
                guarded = await asyncio.shield(watching)
        return _judged(finished, guarded)


def check_bubblewrap(program: str) -> None:
    """Refuse to run as root where the payload could make a user namespace, and with it more of root's rights."""
    if os.geteuid() == 0 and not _disables_userns(program) and not syscall_filter(platform.machine()):
        raise InputError(
            f"{program} cannot switch off user namespaces inside the sandbox, which is not safe as root; "
            "run as an ordinary user, install bubblewrap 0.8 or newer, or use --sandbox docker"
        )


def _judged(finished: Finished, guarded: Guarded) -> Finished:
    """The payload's result; what bwrap says about itself counts only when the payload never started."""
    if guarded.stopped:
        return replace(finished, exit_code=None, stopped=guarded.stopped)
    # A failed set-up ends bwrap with an exit code. Only the kernel, out of memory, or we end it with a signal.
    killed = finished.exit_code is None or finished.exit_code < 0
    if guarded.payload_ended or (guarded.payload_released and killed):
        return finished
    if finished.exit_code is None:
        raise StopCollectionError(
            "the sandbox did not start in time; is the machine overloaded? Run the same command again"
        )
    complaint = " ".join(finished.stderr.split())[:300] or f"exit code {finished.exit_code}"
    raise StopCollectionError(f"the sandbox cannot start: {complaint}")


def _options(program: str, payload: Payload) -> list[str]:
    workdir, packages = payload.workdir, payload.packages
    prefix = os.path.realpath(sys.base_prefix)
    size = str(payload.limits.memory)
    place = ["--bind", str(workdir.resolve()), WORKSPACE, "--chdir", WORKSPACE] if workdir else ["--chdir", "/tmp"]
    return [
        *("--unshare-all", "--unshare-user", "--uid", _NOBODY, "--gid", _NOBODY, "--cap-drop", "ALL"),
        *(("--disable-userns",) if _disables_userns(program) else ()),
        *("--die-with-parent", "--new-session", "--hostname", "sandbox", "--clearenv"),
        *("--ro-bind", "/usr", "/usr", *_system_folders()),
        *(() if Path(prefix).is_relative_to("/usr") else ("--ro-bind", prefix, prefix)),
        *("--ro-bind-try", "/etc/alternatives", "/etc/alternatives"),
        *(("--ro-bind", str(packages.resolve()), PACKAGES) if packages else ()),
        # Root outside is the owner of /proc/sys inside, capabilities or not: only a read-only mount keeps it from writing.
        *("--proc", "/proc", *_covers(), "--remount-ro", "/proc"),
        *("--dev", "/dev", "--size", size, "--perms", "1777", "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),
        *("--size", size, "--perms", "1777", "--tmpfs", "/tmp", *place, "--remount-ro", "/"),
        *("--setenv", "PATH", f"{prefix}/bin:/usr/local/bin:/usr/bin:/bin"),
        *("--setenv", "HOME", "/tmp", "--setenv", "LANG", "C.UTF-8"),
    ]


def _system_folders() -> list[str]:
    options = []
    for name in ("/lib", "/lib32", "/lib64", "/bin", "/sbin"):
        if os.path.islink(name):
            options += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            options += ["--ro-bind", name, name]
    return options


def _covers() -> list[str]:
    return [
        argument
        for name in _HIDDEN
        if os.path.exists(f"/proc/{name}")
        for argument in ("--ro-bind", os.devnull, f"/proc/{name}")
    ]


@functools.cache
def _disables_userns(program: str) -> bool:
    try:
        completed = subprocess.run([program, "--help"], capture_output=True, text=True, timeout=20, env={}, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return "--disable-userns" in completed.stdout + completed.stderr
