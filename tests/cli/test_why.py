"""What a person sees of decisions in a harness: `why`, `record --last`, shadow mode and `log`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Skilldelta, pairs_file, toy_bank  # noqa: F401
from cli.test_install import HOOKED, commands, home  # noqa: F401
from skilldelta import open_bank


def prompt(*words: str, session: str = "s1") -> str:
    event = {"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": "convert seven miles to feet"}
    command = [
        sys.executable,
        "-m",
        "skilldelta",
        "hook",
        "claude-code",
        "--skill",
        "units-skill",
        "--ask",
        "bank",
        *words,
    ]
    done = subprocess.run(command, input=json.dumps(event), capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr == ""
    return done.stdout


def test_the_last_decision_is_explained_and_its_outcome_recorded(
    skilldelta: Skilldelta,
    home: Path,  # noqa: F811
    toy_bank: str,  # noqa: F811
) -> None:
    nothing = skilldelta("why")
    assert (nothing.code, len(nothing.err.splitlines())) == (2, 1)
    assert "no hook has decided anything yet" in nothing.err
    prompt("--bank", toy_bank)
    told = skilldelta("why")
    assert told.code == 0
    assert "claude-code:" in told.out
    assert "used units-skill (+" in told.out
    assert "[decision 1]" in told.out
    document: dict[str, Any] = json.loads(skilldelta("why", "--json").out)
    assert [row["skill"] for row in document["decisions"]] == ["units-skill"]
    recorded = skilldelta("record", "--last", "success", "--bank", toy_bank)
    assert recorded.code == 0, recorded.err
    with open_bank(home / toy_bank) as bank:
        (decision,) = bank.decisions()
    assert [outcome.success for outcome in decision.outcomes] == [1.0]


@pytest.mark.parametrize("words", [(), ("1", "--last", "success")])
def test_a_record_names_one_decision(
    skilldelta: Skilldelta,
    home: Path,  # noqa: F811
    toy_bank: str,  # noqa: F811
    words: tuple[str, ...],
) -> None:
    ran = skilldelta("record", *words, "--bank", toy_bank)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)


def test_shadow_mode_logs_what_it_would_have_done_and_changes_nothing(
    skilldelta: Skilldelta,
    home: Path,  # noqa: F811
    toy_bank: str,  # noqa: F811
) -> None:
    for session in ("a", "b"):
        assert prompt("--bank", toy_bank, "--shadow", session=session) == ""
    document = json.loads(skilldelta("log", "--shadow", "--bank", toy_bank, "--json").out)
    assert document["skills"] == [{"skill": "units-skill", "use": 2, "skip": 0, "abstain": 0}]
    assert json.loads(skilldelta("log", "--bank", toy_bank, "--json").out) == {"decisions": []}
    shown = skilldelta("log", "--shadow", "--bank", toy_bank)
    assert "would use" in shown.out
    assert prompt("--bank", toy_bank, session="a") != ""  # a conversation that was only watched is not decided
    assert "units-skill" in skilldelta("log", "--bank", toy_bank).out


def test_shadow_mode_is_installed(skilldelta: Skilldelta, home: Path, toy_bank: str) -> None:  # noqa: F811
    words = ("install", "claude-code", "--skill", "units-skill", "--bank", toy_bank, "--shadow", "--yes")
    assert skilldelta(*words).code == 0
    assert all(" --shadow" in command for command in commands(home / HOOKED["claude-code"]))


def test_the_status_line_tells_what_the_conversation_was_given(
    home: Path,  # noqa: F811
    toy_bank: str,  # noqa: F811
) -> None:
    def line(content: str) -> str:
        command = [sys.executable, "-m", "skilldelta", "why", "--status-line"]
        done = subprocess.run(command, input=content, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.strip()

    prompt("--bank", toy_bank)
    assert line(json.dumps({"session_id": "s1", "model": {}})).startswith("SkillDelta: used units-skill (+")
    for content in (json.dumps({"session_id": "another"}), "", "[]", "no JSON"):
        assert line(content) == ""
