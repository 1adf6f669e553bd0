"""Commands whose standard streams are closed, full, or hold anything but text."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import skilldelta as skilldelta_package
from cli.conftest import Skilldelta

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows gives a process its three streams")


def closed(words: str, streams: str) -> subprocess.CompletedProcess[str]:
    """One command in a shell that closes streams, such as `<&-`."""
    line = f'"{sys.executable}" -m skilldelta {words} {streams}'
    environment = {**os.environ, "PYTHONPATH": str(Path(skilldelta_package.__file__).parents[1])}
    return subprocess.run(line, shell=True, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("predict --bank toy.bank --skill units-skill -", 2, "empty"),
        ("import - --bank new.bank", 2, "empty"),
        ("bank forget --bank toy.bank --skill units-skill", 2, "--yes"),
    ],
)
def test_a_closed_stdin_is_an_empty_one(toy_bank: str, words: str, code: int, told: str) -> None:
    ran = closed(words, "<&-")
    assert (ran.returncode, len(ran.stderr.splitlines())) == (code, 1)
    assert told in ran.stderr


def test_a_closed_stdout_swallows_the_answer_and_never_reaches_the_bank(skilldelta: Skilldelta, toy_bank: str) -> None:
    ran = closed("bank list --bank toy.bank", ">&-")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert closed("predict --bank toy.bank --skill units-skill x", "<&- >&- 2>&-").returncode == 0
    assert skilldelta("bank", "verify", "--bank", toy_bank).code == 0


def test_bytes_on_stdin_are_called_what_they_are(
    skilldelta: Skilldelta, toy_bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe\x00"), encoding="utf-8"))
    ran = skilldelta("predict", "--bank", toy_bank, "--skill", "units-skill", "-")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "UTF-8" in ran.err
