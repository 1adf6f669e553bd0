"""Each page about a harness, tried exactly as written: every command of it, in order, in a fresh home and an empty project."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from docs.pages import blocks
from harnesses import installing
from harnesses.fake_models import FakeModels
from harnesses.harness_runs import ROOT, HarnessRun

pytestmark = pytest.mark.slow
PORT = 7345
PAGES = {
    "dsh": "docs/harnesses/deepseek-harness.md",
    "claude-code": "docs/harnesses/claude-code.md",
    "codex": "docs/harnesses/codex.md",
    "gemini": "docs/harnesses/gemini-cli.md",
    "opencode": "docs/harnesses/opencode.md",
    "pi": "docs/harnesses/pi.md",
}


@pytest.fixture
def port() -> int:
    with socket.socket() as tried:
        if tried.connect_ex(("127.0.0.1", PORT)) == 0:
            pytest.skip(f"another server listens on port {PORT}")
    return PORT


@pytest.mark.parametrize("name", PAGES)
def test_every_command_of_the_page_does_what_the_page_says(
    name: str, port: int, models: FakeModels, tmp_path: Path
) -> None:
    run = HarnessRun(name, tmp_path, models.url, f"http://127.0.0.1:{port}", plugin=False).prepare()
    environment = _environment(run, tmp_path / "bin")
    servers: list[subprocess.Popen[bytes]] = []
    try:
        for block in blocks(PAGES[name]):
            if block.title:
                run.write(f"project/{block.title}", block.code)
            if block.language == "console":
                _type(block.code, run.project, environment, servers)
    finally:
        for server in servers:
            server.terminate()
            server.wait(20)
    warehouse = [step for step in models.steps if "crates of beans" in step.text]
    poem = [step for step in models.steps if "quiet lake" in step.text]
    assert warehouse
    assert poem
    assert "a pallet holds 2688 cans" in warehouse[0].text
    assert "2688" not in poem[0].text


def _environment(run: HarnessRun, programs: Path) -> dict[str, str]:
    """The harness under the name that the page uses, and pi with the fake model as its default."""
    programs.mkdir()
    command = {"claude-code": "claude"}.get(run.name, run.name)
    extra = " --provider fake --model fake" if run.name == "pi" else ""
    wrapper = programs / command
    wrapper.write_text(f'#!/bin/sh\nexec "{run.program}"{extra} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    environment = {**run.environment(), "SKILLDELTA_CLONE": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    del environment["SKILLDELTA_SERVER"]
    environment.pop("SKILLDELTA_SKILL", None)
    bash = Path(shutil.which("bash") or "/bin/bash").parent
    path = [str(programs), str(Path(sys.executable).parent), installing.search_path(), str(bash)]
    return {**environment, "PATH": os.pathsep.join(path)}


def _type(code: str, folder: Path, environment: dict[str, str], servers: list[subprocess.Popen[bytes]]) -> None:
    for line in code.splitlines():
        command = line.removeprefix("$ ")
        if command == line:
            continue  # output
        if command.startswith("skilldelta serve"):
            words = ["bash", "-c", f"exec {command}"]
            servers.append(subprocess.Popen(words, cwd=folder, env=environment, stderr=subprocess.DEVNULL))
            _wait()
            continue
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=180,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-2_000:]}\n{done.stderr[-2_000:]}"


def _wait() -> None:
    for _ in range(600):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/v1/ready") as response:
                if response.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("skilldelta serve did not become ready")
