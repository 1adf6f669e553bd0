"""A harness that another package declares: it works in `install`, `hook`, `doctor` and `collect --harness`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.conftest import pair_rows
from collect.suites import SKILL, write_suite
from serve.hooks.fake_gate import KEY, fake_gate, says

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="the stand-in is a script, which Windows does not start"
)

DECLARATION = """
from skilldelta.harnesses.harness import Dialect, Harness, Recipe, Reply
from skilldelta.harnesses.hook_entries import HookEntries

HARNESS = Harness(
    name="acme",
    title="Acme",
    program="acme",
    folder=lambda home, environment: home / ".acme",
    project_folder=".acme",
    setup=HookEntries("acme.json"),
    next_step="Say hello to Acme.",
    dialect=Dialect(prompt="Prompt", tool="Tool", end="Bye", skill_tool="load", skill_fields=("which",)),
    recipe=Recipe(words=("run",), read=lambda printed: Reply(printed.strip())),
)
"""
# Answers as the suite wants where the skill is there, and wrongly where it is not.
PROGRAM = """#!{python}
import json, os, subprocess, sys
if "--version" in sys.argv:
    print("acme 1"); sys.exit()
prompt, added = sys.stdin.read(), ""
settings = json.load(open(os.path.join(os.environ["HOME"], ".acme", "acme.json")))
for group in settings["hooks"]["Prompt"]:
    for hook in group["hooks"]:
        event = {{"session_id": "s", "hook_event_name": "Prompt", "prompt": prompt}}
        done = subprocess.run(hook["command"], shell=True, input=json.dumps(event), capture_output=True, text=True)
        added += done.stdout
number = int(prompt.split()[-1])
print(2 * number + 1 if {skill!r} in added else number)
"""


@pytest.fixture
def acme(tmp_path: Path) -> Path:
    """A home with the package of Acme, its program, and a skill."""
    package = tmp_path / "packages"
    (package / "acme_skilldelta-1.0.dist-info").mkdir(parents=True)
    (package / "acme_skilldelta.py").write_text(DECLARATION)
    (package / "acme_skilldelta-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: acme-skilldelta\nVersion: 1.0\n"
    )
    (package / "acme_skilldelta-1.0.dist-info" / "entry_points.txt").write_text(
        "[skilldelta.harnesses]\nacme = acme_skilldelta:HARNESS\nbroken = no_such_module:HARNESS\n"
    )
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "acme").write_text(PROGRAM.format(python=sys.executable, skill=SKILL))
    (tmp_path / "bin" / "acme").chmod(0o755)
    (tmp_path / "counting").mkdir()
    (tmp_path / "counting" / "SKILL.md").write_text("---\nname: counting\n---\nCount twice.\n")
    return tmp_path


def skilldelta(home: Path, *words: object, stdin: str = "") -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{home / 'bin'}:{os.environ['PATH']}",
        "HOME": str(home),
        "PYTHONPATH": str(home / "packages"),
        "SKILLDELTA_SERVER_KEY": KEY,
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "skilldelta", *map(str, words)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=home, env=environment, timeout=120)


def test_it_is_installed_answers_hooks_and_is_taken_out_again(acme: Path) -> None:
    with fake_gate(says("use")) as gate:
        words = ("install", "acme", "--skill-file", "counting", "--server", gate.url, "--timeout", 30)
        installed = skilldelta(acme, *words, "--yes")
        assert installed.returncode == 0, installed.stderr
        assert "Say hello to Acme." in installed.stderr
        hooks = json.loads((acme / ".acme" / "acme.json").read_text())["hooks"]
        assert list(hooks) == ["Prompt", "Tool", "Bye"]
        assert "hook acme --skill counting" in hooks["Prompt"][0]["hooks"][0]["command"]
        event = json.dumps({"session_id": "s", "hook_event_name": "Prompt", "prompt": "count the cans"})
        answered = skilldelta(acme, "hook", "acme", "--skill-file", "counting", "--server", gate.url, stdin=event)
        context = {"hookEventName": "Prompt", "additionalContext": "Count twice."}
        assert json.loads(answered.stdout) == {"hookSpecificOutput": context}
    assert skilldelta(acme, "install", "acme", "--undo", "--yes").returncode == 0
    assert not (acme / ".acme").exists()


def test_the_doctor_runs_its_hooks(acme: Path) -> None:
    (acme / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pair_rows()))
    assert skilldelta(acme, "import", "pairs.jsonl", "--bank", "my.bank").returncode == 0
    words = ("install", "acme", "--skill", "units-skill", "--bank", "my.bank", "--yes")
    assert skilldelta(acme, *words).returncode == 0
    checked = skilldelta(acme, "doctor", "--json", "--server", "http://127.0.0.1:9")
    findings = {finding["name"]: finding for finding in json.loads(checked.stdout)["findings"]}
    assert findings["acme hook"]["status"] == "ok", findings
    assert "acme 1" in findings["acme"]["detail"]
    assert "cannot be loaded" in findings["broken"]["detail"]


def test_it_can_be_collected_with(acme: Path) -> None:
    suite = write_suite(acme / "suite", tasks=1)
    words = ("collect", suite, "--harness", "acme", "--bank", "b.bank", "--concurrency", 1, "--pass-env", "PYTHONPATH")
    collected = skilldelta(acme, *words)
    assert collected.returncode == 0, collected.stderr
    status = json.loads(skilldelta(acme, "bank", "status", "--bank", "b.bank", "--json").stdout)
    assert status["executions"]["completed"] == 2


def test_a_harness_that_nobody_declares_is_named_with_those_that_are(acme: Path) -> None:
    unknown = skilldelta(acme, "install", "acne", "--skill", "x", "--yes")
    assert unknown.returncode == 2
    assert "unknown harness 'acne'; did you mean acme" in unknown.stderr
    broken = skilldelta(acme, "install", "broken", "--skill", "x", "--yes")
    assert (broken.returncode, len(broken.stderr.splitlines())) == (2, 1)
    assert "the harness broken of acme-skilldelta cannot be loaded" in broken.stderr
