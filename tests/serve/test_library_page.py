"""The library on the dashboard: the skills of this machine's harnesses, on the real server in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skilldelta.bank import Bank
from skilldelta.demo.bundled import bundled_batch

from .browser import running_browser, running_server, visiting

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with three skills of Claude Code, of which the demo has measured one, and one session."""
    for name in (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "GEMINI_CLI_HOME",
        "OPENCODE_CONFIG_DIR",
        "XDG_CONFIG_HOME",
        "DSH_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for name, description in (("warehouse-units", "Count cans."), ("poems", HOSTILE), ("poem-writing", HOSTILE)):
        folder = tmp_path / ".claude" / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: '{description}'\n---\n\nDo it.\n")
    sessions = tmp_path / ".claude" / "projects" / "p"
    sessions.mkdir(parents=True)
    (sessions / "s.jsonl").write_text('{"content": [{"name": "Skill", "input": {"skill": "poems"}}]}\n')
    return tmp_path


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    with Bank.open(tmp_path / "demo.bank", create=True) as bank:
        bank.add(bundled_batch())
    return tmp_path / "demo.bank"


def test_a_server_that_is_not_told_to_shows_no_folder(bank: Path) -> None:
    testclient = pytest.importorskip("fastapi.testclient", reason="the server needs the extra serve")
    from skilldelta.serve.gate_service import GateService, GateSettings
    from skilldelta.serve.http_api import gate_app

    app = gate_app(GateService.open(bank, GateSettings()))
    with testclient.TestClient(app, base_url="http://127.0.0.1") as client:
        assert client.get("/v1/dashboard/library").json() == {"is_shown": False, "libraries": []}


def test_the_page_shows_what_the_command_shows(home: Path, bank: Path) -> None:
    pytest.importorskip("uvicorn", reason="the server needs the extra serve")
    from skilldelta.cli.library import machine_libraries

    (library,) = machine_libraries([])
    assert [one["proposal"] for one in library["skills"]] == ["measure first"] * 3
    with running_browser() as browser, running_server(bank, libraries=machine_libraries) as address:
        with visiting(browser, address) as visitor:
            page = visitor.open("#/library")
            assert visitor.heading().startswith("3 skills, ")
            rows: Any = page.locator("tbody tr")
            assert rows.count() == 3
            text = page.locator("main").inner_text()
            assert "3 skills, " in text
            assert page.locator("tr", has_text="warehouse-units").locator(".chip").inner_text() == "keep"
            assert "poems" in text
            assert page.locator("a[href*='warehouse-units']").count() == 1
            assert visitor.overflow() <= 0
        with visiting(browser, address, width=390) as visitor:
            visitor.open("#/library")
            assert visitor.overflow() <= 0
            assert visitor.troubles == []
