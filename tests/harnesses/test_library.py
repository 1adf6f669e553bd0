"""`skilldelta library --apply` in the real harness: the list in the first request shrinks, and `--undo` brings it back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harnesses.conftest import Gate
from harnesses.fake_models import FakeModels
from harnesses.harness_runs import HarnessRun

pytestmark = pytest.mark.slow

FOLDERS = {
    "claude-code": ".claude/skills",
    "codex": ".agents/skills",
    "gemini": ".gemini/skills",
    "opencode": ".config/opencode/skills",
    "pi": ".pi/agent/skills",
}
# Harnesses that write their settings anew when they start.
REWRITTEN = ("opencode",)
NAMES = [f"harvest-{number}" for number in range(5)]


def skilldelta(run: HarnessRun, *words: str) -> str:
    command = [sys.executable, "-m", "skilldelta", *words]
    done = subprocess.run(command, cwd=run.project, env=run.environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def description(name: str) -> str:
    return f"Rows and baskets of {name} as the orchard counts them, in every season and for every tree."


@pytest.mark.parametrize("name", list(FOLDERS))
def test_the_list_shrinks_and_comes_back(name: str, gate: Gate, models: FakeModels, tmp_path: Path) -> None:
    run = HarnessRun(name, tmp_path / "run", models.url, gate.url, plugin=False)
    assert run.program
    run.prepare()
    for skill in NAMES:
        text = f"---\nname: {skill}\ndescription: {description(skill)}\n---\nThe body of {skill}.\n"
        run.write(f"home/{FOLDERS[name]}/{skill}/SKILL.md", text)
    # Four of the five were measured, and harm.
    rows = [
        {
            "task_id": f"{skill} {i}",
            "question": f"Count {i} baskets of {skill}.",
            "skill": skill,
            "agent": "a",
            "y0": [1],
            "y1": [0],
        }
        for skill in NAMES[:4]
        for i in range(12)
    ]
    run.write("project/pairs.jsonl", "\n".join(map(json.dumps, rows)))
    skilldelta(run, "import", "pairs.jsonl", "--bank", "harm.bank")

    run.ask("What is 2 + 2?")
    first = models.steps[0].text
    assert all(description(skill) in first for skill in NAMES)
    settings = {path: path.read_bytes() for path in run.home.rglob("*") if path.name in _SETTINGS and path.is_file()}

    document = json.loads(skilldelta(run, "library", name, "--bank", "harm.bank", "--json"))
    assert {row["skill"] for row in document["skills"] if row["proposal"] == "off"} == set(NAMES[:4])
    skilldelta(run, "library", name, "--bank", "harm.bank", "--apply", "--yes")
    models.requests.clear()
    run.ask("What is 2 + 2?")
    second = models.steps[0].text
    assert [skill for skill in NAMES if description(skill) in second] == NAMES[4:]
    # As much as was said: the lines of four skills, at four characters a token.
    assert len(first) - len(second) >= 0.8 * 4 * document["saves"]

    if name == "claude-code":
        models.requests.clear()
        run.ask(f"/{NAMES[0]}")
        assert f"The body of {NAMES[0]}." in models.steps[0].text

    skilldelta(run, "library", name, "--undo", "--yes", *(["--keep-changes"] if name in REWRITTEN else []))
    after = {path: path.read_bytes() for path in run.home.rglob("*") if path.name in _SETTINGS and path.is_file()}
    assert name in REWRITTEN or after == settings
    models.requests.clear()
    run.ask("What is 2 + 2?")
    assert all(description(skill) in models.steps[0].text for skill in NAMES)


_SETTINGS = ("settings.json", "config.toml", "opencode.json")
