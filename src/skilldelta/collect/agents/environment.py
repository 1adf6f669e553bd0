"""The variables of a command agent: the few that any program needs, and those that are named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skilldelta.errors import InputError

USUAL_VARIABLES = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "TMPDIR"),
    # Windows programs do not start, or do not find their settings, without these.
    *("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "APPDATA"),
    *("LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "USERNAME"),
)
"""Places and languages; no key is kept in any of them."""


def agent_environment(mine: Mapping[str, str], named: Sequence[str]) -> dict[str, str]:
    """The usual variables as far as they are set, and every named one; a named one that is not set is a mistake."""
    for name in named:
        if name not in mine:
            raise InputError(f"the variable {name!r} that the command is to get is not set; set it or do not name it")
    wanted = {*USUAL_VARIABLES, *named}
    return {name: value for name, value in mine.items() if name in wanted}
