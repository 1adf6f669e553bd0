"""Canaries in the environment, in addresses and in commands, looked for in everything that comes out of real processes."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from collect.endpoint import serving
from collect.suites import solve, write_suite

KEY, PASSWORD, OTHER, ARGUMENT = "canary-key-1111", "canary-password-2222", "canary-other-3333", "canary-argument-4444"
NAMED = ("--key-variable", "OPENAI_API_KEY")
CANARIES = (KEY, PASSWORD, OTHER, ARGUMENT)


class Place:
    """A folder in which commands run as a person would run them, with everything they print kept."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.printed: list[str] = []

    def run(self, *words: object) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "OPENAI_API_KEY": KEY, "AGENT_SETTING": OTHER, "PYTHONWARNINGS": "default"}
        command = [sys.executable, "-m", "skilldelta", *map(str, words)]
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=120, errors="replace"
        )
        self.printed += [done.stdout, done.stderr]
        assert "Traceback" not in done.stderr
        return done

    def leaks(self) -> Iterator[str]:
        for text in self.printed:
            yield from (f"printed: {text}" for canary in CANARIES if canary in text)
        for path in self.folder.rglob("*"):
            if path.is_file() and path.suffix != ".sh":
                content = path.read_bytes()
                yield from (f"{path.name} holds {canary}" for canary in CANARIES if canary.encode() in content)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    write_suite(tmp_path / "suite", tasks=2)
    return Place(tmp_path)


def echoing(request: dict[str, Any]) -> str:
    """A server that repeats the key it was given in its answer."""
    return f"{solve(request)} (authorised by {KEY})"


def test_a_key_that_a_server_repeats_reaches_no_transcript_log_or_screen(place: Place) -> None:
    with serving(echoing) as endpoint:
        address = endpoint.url.replace("127.0.0.1", f"user:{PASSWORD}@127.0.0.1")
        for url in (endpoint.url, address):
            words = ["collect", "suite", "--bank", "b.bank", "--model", "m", "--base-url", url, *NAMED]
            place.run(*words, "--dry-run")
            place.run(*words, "--json")
        assert any(headers.get("authorization") == f"Bearer {KEY}" for headers in endpoint.headers)
        assert endpoint.bodies
    assert list(place.leaks()) == []


def test_a_key_in_an_error_of_the_server_reaches_nobody(place: Place) -> None:
    with serving(lambda _: (401, json.dumps({"error": {"message": f"bad key {KEY}"}}).encode())) as endpoint:
        done = place.run("collect", "suite", "--bank", "b.bank", "--model", "m", "--base-url", endpoint.url, *NAMED)
    assert done.returncode
    assert list(place.leaks()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="the agent is a shell script")
def test_what_a_command_agent_is_given_and_prints_stays_out_of_manifest_and_transcript(place: Place) -> None:
    script = place.folder / "agent.sh"
    script.write_text('#!/bin/sh\necho "$AGENT_SETTING and $2 and $OPENAI_API_KEY"\n')
    script.chmod(0o755)
    command = f"./agent.sh --api-key {ARGUMENT}"
    done = place.run("collect", "suite", "--bank", "b.bank", "--command", command, "--pass-env", "AGENT_SETTING")
    assert done.returncode == 0, done.stderr
    kept = [path for path in place.folder.rglob("*.jsonl") if path.parent.name != "suite"]
    assert any("***" in path.read_text() for path in kept)
    assert list(place.leaks()) == []


def test_a_password_of_a_bank_reaches_no_output(place: Place, tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text(
        json.dumps({"task_id": "t", "text": "x", "skill": "s", "agent": "a", "y0": [0], "y1": [1]}) + "\n"
    )
    by_name, by_query = f"postgresql://me:{PASSWORD}@127.0.0.1:1/db", f"postgresql://127.0.0.1:1/db?password={PASSWORD}"
    for url, words in (
        (by_name, ["import", "pairs.jsonl"]),
        (by_query, ["bank", "status"]),
        (by_name, ["bank", "verify", "--json"]),
        (by_query, ["collect", "suite", "--model", "m", "--base-url", "http://127.0.0.1:1"]),
        (f"postgresql://me:{PASSWORD}@127.0.0.1:notaport/db", ["predict", "--skill", "s", "text"]),
        (f"nonsense://me:{PASSWORD}@host/db", ["import", "pairs.jsonl"]),
    ):
        assert place.run(*words, "--bank", url).returncode == 2
    assert list(place.leaks()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_what_a_collection_keeps_is_for_its_owner_alone(place: Place) -> None:
    with serving(solve) as endpoint:
        done = place.run("collect", "suite", "--bank", "b.bank", "--model", "m", "--base-url", endpoint.url)
    assert done.returncode == 0
    kept = [path for path in place.folder.rglob("b.bank*") if path.is_file()]
    kept += [path for path in (place.folder / "b.bank.collect").rglob("*") if path.is_file()]
    assert len(kept) > 3
    assert {path.name: stat.S_IMODE(path.stat().st_mode) & 0o077 for path in kept} == dict.fromkeys(
        (path.name for path in kept), 0
    )
