"""The service started by the system: a systemd user unit, and a launchd property list. No secret goes into either."""

from __future__ import annotations

import plistlib
from collections.abc import Sequence
from pathlib import Path

from skilldelta.errors import InputError
from skilldelta.files import read_text, write_text
from skilldelta.redaction import redacted

UNIT = "skilldelta.service"
LABEL = "skilldelta.serve"
_TITLE = "# Written by `skilldelta serve --install`; run it again to change it."


def systemd_unit(words: Sequence[str]) -> str:
    """The unit that runs a command."""
    _check(words)
    return "\n".join(
        (
            _TITLE,
            "[Unit]",
            "Description=SkillDelta: will this skill help on this task?",
            "",
            "[Service]",
            f"ExecStart={' '.join(_quoted(word) for word in words)}",
            "# Keys of an encoder's endpoint, if one is used: SKILLDELTA_ENCODER_KEY=…",
            "EnvironmentFile=-%h/.config/skilldelta/environment",
            "Restart=on-failure",
            "NoNewPrivileges=true",
            "UMask=0077",
            "",
            "[Install]",
            "WantedBy=default.target",
            "",
        )
    )


def write_unit(folder: Path, words: Sequence[str]) -> Path:
    """Write the unit; one that somebody else wrote is left alone."""
    path = folder / UNIT
    if path.exists() and not read_text(path).startswith(_TITLE):
        raise InputError(f"{path} was not written by skilldelta; move it away first")
    folder.mkdir(parents=True, exist_ok=True)
    write_text(path, systemd_unit(words), private=True)
    return path


def launchd_plist(words: Sequence[str], log: Path) -> str:
    """The property list that runs a command on macOS."""
    _check(words)
    settings = {
        "Label": LABEL,
        "ProgramArguments": list(words),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "StandardErrorPath": str(log),
        "Umask": 0o077,
    }
    return plistlib.dumps(settings).decode()


def _check(words: Sequence[str]) -> None:
    for word in words:
        if redacted(word) != word:
            raise InputError(
                f"{redacted(word)} holds a secret, which a service file must not; "
                "leave it out, and set SKILLDELTA_BANK in ~/.config/skilldelta/environment"
            )
        if not word.isprintable():
            raise InputError(f"{word!r} cannot stand in a service file; rename it")


def _quoted(word: str) -> str:
    """A word as systemd reads it: no specifier, no variable, one argument."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'
