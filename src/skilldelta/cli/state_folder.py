"""Where SkillDelta keeps what is the user's own: decisions of conversations, and what harnesses had before an installation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def state_folder(folder: str | None, environment: Mapping[str, str]) -> Path | None:
    """The folder that is named, else the one that the harness gives to its plugin, else the user's own."""
    if folder == "-":
        return None
    if folder:
        return Path(folder).expanduser()
    if environment.get("CLAUDE_PLUGIN_DATA"):
        return Path(environment["CLAUDE_PLUGIN_DATA"])
    home = environment.get("XDG_STATE_HOME") or environment.get("LOCALAPPDATA")
    try:
        return (Path(home) if home else Path.home() / ".local" / "state") / "skilldelta"
    except RuntimeError:  # no home
        return None
