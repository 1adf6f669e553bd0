"""SkillDelta upgraded under an installation of an older version: the real harness goes on, and `--undo` restores its files."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harnesses.conftest import UNITS, WAREHOUSE, Gate
from harnesses.fake_models import FakeModels
from harnesses.harness_runs import ROOT, HarnessRun
from harnesses.test_every_harness import HARNESSES
from harnesses.test_skilldelta_gone import install_a_copy

pytestmark = pytest.mark.slow

OLDER = "b229930250173f68ce76f55aa20b27cc2671325f"
"""Its adapters ask about each skill by itself."""
REWRITTEN = ("gemini",)
"""Harnesses that write their settings anew when they start."""


def older_copy(folder: Path) -> Path:
    """The program of an older version, in a folder of its own."""
    tree = folder / "older"
    tree.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", OLDER, "src", "plugins"], cwd=ROOT, capture_output=True)
    if archive.returncode:
        pytest.skip("the history of the repository is not here")
    subprocess.run(["tar", "-x"], cwd=tree, input=archive.stdout, check=True)
    package = folder / "copy" / "package"
    package.mkdir(parents=True)
    shutil.move(tree / "src" / "skilldelta", package / "skilldelta")
    shutil.move(tree / "plugins", package / "skilldelta" / "plugins")
    program = folder / "copy" / "bin" / "skilldelta"
    program.parent.mkdir()
    code = f"import sys; sys.path.insert(0, {str(package)!r})\nfrom skilldelta.cli.entry import main\nmain()\n"
    program.write_text(f"#!{sys.executable}\n{code}")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize("name", HARNESSES)
def test_an_installation_of_an_older_version_works_before_and_after_the_upgrade_and_can_be_undone(
    name: str, gate: Gate, models: FakeModels, tmp_path: Path
) -> None:
    run = HarnessRun(name, tmp_path / "run", models.url, gate.url, plugin=False)
    assert run.program
    run.prepare()
    program = older_copy(tmp_path)
    before = {path: path.read_bytes() for path in run.home.rglob("*") if path.is_file()}

    def skilldelta(*words: str) -> None:
        done = subprocess.run(
            [str(program), *words], cwd=run.project, env=run.environment(), capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr

    skilldelta("install", name, "--skill", "units", "--server", gate.url, "--timeout", "5", "--yes")
    run.ask(WAREHOUSE)
    assert models.steps[0].text.count(UNITS) == 1

    shutil.rmtree(tmp_path / "copy")
    install_a_copy(tmp_path / "copy")
    models.requests.clear()
    run.ask(WAREHOUSE)
    assert models.steps[0].text.count(UNITS) == 1

    skilldelta("install", name, "--undo", "--yes", *(["--keep-changes"] if name in REWRITTEN else []))
    after = {path: path.read_bytes() for path in before if path.is_file()}
    assert name in REWRITTEN or after == before
    models.requests.clear()
    run.ask(WAREHOUSE)
    assert UNITS not in models.steps[0].text
