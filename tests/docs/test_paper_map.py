"""The paper map names only what exists."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from skilldelta.cli.main import COMMANDS

_MAP = (Path(__file__).resolve().parents[2] / "docs" / "paper-map.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(skilldelta\.[\w.]+)`", _MAP))))
def test_a_name_in_the_paper_map_can_be_imported(name: str) -> None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute)


def test_a_command_in_the_paper_map_exists() -> None:
    rows = [line for line in _MAP.splitlines() if line.startswith("|")]
    commands = [re.findall(r"`(\w+)[^`]*`", line.split("|")[3]) for line in rows]
    assert {name for found in commands for name in found} <= set(COMMANDS)
