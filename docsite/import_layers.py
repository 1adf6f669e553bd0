"""The import rule as it is checked: the layers of `[tool.importlinter]` in pyproject.toml, drawn as a box.

The same drawing stands in docs/architecture.md, where a code host shows it; a test compares them.
"""

from __future__ import annotations

import textwrap
import tomllib
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
# Characters between the walls of the box.
_WIDTH = 96


def import_layers() -> str:
    """One compartment for each layer, highest first, as a fenced block of Markdown."""
    contracts = tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    line = "─" * (_WIDTH + 2)
    drawing = []
    for layer in layers:
        names = ", ".join(name.strip() for name in layer.split("|"))
        drawing.append(f"├{line}┤")
        drawing += [f"│ {row:<{_WIDTH}} │" for row in textwrap.wrap(names, _WIDTH)]
    drawing[0] = f"┌{line}┐"
    return "\n".join(["```text", *drawing, f"└{line}┘", "```", ""])
