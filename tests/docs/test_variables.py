"""The tutorial names every environment variable that is read, and no other."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
VARIABLE = re.compile(r"SKILLDELTA_[A-Z_]*[A-Z]")


def test_the_tutorial_lists_the_variables_of_the_command_line() -> None:
    sources = (ROOT / "src/skilldelta/cli").glob("*.py")
    read = {name for source in sources for name in VARIABLE.findall(source.read_text(encoding="utf-8"))}
    section = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8").split("Settings that stay")[1]
    assert set(VARIABLE.findall(section)) == read
