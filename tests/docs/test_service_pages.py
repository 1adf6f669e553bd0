"""The pages about the service: the tutorial word for word, the reference against the server, the Dockerfile's commands."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import httpx
import pytest

from docs.pages import ROOT, blocks, read
from serve.conftest import bank_path  # noqa: F401
from serve.running_server import answers_within
from skilldelta.cli.main import cli
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.http_api import gate_app

TUTORIAL = "docs/first-service.md"


def commands(page: str) -> list[str]:
    """The lines that a reader types."""
    text = "\n".join(block.code for block in blocks(page) if block.language == "console").replace("\\\n", " ")
    return [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]


def test_the_tutorial_word_for_word(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    install, *typed = (line.replace("7345", str(port)) for line in commands(TUTORIAL))
    assert install == "pip install '.[serve]'"
    for block in blocks(TUTORIAL):
        if block.title:
            (tmp_path / block.title).write_text(block.code, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SKILLDELTA_")}
    answers, server = [], None
    try:
        for line in typed:
            words = shlex.split(line)
            if words[:2] == ["skilldelta", "serve"]:
                command = [sys.executable, "-m", *words, "--port", str(port)]
                server = subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL)
                answers_within(f"http://127.0.0.1:{port}")
                assert "<title>" in httpx.get(f"http://127.0.0.1:{port}/").text
            elif words[0] == "skilldelta":
                command = [sys.executable, "-m", *words]
                subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
            else:
                answers.append(_fetched(words))
    finally:
        if server is not None:
            server.kill()
            server.wait()
    decision, outcome, log = answers
    assert (decision["action"], decision["decision_id"]) == ("use", 1)
    assert outcome["new"] is True
    assert [entry["outcomes"][0]["success"] for entry in log["decisions"]] == [1.0]
    assert (tmp_path / "skilldelta.bank").exists()


def _fetched(words: list[str]) -> dict[str, Any]:
    """What the curl command of a page would get."""
    assert words[:2] == ["curl", "-s"]
    if "-d" in words:
        name, _, value = words[words.index("-H") + 1].partition(": ")
        answer = httpx.post(words[2], content=words[words.index("-d") + 1], headers={name: value})
    else:
        answer = httpx.get(words[2])
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


def test_the_reference_lists_every_route(bank_path: Path) -> None:  # noqa: F811
    with GateService.open(bank_path) as gate:
        paths = gate_app(gate).openapi()["paths"]
    real = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    real = {re.sub(r":path\}", "}", route) for route in real if "/v1/dashboard" not in route}
    assert set(re.findall(r"^\| `([A-Z]+ /\S+)`", read("docs/reference/http-api.md"), re.MULTILINE)) == real


def test_every_field_of_a_question_is_in_the_reference(bank_path: Path) -> None:  # noqa: F811
    with GateService.open(bank_path) as gate:
        schemas = gate_app(gate).openapi()["components"]["schemas"]
    page = read("docs/reference/http-api.md")
    for name in ("DecideBody", "GateBody", "OutcomeBody"):
        for field in schemas[name]["properties"]:
            assert f"`{field}`" in page, f"{name}.{field}"


@pytest.mark.parametrize("page", ["docs/how-to/serve.md", "docs/how-to/dashboard.md", TUTORIAL])
def test_the_commands_of_the_pages_have_these_options(page: str) -> None:
    for line in commands(page):
        words = shlex.split(line)
        if words[0] == "skilldelta":
            _parse(words[1:])


def _parse(words: list[str]) -> None:
    """Fails where an option or a value does not exist."""
    command: click.Command = cli
    context = click.Context(cli)
    while isinstance(command, click.Group):
        found = command.get_command(context, words[0])
        assert found is not None, words
        command, words = found, words[1:]
    command.make_context(command.name, list(words))


def instructions() -> list[tuple[str, str]]:
    text = read("Dockerfile").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1].strip()) for line in lines]


def test_the_containers_commands_exist() -> None:
    said = dict(instructions())
    assert json.loads(said["ENTRYPOINT"]) == ["skilldelta"]
    words = json.loads(said["CMD"])
    _parse(words)
    assert "--tokens" in words  # on all addresses of the container a token is needed
    assert said["USER"] == "skilldelta"
    check = json.loads(said["HEALTHCHECK"].partition("CMD")[2])
    compile(check[2], "healthcheck", "exec")
    assert f":{said['EXPOSE']}/v1/health" in check[2]


def test_the_container_copies_what_there_is_and_installs_extras_that_exist() -> None:
    allowed = {line[1:] for line in read(".dockerignore").splitlines() if line.startswith("!")}
    for name, words in instructions():
        if name == "COPY":
            *sources, _ = words.split()
            assert all((ROOT / source).exists() for source in sources)
            assert set(sources) <= allowed
    extras = tomllib.loads(read("pyproject.toml"))["project"]["optional-dependencies"]
    installed = re.search(r"/build\[([\w,]+)\]", read("Dockerfile"))
    assert installed is not None
    assert set(installed[1].split(",")) <= set(extras)
