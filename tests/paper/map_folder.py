"""The folder of the paper map: prepared by the page's own blocks, its commands run once each, in the page's order."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from collect.endpoint import Endpoint, serving
from docs.pages import Block
from skilldelta.cli.main import run

_ADDRESS = "http://127.0.0.1:8000/v1"


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str
    requests: tuple[dict[str, Any], ...]
    """What it asked the endpoint."""

    @property
    def document(self) -> Any:
        return json.loads(self.out)


@dataclass
class MapFolder:
    """Where commands run, and what they answered."""

    path: Path
    endpoint: Endpoint
    answers: dict[str, Ran] = field(default_factory=dict)

    def ran(self, command: str) -> Ran:
        """A command is run when it is first asked for."""
        if command not in self.answers:
            self.answers[command] = self._run(shlex.split(command.replace(_ADDRESS, self.endpoint.url)))
        return self.answers[command]

    def document(self, command: str) -> Any:
        """The JSON document of a command, which must succeed."""
        found = self.ran(f"{command} --json")
        assert found.code == 0, found.err
        return found.document

    def panel(self, command: str) -> Any:
        """The only panel of an evaluation."""
        (panel,) = self.document(command)["panels"]
        return panel

    def prepare(self, blocks: Sequence[Block]) -> None:
        """Run the page's blocks."""
        for block in blocks:
            if block.language == "python":
                with contextlib.chdir(self.path):
                    exec(compile(block.code, "paper-map.md", "exec", dont_inherit=True), {})
                continue
            for line in block.code.splitlines():
                program, _, command = line.partition(" ")
                assert program == "skilldelta", line
                assert self.ran(command).code == 0, f"{line}\n{self.ran(command).err}"

    def _run(self, words: list[str]) -> Ran:
        out, err, before = io.StringIO(), io.StringIO(), len(self.endpoint.bodies)
        with (
            contextlib.chdir(self.path),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setattr(sys, "argv", ["skilldelta", *words])
            code = run(words)
        return Ran(code, out.getvalue(), err.getvalue(), tuple(self.endpoint.requests[before:]))


@contextlib.contextmanager
def map_folder(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MapFolder]:
    """An empty folder without inherited settings, and an endpoint."""
    for name in [name for name in os.environ if name.startswith("SKILLDELTA_")]:
        monkeypatch.delenv(name)
    for name in ("HOME", "USERPROFILE", "XDG_STATE_HOME"):  # `install` writes there
        monkeypatch.setenv(name, str(path))
    monkeypatch.delenv("DSH_HOME", raising=False)
    with serving(_reply) as endpoint:
        yield MapFolder(path, endpoint)


def _reply(request: dict[str, Any]) -> str | tuple[int, bytes]:
    """A model that needs the skill for part numbers, answers one sum with nothing, and fails once to answer at all."""
    said = " ".join(message["content"] for message in request["messages"])
    if "USE_SKILL" in said:
        return "USE_SKILL or NO_SKILL" if "128 + 64" in said else "USE_SKILL" if "part number" in said else "NO_SKILL"
    if "lamp is on" in said:
        number = int(said.partition("The number is ")[2].partition(".")[0])
        return f"The answer is: {'no' if number % 2 and 'lights the lamp' in said else 'yes'}"
    has_skill = "column by column" in said or "HIN-0075-4" in said
    if "999 + 2" in said:
        return "1001" if has_skill else (503, b"{}")
    if "17 + 25" in said:
        return "42" if has_skill else ""
    if "128 + 64" in said:
        return "224"
    return "BRA-0120-3" if has_skill else "unknown"
