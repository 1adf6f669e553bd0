"""What a sandbox is to the collector: one command at a time, within limits that hold for everything it starts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, Protocol

from skilldelta.collect.process import Finished
from skilldelta.errors import InputError

SandboxName = Literal["auto", "bubblewrap", "docker"]
WORKSPACE = "/workspace"
# Where further Python packages appear, read-only; code adds it to its path itself.
PACKAGES = "/packages"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one payload may take, all its processes together."""

    seconds: float = 5.0
    memory_mb: int = 512
    """Memory of every kind: private, shared, in memory files, in /tmp and /dev/shm."""
    disk_mb: int = 512
    """What it may write to /workspace."""
    processes: int = 256
    """Processes at a time, each of their threads counted."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not (math.isfinite(value) and 0 < value <= 10**9):
                raise InputError(f"{field.name} of a sandbox must be a positive number, got {value!r}")

    @property
    def memory(self) -> int:
        return self.memory_mb * 2**20

    @property
    def disk(self) -> int:
        return self.disk_mb * 2**20


@dataclass(frozen=True, slots=True)
class Payload:
    """One command to run in isolation."""

    command: Sequence[str]
    limits: Limits
    stdin: str = ""
    workdir: Path | None = None
    """Appears writable at /workspace, which is where the command then starts."""
    packages: Path | None = None
    """Appears read-only at /packages."""


class Sandbox(Protocol):
    """Runs payloads in isolation, each by itself."""

    @property
    def name(self) -> str:
        """What it is, for the agent's fingerprint."""

    @property
    def python(self) -> str:
        """The interpreter inside."""

    @property
    def limiter(self) -> str:
        """What holds the whole payload to its limits here: `cgroup` or `watchdog`."""

    async def run(self, payload: Payload) -> Finished:
        """Raises StopCollectionError when the sandbox itself cannot start; whatever the payload does is a Finished."""
