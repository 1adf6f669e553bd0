"""The plugin for DeepSeek Harness: its own tests run the harness's agent loop in node, against a real server."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skilldelta.gate_settings import GATE_SETTINGS

PLUGIN = Path(__file__).resolve().parents[2] / "plugins" / "dsh-skilldelta"


def test_the_plugin_works_in_the_real_agent_loop() -> None:
    pytest.importorskip("uvicorn", reason="the extra serve is not installed")
    node = _node()
    done = subprocess.run(
        [node, "--test", "--test-reporter=spec", "test/plugin.test.mjs"],
        cwd=PLUGIN,
        env={**os.environ, "SKILLDELTA_PROGRAM": str(Path(sys.executable).with_name("skilldelta"))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-8_000:] + done.stderr[-2_000:]


def test_what_is_shipped_needs_no_other_package() -> None:
    package = json.loads((PLUGIN / "package.json").read_text(encoding="utf-8"))
    assert "dependencies" not in package
    for file in [*PLUGIN.parent.glob("*/*.mjs"), *PLUGIN.glob("shared/*.mjs")]:
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("import "):
                assert line.split(" from ")[-1].strip("'").startswith(("node:", "./", "../dsh-skilldelta/")), line


def test_the_settings_of_a_gate_are_those_that_are_declared() -> None:
    text = (PLUGIN / "shared" / "settings.mjs").read_text(encoding="utf-8")
    names = re.search(r"const GATE = \[(.*)\]", text)
    assert names is not None
    assert re.findall(r"'(\w+)'", names[1]) == [setting.name for setting in GATE_SETTINGS]


def test_no_lock_file_names_a_registry() -> None:
    lock = json.loads((PLUGIN / "package-lock.json").read_text(encoding="utf-8"))
    assert len(lock["packages"]) > 20
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]


def _node() -> str:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    if int(subprocess.check_output([node, "--version"], text=True).lstrip("v").split(".")[0]) < 20:
        pytest.skip("node is older than version 20")
    if not (PLUGIN / "node_modules" / "@deepseek-ai" / "dsh-agent-loop").is_dir():
        pytest.skip("node packages are not installed; run npm ci in plugins/dsh-skilldelta")
    return node
