"""Output to a stream that lacks characters, such as a pipe on Windows."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from skilldelta.cli.plain_characters import has_every_character, spell_out


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
