"""The import rule as it is checked: the layers of `[tool.importlinter]` in pyproject.toml, as Markdown."""

from __future__ import annotations

import tomllib
from pathlib import Path

_PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def import_layers() -> str:
    """One row for each layer, highest first."""
    contracts = tomllib.loads(_PROJECT.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    rows = [f"| {', '.join(f'`{name.strip()}`' for name in layer.split('|'))} |" for layer in layers]
    return "\n".join(["| a layer imports from those below it only |", "|---|", *rows, ""])
