"""The plugins as packages: long skills, a marketplace, a bundle."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from harnesses import installing
from harnesses.conftest import ATLAS, POEM, UNITS, WAREHOUSE, Gate
from harnesses.fake_models import ANSWER, FakeModels
from harnesses.harness_runs import PLUGINS, ROOT, HarnessRun

pytestmark = pytest.mark.slow
Start = Callable[..., HarnessRun]


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_a_long_skill_arrives_whole_in_parts(name: str, start: Start, models: FakeModels) -> None:
    assert len(ATLAS) > 20_000
    start(name, {"skill": "atlas"}, long_skills=True).ask(WAREHOUSE)
    missing = [line for line in ATLAS.splitlines() if line not in models.steps[0].text]
    assert missing == []
    assert "part 3 of 3" in models.steps[0].text


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_where_parts_are_switched_off_the_model_is_told_which_file_to_read(
    name: str, start: Start, models: FakeModels
) -> None:
    run = start(name, {"skill": "atlas"})
    run.ask(WAREHOUSE)
    (kept,) = run.home.rglob("skills/*.md")
    assert kept.read_text() == ATLAS
    assert f"read the whole file {kept}" in models.steps[0].text
    assert "Rule 7:" not in models.steps[0].text


@pytest.mark.parametrize("name", ["dsh", "gemini", "opencode", "pi"])
def test_a_long_skill_arrives_whole_at_once(name: str, start: Start, models: FakeModels) -> None:
    start(name, {"skill": "atlas"}).ask(WAREHOUSE)
    assert all(line in models.steps[0].text for line in ATLAS.splitlines())
    assert "part 1 of" not in models.steps[0].text


@pytest.mark.parametrize("place", [ROOT, PLUGINS / "claude-code"])
def test_claude_code_finds_the_plugin_and_the_marketplace_valid(place: Path, start: Start) -> None:
    run = start("claude-code", plugin=False)
    done = subprocess.run(
        [run.program, "plugin", "validate", str(place)], env=run.environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_commands_of_claude_code_run_skilldelta_and_are_not_in_the_catalog(
    start: Start, models: FakeModels, gate: Gate
) -> None:
    run = start("claude-code")
    run.ask(POEM)
    assert "skilldelta:" not in models.steps[0].text
    models.requests.clear()
    run.ask("/skilldelta:status")
    assert "does the gate answer" in models.steps[0].text
    assert gate.url in models.steps[0].text  # doctor has been run, and names the server
    models.requests.clear()
    run.ask(f"/skilldelta:explain units {WAREHOUSE}")
    assert "predict --explain" in models.steps[0].text
    assert WAREHOUSE in models.steps[0].text


def test_the_dsh_plugin_works_as_an_installed_bundle(
    start: Start, models: FakeModels, gate: Gate, tmp_path: Path
) -> None:
    run = start("dsh", plugin=False)
    environment = {**run.environment(), "SKILLDELTA_SERVER": gate.url}
    pack = ["npm", "pack", "--pack-destination", str(tmp_path), str(PLUGINS / "dsh-skilldelta")]
    subprocess.run(pack, env={**environment, "PATH": f"{environment['PATH']}:/usr/local/bin"}, check=True, timeout=60)
    (package,) = tmp_path.glob("dsh-skilldelta-*.tgz")
    run.do("plugin", "--profile", "headless", "add", str(package))
    row = "- id: skilldelta\n  config: {skill: units}\n"
    run.write("home/.dsh/profiles/headless/cordis.patch.yml", row)
    assert ANSWER in run.ask(WAREHOUSE)
    assert UNITS in models.steps[0].text


def test_the_harnesses_are_the_versions_that_are_pinned() -> None:
    program = installing.program("claude-code")
    if program is None:
        pytest.skip("claude-code is not installed; make test-harnesses installs it")
    assert "2.1.326" in subprocess.check_output([str(program), "--version"], text=True)
