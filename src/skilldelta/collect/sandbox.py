"""Sandboxes: where code that an agent wrote runs, and nowhere else.

Bubblewrap or Docker: no network, a time and a memory limit, an empty temporary folder, the interpreter read-only. A
payload that fails or hangs is a result; a sandbox that cannot start is an error of ours and never a result.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from skilldelta.collect.failures import StopCollectionError
from skilldelta.collect.process import Finished, run_process
from skilldelta.errors import InputError

SandboxName = Literal["auto", "bubblewrap", "docker"]
WORKSPACE = "/workspace"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one payload may take."""

    seconds: float = 5.0
    memory_mb: int = 512


class Sandbox(Protocol):
    """Runs one command in isolation."""

    @property
    def name(self) -> str:
        """What it is, for the agent's fingerprint."""
        ...

    @property
    def python(self) -> str:
        """The interpreter inside."""
        ...

    async def run(
        self, command: Sequence[str], *, stdin: str = "", limits: Limits, workdir: Path | None = None
    ) -> Finished:
        """Run a command; `workdir` appears writable at /workspace and is where it starts."""
        ...


@dataclass(frozen=True, slots=True)
class Bubblewrap:
    """Namespaces of the kernel through bwrap: starts in milliseconds, needs no daemon."""

    program: str
    name: str = "bubblewrap"

    @property
    def python(self) -> str:
        return os.path.realpath(Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}")

    async def run(
        self, command: Sequence[str], *, stdin: str = "", limits: Limits, workdir: Path | None = None
    ) -> Finished:
        return await _run([*self._prefix(limits, workdir), *command], stdin, limits.seconds, cannot_start="bwrap: ")

    def _prefix(self, limits: Limits, workdir: Path | None) -> list[str]:
        place = ["--bind", str(workdir.resolve()), WORKSPACE, "--chdir", WORKSPACE] if workdir else ["--chdir", "/tmp"]
        prefix = os.path.realpath(sys.base_prefix)
        kilobytes = limits.memory_mb * 1024
        inside_usr = Path(prefix).is_relative_to("/usr")
        interpreter = [] if inside_usr else ["--ro-bind", prefix, prefix]
        libraries = [
            argument
            for name in ("lib", "lib64", "bin", "sbin")
            if Path(f"/{name}").exists()
            for argument in (
                ("--symlink", os.readlink(f"/{name}"), f"/{name}")
                if Path(f"/{name}").is_symlink()
                else ("--ro-bind", f"/{name}", f"/{name}")
            )
        ]
        return [
            self.program,
            *("--unshare-all", "--die-with-parent", "--new-session", "--clearenv"),
            *("--ro-bind", "/usr", "/usr", *libraries, *interpreter),
            *("--ro-bind-try", "/etc/alternatives", "/etc/alternatives"),
            *("--proc", "/proc", "--dev", "/dev", "--size", str(limits.memory_mb * 2**20), "--tmpfs", "/tmp", *place),
            *("--setenv", "PATH", f"{prefix}/bin:/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME", "/tmp"),
            *("--setenv", "LANG", "C.UTF-8", "--"),
            *("/bin/sh", "-c", f'ulimit -v {kilobytes}; ulimit -t {int(limits.seconds) + 1}; exec "$@"', "sh"),
        ]


@dataclass(frozen=True, slots=True)
class Docker:
    """A container per payload: slower to start, for machines without user namespaces."""

    program: str
    image: str = "python:3.12-slim"

    @property
    def name(self) -> str:
        return f"docker:{self.image}"

    @property
    def python(self) -> str:
        return "python3"

    async def run(
        self, command: Sequence[str], *, stdin: str = "", limits: Limits, workdir: Path | None = None
    ) -> Finished:
        # The client's start and the container's are not the payload's time.
        return await _run(
            self.command_line(command, limits, workdir), stdin, limits.seconds + 10, cannot_start="docker: "
        )

    def command_line(self, command: Sequence[str], limits: Limits, workdir: Path | None) -> list[str]:
        """The whole `docker run`; `timeout` inside ends the payload, since killing the client would not."""
        place = ["-v", f"{workdir.resolve()}:{WORKSPACE}", "-w", WORKSPACE] if workdir else ["-w", "/tmp"]
        return [
            *(self.program, "run", "--rm", "-i", "--init", "--network", "none", "--read-only", "--tmpfs", "/tmp"),
            *("--memory", f"{limits.memory_mb}m", "--memory-swap", f"{limits.memory_mb}m", "--pids-limit", "128"),
            *("--cap-drop", "ALL", "--security-opt", "no-new-privileges", *place, self.image),
            *("timeout", "-s", "KILL", f"{limits.seconds:g}", *command),
        ]


def find_sandbox(name: SandboxName = "auto", *, docker_image: str = "python:3.12-slim") -> Sandbox:
    """The asked sandbox, or with `auto` bubblewrap before Docker. None installed is an InputError with the remedy."""
    bwrap = shutil.which("bwrap") if name in ("auto", "bubblewrap") else None
    if bwrap:
        return Bubblewrap(bwrap)
    docker = shutil.which("docker") if name in ("auto", "docker") else None
    if docker:
        return Docker(docker, docker_image)
    wanted = "neither bubblewrap (bwrap) nor docker is" if name == "auto" else f"{name} is not"
    raise InputError(
        f"{wanted} installed, and code written by an agent runs only in a sandbox; install bubblewrap, or use --sandbox docker"
    )


async def check_sandbox(sandbox: Sandbox) -> None:
    """Start the sandbox once, before anything is paid."""
    finished = await sandbox.run([sandbox.python, "-I", "-c", "print(6 * 7)"], limits=Limits(seconds=30))
    if finished.exit_code != 0 or finished.stdout.strip() != "42":
        said = " ".join(finished.stderr.split())[:200]
        raise InputError(f"the sandbox {sandbox.name} cannot run Python here ({said or finished.exit_code})")


async def _run(command: Sequence[str], stdin: str, seconds: float, *, cannot_start: str) -> Finished:
    finished = await run_process(command, stdin=stdin, seconds=seconds)
    if finished.exit_code and not finished.stdout and finished.stderr.startswith(cannot_start):
        raise StopCollectionError(f"the sandbox cannot start: {' '.join(finished.stderr.split())[:300]}")
    return finished
