"""Commands of a machine without a bank, which ask a server."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.conftest import Skilldelta
from serve.running_server import running
from skilldelta.server_proof import KEY_VARIABLE

QUESTION = "How many cans are in 3 pallets?"


@pytest.fixture
def served(
    skilldelta: Skilldelta, toy_bank: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, str]]:
    """A server's address, and a copy of its bank; this folder has none."""
    there = tmp_path / "server"
    there.mkdir()
    shutil.copy(toy_bank, there / "toy.bank")
    Path(toy_bank).unlink()
    key = skilldelta("token", "server-key")
    assert key.code == 0
    assert len(key.out.strip()) == 64
    with running(there / "toy.bank") as server:
        monkeypatch.setenv("SKILLDELTA_SERVER", server.url)
        yield server.url, str(there / "toy.bank")


def test_a_machine_without_a_bank_asks_predicts_records_and_looks(
    skilldelta: Skilldelta, served: tuple[str, str]
) -> None:
    url, bank = served
    question = ("predict", "--skill", "units-skill", QUESTION)
    here = json.loads(skilldelta(*question, "--bank", bank, "--json").out)
    there = json.loads(skilldelta(*question, "--json").out)
    assert there["action"] == here["action"]
    assert there["gain"] == pytest.approx(here["gain"], abs=1e-6)
    shown = skilldelta(*question, "--record", "--explain")
    assert shown.code == 0, shown.err
    assert f"answered by {url}" in shown.err
    assert "recorded as decision 1" in shown.err
    recorded = skilldelta("record", "1", "--success", "1", "--json")
    assert json.loads(recorded.out) == {"outcome_id": 1, "decision_id": 1, "new": True}
    assert "was recorded before" in skilldelta("record", "1", "--success", "1").out
    status = skilldelta("bank", "status")
    assert url in status.out
    assert "16 executions of 8 tasks" in status.out
    assert json.loads(skilldelta("bank", "status", "--json").out)["outcomes"] == 1
    assert skilldelta(*question, "--threshold", "0.9").out.startswith("Skip the skill")


def test_doctor_expects_no_bank_where_a_server_is_asked(skilldelta: Skilldelta, served: tuple[str, str]) -> None:
    checked = skilldelta("doctor", "--timeout", "20")
    assert checked.code == 0, checked.out
    assert "none on this machine; the server's is asked" in checked.out


def test_two_places_and_options_of_a_bank_are_refused(skilldelta: Skilldelta, toy_bank: str) -> None:
    both = skilldelta("bank", "status", "--bank", toy_bank, "--server", "http://127.0.0.1:1")
    assert both.code == 2
    assert "name one of them" in both.err
    words = ("predict", "--skill", "units-skill", QUESTION, "--server", "http://127.0.0.1:1")
    encoder = skilldelta(*words, "--encoder", "tfidf")
    assert encoder.code == 2
    assert "--encoder needs the bank itself" in encoder.err


def test_nothing_goes_to_another_machine_without_tls(
    skilldelta: Skilldelta, toy_bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    monkeypatch.setenv("SKILLDELTA_TOKEN", "skd_secret")
    monkeypatch.setenv("SKILLDELTA_SERVER", "http://192.0.2.1:7345")
    for words in (("bank", "status"), ("doctor",), ("record", "1", "--success", "1")):
        answered = skilldelta(*words)
        said = " ".join((answered.out + answered.err).split())
        assert answered.code != 0
        assert "sent neither a token nor a prompt" in said
        assert "skilldelta token server-key" in said
        assert "skd_secret" not in said
    assert skilldelta("bank", "status", "--bank", toy_bank).code == 0  # a bank that is named goes before the variable


def test_install_can_ask_the_server_alone(skilldelta: Skilldelta, tmp_path: Path) -> None:
    words = ("install", "claude-code", "--all", "--ask", "server", "--server", "https://gate.example.com", "--yes")
    installed = skilldelta(*words, "--scope", "project")
    assert installed.code == 0, installed.err
    entries = next((tmp_path / ".claude").glob("settings*.json")).read_text()
    assert "--ask server" in entries
    assert "--server https://gate.example.com" in entries
    assert "--bank" not in entries
