from __future__ import annotations

import subprocess
import sys

import pytest

from cli.conftest import Skilldelta
from skilldelta.cli.main import COMMANDS
from skilldelta.version import __version__


def test_help_lists_every_command(skilldelta: Skilldelta) -> None:
    ran = skilldelta("--help")
    assert ran.code == 0
    assert all(name in ran.out for name in COMMANDS)


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_help(skilldelta: Skilldelta, name: str) -> None:
    ran = skilldelta(name, "--help")
    assert ran.code == 0
    assert "Usage: skilldelta" in ran.out


def test_the_version_is_the_packages(skilldelta: Skilldelta) -> None:
    assert __version__ in skilldelta("--version").out


def test_an_unknown_command_names_the_nearest(skilldelta: Skilldelta) -> None:
    ran = skilldelta("predct")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "predict" in ran.err


def test_an_unknown_option_is_one_line(skilldelta: Skilldelta) -> None:
    ran = skilldelta("predict", "--frobnicate")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "--frobnicate" in ran.err


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from skilldelta.cli.main import run; run(['--help']); print([m for m in ('numpy', 'rich', 'sqlalchemy', 'sklearn') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
