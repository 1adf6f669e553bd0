"""SkillDelta removed or damaged under an installation: the real harness starts and answers as if it had never been there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import skilldelta
from harnesses.conftest import UNITS, WAREHOUSE, Gate
from harnesses.fake_models import ANSWER, FakeModels
from harnesses.harness_runs import ROOT, HarnessRun
from harnesses.test_every_harness import HARNESSES

pytestmark = pytest.mark.slow


def install_a_copy(folder: Path) -> Path:
    """SkillDelta in a folder of its own, as a venv has it; returns the program."""
    package = folder / "package" / "skilldelta"
    shutil.copytree(Path(skilldelta.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "plugins"))
    ignored = shutil.ignore_patterns("node_modules", "test")
    shutil.copytree(ROOT / "plugins", package / "plugins", ignore=ignored)
    program = folder / "bin" / "skilldelta"
    program.parent.mkdir()
    code = f"import sys; sys.path.insert(0, {str(package.parent)!r})\nfrom skilldelta.cli.entry import main\nmain()\n"
    program.write_text(f"#!{sys.executable}\n{code}")
    program.chmod(0o755)
    return program


def remove(folder: Path) -> None:
    shutil.rmtree(folder)


def damage(folder: Path) -> None:
    for file in folder.rglob("*.mjs"):
        file.write_text("this is (no JavaScript")
    for file in (folder / "package" / "skilldelta" / "cli").glob("*.py"):
        file.write_text("this is (no Python")


@pytest.mark.parametrize("harm", [remove, damage])
@pytest.mark.parametrize("name", HARNESSES)
def test_the_harness_goes_on_without_skilldelta(
    name: str, harm: object, gate: Gate, models: FakeModels, tmp_path: Path
) -> None:
    assert callable(harm)
    skill = tmp_path / "skills" / "units" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(f"---\nname: units\ndescription: How much fits.\n---\n{UNITS}\n")
    run = HarnessRun(name, tmp_path / "run", models.url, gate.url, plugin=False)
    assert run.program
    run.prepare()
    program = install_a_copy(tmp_path / "copy")
    words = [str(program), "install", name, "--skill-file", str(skill), "--server", gate.url, "--timeout", "5", "--yes"]
    done = subprocess.run(words, cwd=run.project, env=run.environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    run.ask(WAREHOUSE)
    assert models.steps[0].text.count(UNITS) == 1

    harm(tmp_path / "copy")
    models.requests.clear()
    assert ANSWER in run.ask(WAREHOUSE)
    assert UNITS not in models.steps[0].text


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini"])
def test_a_plugin_without_the_program_does_no_harm(name: str, gate: Gate, models: FakeModels, tmp_path: Path) -> None:
    run = HarnessRun(name, tmp_path, models.url, gate.url, {"skill": "units"}, programs="/nowhere").prepare()
    assert ANSWER in run.ask(WAREHOUSE)
    assert UNITS not in models.steps[0].text
