"""A small bank made through the command line, and a way to run commands that keeps stdout and stderr apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skilldelta.cli.main import run

QUESTIONS = {
    "units": [
        "convert three miles to metres",
        "convert two miles to feet",
        "convert nine yards to metres",
        "convert one inch to feet",
    ],
    "dates": [
        "what day follows friday",
        "what day precedes monday",
        "which month follows march",
        "which month precedes june",
    ],
}


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


Skilldelta = Callable[..., Ran]


@pytest.fixture
def skilldelta(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Skilldelta:
    """Run one command in an empty folder without inherited settings."""
    monkeypatch.chdir(tmp_path)
    for name in ("BANK", "AGENT", "THRESHOLD", "ENCODER", "SUITE"):
        monkeypatch.delenv(f"SKILLDELTA_{name}", raising=False)

    def invoke(*words: object) -> Ran:
        capsys.readouterr()
        code = run([str(word) for word in words])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return invoke


def pair_rows() -> list[dict[str, Any]]:
    """Eight tasks in two families: the units skill helps on three of four, the dates skill harms on two of four."""
    y0 = {"units": [0, 0, 0, 1], "dates": [1, 1, 0, 0]}
    y1 = {"units": [1, 1, 1, 1], "dates": [0, 0, 0, 0]}
    return [
        {
            "task_id": f"{family}-{i}",
            "text": text,
            "family": family,
            "skill": f"{family}-skill",
            "agent": "toy",
            "y0": [y0[family][i]],
            "y1": [y1[family][i]],
            "tokens0": [100],
            "tokens1": [150],
        }
        for family, texts in QUESTIONS.items()
        for i, text in enumerate(texts)
    ]


@pytest.fixture
def pairs_file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in pair_rows()))
    return path


@pytest.fixture
def toy_bank(skilldelta: Skilldelta, pairs_file: Path) -> str:
    assert skilldelta("import", pairs_file, "--bank", "toy.bank").code == 0
    return "toy.bank"
