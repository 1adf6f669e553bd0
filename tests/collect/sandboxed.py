"""Payloads in the real bubblewrap sandbox, for the tests of its walls and limits."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from skilldelta.collect.process import Finished
from skilldelta.collect.sandbox import Limits, Payload, find_sandbox

needs_bwrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def in_sandbox(code: str, *, limits: Limits | None = None, workdir: Path | None = None, stdin: str = "") -> Finished:
    """What became of some Python code inside."""
    sandbox = find_sandbox("bubblewrap")
    command = [sandbox.python, "-I", "-c", code]
    return asyncio.run(sandbox.run(Payload(command, limits or Limits(seconds=60), stdin, workdir)))
