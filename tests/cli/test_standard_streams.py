"""Standard input, output and errors, whatever a command was started with."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

import skilldelta as skilldelta_package
from cli.conftest import Skilldelta
from skilldelta.cli.output import has_every_character, spell_out

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


def written(encoding: str, text: str) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    spell_out(stream)
    stream.write(text)
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_what_an_encoding_lacks_is_replaced_by_something_as_wide_or_spelled_out() -> None:
    assert written("ascii", "0% → 100%, -1…2 – ×") == "0% > 100%, -1~2 - x"
    assert written("cp1252", "0% → 100%, -1…2") == "0% > 100%, -1…2"
    assert written("ascii", "中") == "\\u4e2d"
    assert written("utf-8", "→ 中") == "→ 中"


def test_a_stream_of_ones_own_is_left_alone() -> None:
    stream = io.StringIO()
    spell_out(stream)
    assert has_every_character(stream)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437"])
def test_a_prediction_reaches_a_pipe_of_any_encoding(toy_bank: str, encoding: str) -> None:
    asked = ["predict", "--bank", toy_bank, "--skill", "units-skill", "convert four miles → metres"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "80"}
    for words in (asked, [*asked, "--json"]):
        command = [sys.executable, "-m", "skilldelta", *words]
        ran = subprocess.run(command, capture_output=True, env=environment, timeout=120, check=False)
        assert (ran.returncode, ran.stderr) == (0, b"")
        assert ran.stdout.decode("utf-8" if encoding == "ascii" else encoding)


def test_a_reader_that_goes_away_is_no_error(toy_bank: str) -> None:
    """`skilldelta bank list | head -1` under `set -o pipefail`."""
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "skilldelta", "bank", "list", "--bank", toy_bank]
    ran = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=120, check=False)
    os.close(writer)

    assert (ran.returncode, ran.stderr) == (0, b"")
