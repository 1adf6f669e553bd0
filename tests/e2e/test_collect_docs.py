"""The commands of the how-to on collecting run as written, against a loopback endpoint."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from collect.endpoint import serving
from skilldelta.cli.main import run

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "collect.md"


def install_agent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's `my-agent`, which works only with its key."""
    folder.mkdir()
    script = folder / "agent.py"
    script.write_text("import json, os\nprint(json.dumps({'result': os.environ['MY_AGENT_KEY']}))\n")
    start = folder / ("my-agent.cmd" if os.name == "nt" else "my-agent")
    start.write_text(
        f'@"{sys.executable}" "{script}"' if os.name == "nt" else f'#!/bin/sh\nexec "{sys.executable}" "{script}"\n'
    )
    start.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    monkeypatch.setenv("MY_AGENT_KEY", "42")


def test_every_command_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    install_agent(tmp_path / "bin", monkeypatch)
    lines = [
        line
        for block in re.findall(r"^```bash\n(.*?)^```", _PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]

    def reply(request: dict[str, Any]) -> str:
        return "USE_SKILL" if "USE_SKILL" in str(request["messages"]) else "42"

    with serving(reply) as endpoint:
        for line in lines:
            words = shlex.split(line.replace("http://127.0.0.1:8000/v1", endpoint.url))
            assert words[0] == "skilldelta"
            assert run(words[1:]) == 0, line
    assert len(lines) == 7
    assert len(endpoint.bodies) == 12 + 6 + 6
