"""Shells complete the names that a bank holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def _completed(words: str, folder: Path, **variables: str) -> list[str]:
    """What bash is offered at the end of a line."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SKILLDELTA_")}
    environment |= {
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
        "_SKILLDELTA_COMPLETE": "bash_complete",
        **variables,
    }
    program = "from skilldelta.cli.main import main; main([])"
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    return [line.partition(",")[2] for line in ran.stdout.split()]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("skilldelta predict --bank {bank} --skill uni", ["units-skill"]),
        ("skilldelta log --bank {bank} --agent ", ["toy"]),
        ("skilldelta evaluate --bank {bank} --suite nothing", []),
        ("skilldelta predict --bank {bank}.missing --skill ", []),
        ("skilldelta predi", ["predict"]),
    ],
)
def test_names_come_from_the_bank(toy_bank: str, tmp_path: Path, words: str, names: list[str]) -> None:
    assert _completed(words.format(bank=toy_bank), tmp_path) == names


def test_the_bank_of_the_environment_and_of_the_project_is_the_one_that_is_meant(toy_bank: str, tmp_path: Path) -> None:
    skills = ["dates-skill", "units-skill"]
    assert _completed("skilldelta predict --skill ", tmp_path, SKILLDELTA_BANK=toy_bank) == skills
    (tmp_path / "skilldelta.toml").write_text(f"bank = {str(Path(toy_bank).absolute())!r}\n")
    assert _completed("skilldelta predict --skill ", tmp_path) == skills


def test_help_is_help_and_only_near_names_are_suggested(capfd: pytest.CaptureFixture[str]) -> None:
    from skilldelta.cli.main import run

    assert run(["help"]) == 0
    assert capfd.readouterr().out.startswith("Usage: skilldelta [OPTIONS] COMMAND")
    assert run(["help", "predict"]) == 0
    assert "skilldelta predict [OPTIONS]" in capfd.readouterr().out
    assert run(["predct"]) == 2
    assert capfd.readouterr().err == "error: unknown command 'predct'; did you mean predict?\n"
    assert run(["predict", "--skil", "x"]) == 2
    assert "--task-id" not in capfd.readouterr().err
