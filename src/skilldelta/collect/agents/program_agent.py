"""What agents that are programs have in common: one process per execution, with a version, few variables and an end.

The program runs with the rights of the person who collects; give it a sandbox of its own where it needs one. It sees only
the variables that it is given, and everything it started ends with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skilldelta.collect.agents.base import Attempt, Execute, Outcome, run_pool
from skilldelta.collect.budget import Amount, Budget
from skilldelta.collect.execution_errors import IncompleteError
from skilldelta.collect.plan import Planned
from skilldelta.collect.process import run_tree
from skilldelta.endpoint import check_timeout
from skilldelta.errors import InputError

# Places and languages; no key is kept in any of them.
USUAL_VARIABLES = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "TMPDIR"),
    # Windows programs do not start, or do not find their settings, without these.
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA"),
    *("LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "USERNAME"),
)
# Bytes of a program's output that are kept.
_MOST_OUTPUT = 64 << 20


@dataclass(slots=True, kw_only=True)
class ProgramAgent:
    """Subclasses say which program it is, and how it is run for one attempt."""

    version: str = ""
    """Empty: `identify` asks the program itself."""
    timeout: float = 600.0
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """All that the program sees. Not part of the fingerprint: it holds keys and places, which differ between machines."""
    needs_workdir: bool = True
    _largest: Amount = field(default_factory=lambda: Amount(None, None))
    _program: str = field(init=False, default="", repr=False)

    def find_program(self, name: str) -> None:
        """Settle which program runs, as seen from where the person stands: executions run in folders of their own."""
        check_timeout(self.timeout)
        path = shutil.which(name)
        if path is None:
            raise InputError(f"the command {name!r} is not on this machine; install it or give its full path")
        self._program = os.path.abspath(path)

    async def execution(self, attempt: Attempt, workdir: Path) -> Outcome:
        """One run of the program, without the budget."""
        raise NotImplementedError

    def largest(self, attempt: Attempt) -> Amount:
        """Nothing bounds a program's tokens beforehand: unknown, then the largest run so far stands in for the next."""
        return self._largest

    async def drive(self, todo: Sequence[Planned], concurrency: int, execute: Execute) -> None:
        await run_pool(todo, concurrency, execute)

    async def identify(self) -> None:
        """Ask the program for its version, unless it was given."""
        if not self.version:
            self.version = await asyncio.to_thread(program_version, self._program, self.environment)

    async def prepare(self, folder: Path) -> None:
        pass

    async def close(self) -> None:
        pass

    async def run(self, attempt: Attempt, budget: Budget) -> Outcome:
        assert attempt.workdir is not None
        workdir = attempt.workdir
        outcome = await budget.call(
            attempt.planned.name,
            self._largest,
            lambda: self.execution(attempt, workdir),
            lambda result: Amount(result.tokens, result.usd),
        )
        self._largest = self._largest.at_least(outcome.tokens, outcome.usd)
        return outcome

    async def printed(
        self, words: Sequence[str], stdin: str, workdir: Path, environment: Mapping[str, str], *, called: str
    ) -> str:
        """What a run of the program prints; one that fails or takes too long is an incomplete execution."""
        finished = await run_tree(
            words, stdin=stdin, seconds=self.timeout, cwd=workdir, keep=_MOST_OUTPUT, environment=environment
        )
        if finished.exit_code is None:
            raise IncompleteError(f"{called} took more than {self.timeout:g} s")
        if finished.exit_code != 0:
            message = " ".join((finished.stderr or finished.stdout).split())[-200:]
            raise IncompleteError(f"{called} ended with exit code {finished.exit_code}: {message}")
        return finished.stdout


def agent_environment(mine: Mapping[str, str], extra_names: Sequence[str]) -> dict[str, str]:
    """The usual variables as far as they are set, and every named one; a named one that is not set is a mistake."""
    for name in extra_names:
        if name not in mine:
            raise InputError(f"the variable {name!r} that the command is to get is not set; set it or do not name it")
    names = {*USUAL_VARIABLES, *extra_names}
    return {name: value for name, value in mine.items() if name in names}


def program_version(program: str, environment: Mapping[str, str]) -> str:
    """What the program says about its version, else a digest of its file."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired), tempfile.TemporaryDirectory() as folder:
        completed = subprocess.run(
            [program, "--version"],
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=20,
            stdin=subprocess.DEVNULL,
            env=dict(environment),
            check=False,
            cwd=folder,
        )
        lines = completed.stdout.strip().splitlines()
        if completed.returncode == 0 and lines:
            return lines[0].strip()
    return "sha256:" + hashlib.sha256(Path(program).read_bytes()).hexdigest()
