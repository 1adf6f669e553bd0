"""The tutorial names every environment variable that is read, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from skilldelta.gate_settings import GATE_SETTINGS

ROOT = Path(__file__).parents[2]
VARIABLE = re.compile(r"SKILLDELTA_[A-Z_]*[A-Z]")


def test_the_tutorial_lists_the_variables_of_the_command_line() -> None:
    sources = (ROOT / "src/skilldelta/cli").glob("*.py")
    read = {name for source in sources for name in VARIABLE.findall(source.read_text(encoding="utf-8"))}
    read |= {setting.variable for setting in GATE_SETTINGS if setting.name == "threshold"}  # the example of all of them
    section = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8").split("Settings that stay")[1]
    assert set(VARIABLE.findall(section)) == read
