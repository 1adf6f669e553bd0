"""Hooks that a harness sends over HTTP by itself: the same answers, and no way to read files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from cli.conftest import Skilldelta, skilldelta  # noqa: F401
from cli.test_install import HOOKED, home, tree  # noqa: F401
from skilldelta.bank.skill_versions import add_skill_text
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.http_api import gate_app

PROMPT: dict[str, Any] = {
    "session_id": "s1",
    "hook_event_name": "UserPromptSubmit",
    "prompt": "convert four miles to metres",
    "cwd": "/somewhere",
}


@pytest.fixture
def hooks(bank_path: Path, tmp_path: Path) -> Iterator[TestClient]:
    gate = GateService.open(bank_path)
    gate.read(lambda bank: add_skill_text(bank, "units-skill", "Feet and miles."))
    with TestClient(gate_app(gate, hook_state=tmp_path / "state"), base_url="http://127.0.0.1:7345") as client:
        yield client


def test_a_prompt_gets_the_skill_once(hooks: TestClient) -> None:
    url = "/v1/hooks/claude-code?skill=units-skill"
    first = hooks.post(url, json=PROMPT)
    assert first.json()["hookSpecificOutput"]["additionalContext"] == "Feet and miles."
    assert hooks.post(url, json=PROMPT).json() == {}
    assert hooks.post(url, json={**PROMPT, "session_id": "s2", "prompt": "hi"}).json() == {}
    assert hooks.get("/v1/decisions").json()["decisions"][0]["source"] == "claude-code"


@pytest.mark.parametrize("event", [{}, {"hook_event_name": 7}, {"hook_event_name": "UserPromptSubmit", "prompt": {}}])
def test_an_odd_event_is_answered_with_nothing(hooks: TestClient, event: dict[str, Any]) -> None:
    answer = hooks.post("/v1/hooks/claude-code?skill=units-skill", json=event)
    assert (answer.status_code, answer.json()) == (200, {})


@pytest.mark.parametrize("path", ["/v1/hooks/nobody?skill=x", "/v1/hooks/claude-code", "/v1/hooks/acme"])
def test_what_cannot_be_answered_is_a_problem(hooks: TestClient, path: str) -> None:
    assert hooks.post(path, json=PROMPT).status_code in (404, 422)


def test_it_is_installed_with_a_warning_and_taken_back(skilldelta: Skilldelta, home: Path) -> None:  # noqa: F811
    before = tree(home)
    ran = skilldelta("install", "claude-code", "--http", "--skill", "units skill", "--yes")
    assert ran.code == 0, ran.err
    assert "nobody checks who answers" in ran.err
    hooks = json.loads((home / HOOKED["claude-code"]).read_text())["hooks"]
    assert list(hooks) == ["UserPromptSubmit", "PreToolUse", "SessionStart", "SessionEnd"]
    (hook,) = hooks["UserPromptSubmit"][0]["hooks"]
    assert hook["type"] == "http"
    assert hook["url"] == "http://127.0.0.1:7345/v1/hooks/claude-code?skill=units+skill"
    assert "nothing to do" in skilldelta("install", "claude-code", "--http", "--skill", "units skill", "--yes").err
    assert skilldelta("install", "claude-code", "--undo", "--yes").code == 0
    assert tree(home) == before


@pytest.mark.parametrize(
    "words",
    [
        ("codex", "--skill", "x"),
        ("pi", "--skill", "x"),
        ("claude-code", "--skill-file", "counting"),
        ("claude-code", "--all"),
    ],
)
def test_what_http_hooks_cannot_do_is_refused(
    skilldelta: Skilldelta,  # noqa: F811
    home: Path,  # noqa: F811
    words: tuple[str, ...],
) -> None:
    before = tree(home)
    ran = skilldelta("install", *words, "--http", "--yes")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert tree(home) == before
