"""A real server on a bank of 68 tasks, and a fake model server; every harness test has both."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harnesses.fake_models import FakeModels, fake_models
from harnesses.harness_runs import HarnessRun, give_key

UNITS = "A pallet holds 40 crates. A crate holds 24 cans."
WAREHOUSE = "How many cans are in 3 pallets and 5 crates of beans?"
POEM = "Write a short poem about the moon over a quiet lake."
ATLAS = "\n".join(f"Rule {i}: on shelf {i} a pallet holds {i} crates, and a crate holds 24 cans." for i in range(350))
"""A skill of 25,000 characters: more than a hook may inject at once."""

_PLACES = ("a hill", "the town", "a river", "the sea", "a forest", "the snow", "a garden", "the harbor")
_KINDS = (("short", "the moon"), ("long", "the moon"), ("quiet", "the stars"), ("short", "a cloud"))
_TASKS = {
    "warehouse": (
        "How many cans are in 2 pallets of beans?",
        "How many cans are in 7 crates of beans?",
        "How many crates are in 3 pallets of peas?",
        "How many cans are in 5 crates and 3 pallets?",
        *(f"How many cans are in {number} pallets and {number + 4} crates of beans?" for number in range(4, 32)),
    ),
    "poems": (
        "Write a short poem about the moon.",
        "Write a poem about a quiet lake.",
        "Write a short poem about the sea at night.",
        "Write a long poem about a lake and the moon.",
        *(f"Write a {kind} poem about {thing} over {place}." for kind, thing in _KINDS for place in _PLACES),
    ),
}


@dataclass(frozen=True)
class Gate:
    """A running server: `units` and `atlas` help in the warehouse and harm poems, `abacus` the other way round."""

    url: str

    def decisions(self, skill: str = "") -> list[dict[str, Any]]:
        """The decision log, newest first."""
        return list(self.get("/v1/decisions" + (f"?skill={skill}" if skill else ""))["decisions"])

    def get(self, path: str) -> Any:
        with urllib.request.urlopen(self.url + path) as response:
            return json.load(response)


@pytest.fixture(scope="session")
def bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bank(tmp_path_factory.mktemp("gate"))


@pytest.fixture(scope="session")
def gate(bank: Path) -> Iterator[Gate]:
    pytest.importorskip("uvicorn", reason="the extra serve is not installed")
    with serving(bank) as found:
        yield found


@contextmanager
def serving(bank: Path, **variables: str) -> Iterator[Gate]:
    """A warm server of its own; variables such as HOME are the server's."""
    port = free_port()
    give_key(bank.parent / "state")
    state = {"OPENBLAS_NUM_THREADS": "1", "XDG_STATE_HOME": str(bank.parent / "state")}
    server = subprocess.Popen(
        [_skilldelta(), "serve", "--bank", str(bank), "--port", str(port)],
        env={**os.environ, **state, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    found = Gate(f"http://127.0.0.1:{port}")
    try:
        _wait_for(found, server)
        yield found
    finally:
        server.terminate()
        server.wait(20)


@pytest.fixture
def models() -> Iterator[FakeModels]:
    with fake_models() as serving:
        yield serving


@pytest.fixture
def start(gate: Gate, models: FakeModels, tmp_path: Path) -> Callable[..., HarnessRun]:
    """A harness that is ready for its first prompt."""

    def started(name: str, settings: dict[str, Any] | None = None, **more: Any) -> HarnessRun:
        server, folder = more.pop("server", gate.url), tmp_path / more.pop("place", name)
        return HarnessRun(name, folder, models.url, server, settings or {"skill": "units"}, **more).prepare()

    return started


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def make_bank(folder: Path) -> Path:
    """A bank of 68 tasks and three skills, two of them with their texts: enough to be sure of each."""
    bank, pairs = folder / "small.bank", folder / "pairs.jsonl"
    rows = []
    for family, texts in _TASKS.items():
        for number, text in enumerate(texts):
            for skill in ("units", "atlas", "abacus"):
                y1 = int((family == "warehouse") == (skill != "abacus"))
                outcome = {"agent": "a", "y0": [1 - y1], "y1": [y1]}
                rows.append(
                    {"task_id": f"{family}-{number}", "text": text, "family": family, "skill": skill, **outcome}
                )
    pairs.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    _run("import", str(pairs), "--bank", str(bank))
    for name, text in (("units", UNITS), ("atlas", ATLAS)):
        file = folder / f"{name}.md"
        file.write_text(text, encoding="utf-8")
        _run("bank", "add-skill", name, str(file), "--bank", str(bank))
    return bank


def _run(*words: str) -> None:
    subprocess.run([_skilldelta(), *words], check=True, capture_output=True, timeout=60)


def _skilldelta() -> str:
    return str(Path(sys.executable).with_name("skilldelta"))


def _wait_for(gate: Gate, server: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        assert server.poll() is None, "skilldelta serve ended"
        try:
            if gate.get("/v1/ready")["ready"]:
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError("skilldelta serve did not become ready")
