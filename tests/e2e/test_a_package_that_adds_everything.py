"""A package that adds an estimator, an encoder, a harness, a grader and an importer, used through the commands.

One story: collect with its harness and grader, import its own result files, evaluate and predict with its estimator and
encoder, serve them, install its harness's hooks, and run the command that was installed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from collect.suites import SKILL, write_suite
from serve.running_server import running

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the harness is a script, which Windows does not start")

# An even number of letters: the skill is used.
CODE = '''
import numpy as np
from skilldelta.bank.importers import ToolFormat, ToolResults, ToolRun
from skilldelta.estimators.base import Score, Scores
from skilldelta.harnesses.harness import Dialect, Harness, Recipe, Reply
from skilldelta.harnesses.hook_entries import HookEntries


class EvenLength:
    """Gains from the length of the text."""

    name = "even_length"

    def fit(self, support):
        return self

    def score(self, target):
        return Score(0.25 if len(target.text) % 2 == 0 else -0.25)

    def leave_one_out(self, support):
        return Scores(np.array([0.25 if len(text) % 2 == 0 else -0.25 for text in support.texts]))


class Lengths:
    """Vectors from the lengths of texts."""

    identity = "lengths-1/2/unit"

    def encode(self, texts):
        rows = np.array([[len(text), 1.0] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class Shouting:
    """The expected answer, with marks."""

    def __init__(self, marks):
        self.marks = marks

    async def grade(self, answer, task, workdir):
        return float(answer == str(task.answer) + "!" * self.marks)


def read(tree, defaults):
    rows = tree.json("acme-results.json")
    return ToolResults([
        ToolRun(row["task"], row["arm"], row["passed"], text=row["text"], skill="arith") for row in rows
    ])


FORMAT = ToolFormat(
    "acme-log", "Acme's log", "one row per run", "acme-results.json",
    lambda tree: "it has acme-results.json" if "acme-results.json" in tree.names else "", read,
)
HARNESS = Harness(
    name="acme",
    title="Acme",
    program="acme",
    folder=lambda home, environment: home / ".acme",
    setup=HookEntries("acme.json"),
    next_step="Say hello to Acme.",
    dialect=Dialect(prompt="Prompt", tool="Tool", end="Bye"),
    recipe=Recipe(words=("run",), read=lambda printed: Reply(printed.strip())),
)
'''
ENTRY_POINTS = """
[skilldelta.estimators]
even_length = acme_skilldelta:EvenLength
[skilldelta.encoders]
lengths = acme_skilldelta:Lengths
[skilldelta.graders]
shouting = acme_skilldelta:Shouting
[skilldelta.importers]
acme-log = acme_skilldelta:FORMAT
[skilldelta.harnesses]
acme = acme_skilldelta:HARNESS
"""
# Shouts the right answer where the skill is there, and a wrong one where it is not.
PROGRAM = """#!{python}
import json, os, subprocess, sys
prompt, added = sys.stdin.read(), ""
settings = json.load(open(os.path.join(os.environ["HOME"], ".acme", "acme.json")))
for group in settings["hooks"]["Prompt"]:
    for hook in group["hooks"]:
        event = {{"session_id": "s", "hook_event_name": "Prompt", "prompt": prompt}}
        added += subprocess.run(
            hook["command"], shell=True, input=json.dumps(event), capture_output=True, text=True
        ).stdout
