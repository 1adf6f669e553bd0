"""Collection in the real harnesses: two arms, resume, tokens, and requests equal to those of the installed adapter.

`make test-harnesses` installs the harnesses. The gate is a real server on the demo bank; only the model is not real.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pytest

from harnesses.fake_models import FakeModels, ModelRequest, fake_models
from harnesses.harness_runs import give_key
from harnesses.installing import program, search_path
from harnesses.test_every_harness import HARNESSES
from skilldelta.bank import Bank
from skilldelta.cli.main import run
from skilldelta.harnesses import harness_named

pytestmark = pytest.mark.slow

SKILLDELTA = str(Path(sys.executable).with_name("skilldelta"))
TASKS = {
    "use": ("warehouse-units", "We counted 6 crates of beans and 4 trays on top. State the total of cans."),
    "skip": ("date-arithmetic", "A permit of 152 days starts on 2025-08-22. On which date has it run 152 days?"),
}
MODELS: dict[str, str] = {"gemini": "gemini-2.5-pro", "opencode": "fake/m", "pi": "fake/m"}


@dataclass(frozen=True)
class Bench:
    """One harness with a folder of its own, and the variables that a person would have set."""

    harness: str
    root: Path
    models: FakeModels
    environment: dict[str, str]

    @property
    def template(self) -> Path:
        return self.root / "template"


@pytest.fixture(scope="module")
def demo_bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bank = tmp_path_factory.mktemp("demo") / "demo.bank"
    assert run(["demo", "--bank", str(bank), "--no-report"]) == 0
    return bank


@pytest.fixture(scope="module")
def gate(demo_bank: Path) -> Iterator[str]:
    """A real server on the demo bank."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [SKILLDELTA, "serve", "--bank", str(demo_bank), "--port", str(port)]
    give_key(demo_bank.parent / "state")
    environment = {**os.environ, "XDG_STATE_HOME": str(demo_bank.parent / "state")}
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            assert process.poll() is None
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


@pytest.fixture(params=HARNESSES)
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    harness: str = request.param
    path = program(harness)
    if path is None:
        pytest.skip(f"the harness {harness} is not installed; make test-harnesses installs it")
    with fake_models() as models:
        environment = {
            "PATH": os.pathsep.join([str(path.parent), search_path()]),
            "HOME": str(tmp_path),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "ANTHROPIC_BASE_URL": models.url,
            "ANTHROPIC_API_KEY": "sk-ant-none",
            "OPENAI_API_KEY": "none",
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": models.url,
            "DEEPSEEK_BASE_URL": models.url,
            "DEEPSEEK_API_KEY": "none",
        }
        made = Bench(harness, tmp_path, models, environment)
        write_settings(made)
        write_suite(tmp_path / "suite")
        yield made


def write_settings(bench: Bench) -> None:
    """The settings that lead each harness to the model server, as a person would write them."""
    url = bench.models.url
    provider = f'[model_providers.fake]\nname = "fake"\nbase_url = "{url}/v1"\nenv_key = "OPENAI_API_KEY"\n'
    options = {"baseURL": f"{url}/v1", "apiKey": "none"}
    opencode = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m": {}}}
    pi = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "none", "models": [{"id": "m"}]}
    texts: dict[str, tuple[str, str]] = {
        "codex": (".codex/config.toml", f'model = "m"\nmodel_provider = "fake"\n{provider}wire_api = "responses"\n'),
        "gemini": (".gemini/settings.json", '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'),
        "opencode": (".config/opencode/opencode.json", json.dumps({"provider": {"fake": opencode}})),
        "pi": (".pi/agent/models.json", json.dumps({"providers": {"fake": pi}})),
    }
    bench.template.mkdir()
    if bench.harness in texts:
        name, text = texts[bench.harness]
        (bench.template / name).parent.mkdir(parents=True)
        (bench.template / name).write_text(text)


