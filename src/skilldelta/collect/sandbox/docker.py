"""A container per payload: slower to start than bubblewrap, for machines without user namespaces."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skilldelta.collect.execution_errors import StopCollectionError
from skilldelta.collect.process import Finished, run_process
from skilldelta.collect.sandbox.base import WORKSPACE, Limits, Payload

# The client's start and the container's are not the payload's time.
_CLIENT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Docker:
    """`docker run` without network, with a read-only image and no capabilities; Docker's cgroup holds the limits."""

    program: str
    image: str = "python:3.12-slim"
    limiter: str = "cgroup"

    @property
    def name(self) -> str:
        return f"docker:{self.image}"

    @property
    def python(self) -> str:
        return "python3"

    async def run(self, payload: Payload) -> Finished:
        # The image has packages of its own: those of this machine are built for another Python.
        # Printed before the payload starts, so no payload can take it back; only a container that never started lacks it.
        mark = secrets.token_hex(16)
        marked = ["sh", "-c", f'echo {mark}; exec "$@"', "sh", *payload.command]
        line = self.command_line(marked, payload.limits, payload.workdir)
        finished = await run_process(line, stdin=payload.stdin, seconds=payload.limits.seconds + _CLIENT_SECONDS)
        if finished.exit_code is None:
            return finished
        if not finished.stdout.startswith(f"{mark}\n"):
            complaint = " ".join(finished.stderr.split())[:300]
            raise StopCollectionError(f"the sandbox cannot start: {complaint or f'exit code {finished.exit_code}'}")
        return replace(finished, stdout=finished.stdout[len(mark) + 1 :])

    def command_line(self, command: Sequence[str], limits: Limits, workdir: Path | None) -> list[str]:
        """The whole `docker run`; `timeout` inside ends the payload, since killing the client would not."""
        place = ["-v", f"{workdir.resolve()}:{WORKSPACE}", "-w", WORKSPACE] if workdir else ["-w", "/tmp"]
        memory = f"{limits.memory_mb}m"
        return [
            *(self.program, "run", "--rm", "-i", "--init", "--network", "none", "--read-only"),
            *("--tmpfs", f"/tmp:size={memory}", "--shm-size", memory, "--memory", memory, "--memory-swap", memory),
            *("--pids-limit", str(limits.processes), "--ulimit", f"fsize={limits.disk}", "--ulimit", "core=0"),
            *("--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", _user(), *place, self.image),
            *("timeout", "-s", "KILL", f"{limits.seconds:g}", *command),
        ]


def _user() -> str:
    """Who runs the payload: the working copy's owner, since without capabilities not even root could enter a 0700 folder of
    another user. Docker Desktop on Windows, which has no user ids, maps the owner itself.
    """
    return f"{os.getuid()}:{os.getgid()}" if hasattr(os, "getuid") else "0:0"