number = int(prompt.split()[-1])
print(f"{{2 * number + 1 if {skill!r} in added else number}}!!")
"""
GATE = ("--estimator", "even_length", "--encoder", "lengths")
# A hook takes its gate from a person's own variables.
VARIABLES = {"SKILLDELTA_ESTIMATOR": "even_length", "SKILLDELTA_ENCODER": "lengths"}
TEXTS = {"Compute 700": "skip", "Compute 7001": "use"}


class Home:
    """A home with the package and its program."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        package, info = folder / "packages", folder / "packages" / "acme_skilldelta-1.0.dist-info"
        info.mkdir(parents=True)
        (package / "acme_skilldelta.py").write_text(CODE, encoding="utf-8")
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-skilldelta\nVersion: 1.0\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
        program = folder / "bin" / "acme"
        program.parent.mkdir()
        program.write_text(PROGRAM.format(python=sys.executable, skill=SKILL), encoding="utf-8")
        program.chmod(0o755)
        self.environment = {
            "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(folder),
            "PYTHONPATH": str(package),
            "OPENBLAS_NUM_THREADS": "1",
        }

    def skilldelta(self, *words: object) -> str:
        """What a command prints, its notes first."""
        return self.run([sys.executable, "-m", "skilldelta", *map(str, words)], stderr=subprocess.STDOUT)

    def document(self, *words: object) -> Any:
        """The JSON document that a command prints."""
        return json.loads(self.run([sys.executable, "-m", "skilldelta", *map(str, words), "--json"]))

    def run(self, command: str | list[str], stdin: str = "", stderr: int = subprocess.PIPE) -> str:
        """What a program prints; a text is a line for the shell."""
        done = subprocess.run(
            command,
            shell=isinstance(command, str),
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            cwd=self.folder,
            env=self.environment | (VARIABLES if isinstance(command, str) else {}),
            timeout=120,
        )
        assert done.returncode == 0, (done.stdout, done.stderr)
        return done.stdout


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """The home, with a bank of four tasks that came in by the package's importer."""
    home = Home(tmp_path_factory.mktemp("home"))
    results = home.folder / "results"
    results.mkdir()
    rows = [
        {
            "task": f"t{number}",
            "text": f"Compute {10**number}",
            "arm": arm,
            "passed": (arm == "use") == (number % 2 == 0),
        }
        for number in range(4)
        for arm in ("use", "skip")
    ]
    (results / "acme-results.json").write_text(json.dumps(rows), encoding="utf-8")
    assert "read as acme-log" in home.skilldelta("import", results, "--agent", "acme", "--bank", "my.bank")
    return home


def test_its_importer_filled_the_bank(home: Home) -> None:
    status = home.document("bank", "status", "--bank", "my.bank")
    assert (status["tasks"], status["executions"]["completed"]) == (4, 8)


def test_its_harness_and_its_grader_collect(home: Home) -> None:
    suite = write_suite(home.folder / "suite", tasks=1)
    (suite / "suite.yaml").write_text("name: loud\ngrader: {type: shouting, marks: 2}\n", encoding="utf-8")
    words = ("--harness", "acme", "--bank", "collected.bank", "--concurrency", 1, "--pass-env", "PYTHONPATH")
    home.skilldelta("collect", suite, *words)
    home.skilldelta("bank", "export", "--bank", "collected.bank", "--output", "runs.jsonl")
    runs = [json.loads(line) for line in (home.folder / "runs.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {run["condition"]: run["success"] for run in runs} == {"use": 1.0, "skip": 0.0}


def test_its_estimator_and_its_encoder_are_evaluated(home: Home) -> None:
    document = home.document("evaluate", "--bank", "my.bank", *GATE, "--resamples", 0, "--shuffles", 0)
    (panel,) = document["panels"]
    assert (panel["gate"], panel["tasks"]) == ("even_length", 4)
    # "Compute 1" has nine characters, "Compute 10" ten: used on two of four tasks.
    assert panel["policies"]["even_length"]["use_rate"] == 0.5


def test_they_decide_in_predict_serve_and_the_installed_hook(home: Home) -> None:
    predicted = {text: home.document("predict", "--bank", "my.bank", "--skill", "arith", *GATE, text) for text in TEXTS}
    with _environment(home), running(home.folder / "my.bank", *GATE) as server:
        served = {
            text: httpx.post(f"{server.url}/v1/decide", json={"text": text, "skill": "arith"}, timeout=60).json()
            for text in TEXTS
        }
    skill = home.folder / "arith"
    skill.mkdir()
    (skill / "SKILL.md").write_text(f"---\nname: arith\n---\n{SKILL}\n", encoding="utf-8")
    words = ("--skill", "arith", "--skill-file", skill, "--bank", home.folder / "my.bank", "--ask", "bank", "--yes")
    assert "Say hello to Acme." in home.skilldelta("install", "acme", *words)
    hooks = json.loads((home.folder / ".acme" / "acme.json").read_text(encoding="utf-8"))["hooks"]
    command = hooks["Prompt"][0]["hooks"][0]["command"]
    for session, (text, action) in enumerate(TEXTS.items()):
        for answer in (predicted[text], served[text]):
            assert (answer["action"], answer["estimator"]) == (action, "even_length")
        event = {"session_id": str(session), "hook_event_name": "Prompt", "prompt": text}
        assert (SKILL in home.run(command, json.dumps(event))) == (action == "use")


@contextmanager
def _environment(home: Home) -> Iterator[None]:
    """The package for a server that a test starts."""
    before: dict[str, Any] = {name: os.environ.get(name) for name in home.environment}
    os.environ.update(home.environment)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
