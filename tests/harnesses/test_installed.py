"""`skilldelta install HARNESS` in a clean home, then the real harness: the skill is in the first model request, or not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harnesses.conftest import POEM, UNITS, WAREHOUSE, Gate
from harnesses.fake_models import FakeModels
from harnesses.harness_runs import HarnessRun
from harnesses.test_every_harness import HARNESSES

pytestmark = pytest.mark.slow
REWRITTEN = ("gemini",)
"""Harnesses that write their settings anew when they start."""


def skilldelta(run: HarnessRun, *words: str) -> None:
    command = [sys.executable, "-m", "skilldelta", "install", run.name, *words, "--yes"]
    done = subprocess.run(command, cwd=run.project, env=run.environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", HARNESSES)
def test_an_installed_harness_asks_the_gate_and_an_uninstalled_one_is_as_before(
    name: str, gate: Gate, models: FakeModels, tmp_path: Path
) -> None:
    skill = tmp_path / "skills" / "units" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(f"---\nname: units\ndescription: How much fits.\n---\n{UNITS}\n")
    run = HarnessRun(name, tmp_path / "run", models.url, gate.url, plugin=False)
    assert run.program
    run.prepare()
    before = _files(run.home)
    skilldelta(run, "--skill-file", str(skill), "--server", gate.url, "--timeout", "5")
    written = set(_files(run.home)) - set(before)

    run.ask(WAREHOUSE)
    assert models.steps[0].text.count(UNITS) == 1
    models.requests.clear()
    run.ask(POEM)
    assert UNITS not in models.steps[0].text

    skilldelta(run, "--undo", *(["--keep-changes"] if name in REWRITTEN else []))
    left = _files(run.home)
    assert written & set(left) == set()
    assert name in REWRITTEN or {path: left[path] for path in before} == before
    models.requests.clear()
    run.ask(WAREHOUSE)
    assert UNITS not in models.steps[0].text


def test_claude_code_sends_its_events_over_http_by_itself(gate: Gate, models: FakeModels, tmp_path: Path) -> None:
    run = HarnessRun("claude-code", tmp_path / "run", models.url, gate.url, plugin=False, programs="/nowhere")
    assert run.program
    run.prepare()
    skilldelta(run, "--skill", "units", "--http", "--server", gate.url)
    run.ask(WAREHOUSE)
    assert models.steps[0].text.count(UNITS) == 1
    models.requests.clear()
    run.ask(POEM)
    assert UNITS not in models.steps[0].text


def _files(folder: Path) -> dict[str, bytes]:
    """What the home holds, but for SkillDelta's own records."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if "skilldelta/" not in name}
