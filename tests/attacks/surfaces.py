"""The files that hold attacks."""

from __future__ import annotations

import importlib
from pathlib import Path


def load_attacks() -> None:
    """Import every file of this folder whose name begins with `on_`, so that its attacks are registered."""
    for path in sorted(Path(__file__).parent.glob("on_*.py")):
        importlib.import_module(f"attacks.{path.stem}")
