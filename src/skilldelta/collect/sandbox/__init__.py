"""Sandboxes: where code that an agent wrote runs, and nowhere else.

Bubblewrap or Docker: no network, limits of time, memory, processes and disk over the whole payload, an empty temporary
folder, the interpreter read-only. A payload that fails, hangs or asks for too much is a result; a sandbox that cannot
start is an error of ours and never a result. Each sandbox tells the two apart by a channel that the payload cannot write to.
"""

from __future__ import annotations

import shutil

from skilldelta.collect.sandbox.base import PACKAGES, WORKSPACE, Limits, Payload, Sandbox, SandboxName
from skilldelta.collect.sandbox.bubblewrap import Bubblewrap, check_bubblewrap
from skilldelta.collect.sandbox.docker import Docker
from skilldelta.errors import InputError

__all__ = ["PACKAGES", "WORKSPACE", "Bubblewrap", "Docker", "Limits", "Payload", "Sandbox", "SandboxName"]


def find_sandbox(name: SandboxName = "auto", *, docker_image: str = "python:3.12-slim") -> Sandbox:
    """The asked sandbox, or with `auto` bubblewrap before Docker. None installed is an InputError with the remedy."""
    bwrap = shutil.which("bwrap") if name in ("auto", "bubblewrap") else None
    if bwrap:
        check_bubblewrap(bwrap)
        return Bubblewrap(bwrap)
    docker = shutil.which("docker") if name in ("auto", "docker") else None
    if docker:
        return Docker(docker, docker_image)
    missing = "neither bubblewrap (bwrap) nor docker is" if name == "auto" else f"{name} is not"
    raise InputError(
        f"{missing} installed, and code written by an agent runs only in a sandbox; install bubblewrap, or use --sandbox docker"
    )


async def check_sandbox(sandbox: Sandbox) -> None:
    """Start the sandbox once, before anything is paid."""
    finished = await sandbox.run(Payload([sandbox.python, "-I", "-c", "print(6 * 7)"], Limits(seconds=30)))
    if finished.exit_code != 0 or finished.stdout.strip() != "42":
        complaint = " ".join(finished.stderr.split())[:200]
        raise InputError(f"the sandbox {sandbox.name} cannot run Python here ({complaint or finished.exit_code})")