def write_suite(folder: Path) -> None:
    folder.mkdir()
    (folder / "suite.yaml").write_text("name: pair\ngrader: {type: contains}\n")
    rows = [
        {"task_id": name, "text": text, "skill": skill, "answer": "FAKE-ANSWER"}
        for name, (skill, text) in TASKS.items()
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for skill, _ in TASKS.values():
        (folder / "skills" / skill).mkdir(parents=True)
        (folder / "skills" / skill / "SKILL.md").write_text(skill_file(skill).read_text(encoding="utf-8"))


def skill_file(skill: str) -> Path:
    return Path(str(files("skilldelta.demo") / "suite" / "skills" / skill / "SKILL.md"))


def collect(bench: Bench, *options: str) -> None:
    model = ["--model", MODELS[bench.harness]] if bench.harness in MODELS else []
    words = [SKILLDELTA, "collect", "suite", "--harness", bench.harness, "--agent-home", str(bench.template), *model]
    done = subprocess.run(
        [*words, "--bank", "b.bank", "--concurrency", "1", "--timeout", "180", *options],
        cwd=bench.root,
        env=bench.environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def installed_request(bench: Bench, gate: str, arm: str) -> ModelRequest:
    """The first step of the harness with the installed adapter, which asks the real gate."""
    skill, text = TASKS[arm]
    home = bench.root / f"person-{arm}" / "home"
    home.parent.mkdir()
    recipe = harness_named(bench.harness).recipe
    assert recipe is not None
    subprocess.run(["cp", "-r", str(bench.template), str(home)], check=True)
    give_key(home / ".local" / "state")
    own = {name: value.format(home=home) for name, value in recipe.variables.items()}
    environment = {**bench.environment, "HOME": str(home), **own}
    words = [SKILLDELTA, "install", bench.harness, "--skill-file", str(skill_file(skill)), "--server", gate, "--yes"]
    subprocess.run([*words, "--timeout", "10"], env=environment, cwd=home, check=True, capture_output=True)
    work = home.parent / "work"
    work.mkdir()
    before = len(bench.models.requests)
    model = [recipe.model_option, MODELS[bench.harness]] if bench.harness in MODELS else []
    call = [text if word == "{prompt}" else word for word in (*recipe.words, *recipe.permissions["default"], *model)]
    subprocess.run(
        [str(program(bench.harness)), *call],
        input="" if "{prompt}" in recipe.words else text,
        env=environment,
        cwd=work,
        check=True,
        capture_output=True,
        text=True,
    )
    return next(request for request in bench.models.requests[before:] if request.offers_tools)


_CHANGING = (
    (re.compile(r"/[\w./-]*/(?:skilldelta-\w+|person-use|person-skip)(?=/|\b)"), "<folder>"),
    (re.compile(r"-[\w-]*(?:skilldelta-[\w-]+|person-use|person-skip)-[\w-]*"), "<slug>"),  # Claude Code writes _ as -
    (re.compile(r"(?:\bmsg_)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<id>"),
    (re.compile(r"\b[0-9a-f]{32,64}\b"), "<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?"), "<time>"),
    (re.compile(r"\b(?:ses|msg|prt)_\w+"), "<id>"),
    (re.compile(r"\b17\d{11}\b"), "<time>"),
)


def constant(request: ModelRequest) -> str:
    """A request without what differs between any two runs: ids, times and the names of temporary folders."""
    text = json.dumps(request.body, sort_keys=True, ensure_ascii=False)
    for pattern, word in _CHANGING:
        text = pattern.sub(word, text)
    return text


def differences(one: str, other: str) -> list[tuple[str, str]]:
    """The first stretches in which two requests differ."""
    if one == other:
        return []
    words, others = (re.split(r"(?<=[ ,{}])", text) for text in (one, other))
    codes = difflib.SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    return [("".join(words[a:b]), "".join(others[c:d])) for kind, a, b, c, d in codes if kind != "equal"][:10]


def of_task(requests: list[ModelRequest], task: str) -> list[ModelRequest]:
    return [request for request in requests if TASKS[task][1] in json.loads(json.dumps(request.text))]


def test_both_arms_are_collected_and_equal_what_the_installed_adapter_sends(bench: Bench, gate: str) -> None:
    collect(bench)
    steps = list(bench.models.steps)
    with Bank.open(bench.root / "b.bank", create=False) as bank:
        found = {(one.task_id, one.condition): one for one in bank.executions()}
    assert {key: one.success for key, one in found.items()} == dict.fromkeys(found, 1.0)
    assert len(found) == 4
    assert all(one.tokens and one.tokens >= 100 for one in found.values())

    collect(bench)
    assert len(bench.models.steps) == len(steps), "a second start runs nothing again"

    sent = {(task, has_skill(request, task)): request for task in TASKS for request in of_task(steps, task)}
    for key in (("use", True), ("skip", False)):
        collected, installed = constant(sent[key]), constant(installed_request(bench, gate, key[0]))
        assert not differences(collected, installed), differences(collected, installed)


def has_skill(request: ModelRequest, task: str) -> bool:
    """Whether the model was sent the skill; its first line is enough to tell."""
    body = skill_file(TASKS[task][0]).read_text(encoding="utf-8").split("---", 2)[2].strip()
    return json.dumps(body.splitlines()[0], ensure_ascii=False)[1:-1] in request.text
