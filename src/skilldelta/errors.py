"""The few exceptions of SkillDelta.

Every message names the value that was wrong and what to do about it. The command line prints the message as one line and
exits with code 2; libraries catch `SkillDeltaError`.
"""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Iterable


class SkillDeltaError(Exception):
    """Anything a user can fix: the message is one line for people."""

    def __init__(self, message: str = "", *, setting: str = "") -> None:
        """`setting` names the option whose value is at fault, so that the command line can say where it was set."""
        super().__init__(message)
        self.setting = setting


class InputError(SkillDeltaError, ValueError):
    """A value, a file or a row that cannot be taken as it is."""


class BankError(SkillDeltaError):
    """The bank cannot be opened, read or written."""


class UnwritableBankError(BankError):
    """The bank can perhaps be read, but nothing can be stored in it."""


class DamagedBankError(BankError):
    """The bank's file, or a row in it, is no longer what was stored."""


class ReplacedBankError(BankError):
    """Another file has taken the place of the open bank, or none is there; opening it again may help."""


class NotRecordedError(InputError):
    """A decision that is asked about by its id, and that the log does not have."""


class ConflictError(InputError):
    """A record that contradicts one that is kept under the same key."""


class BankWarning(UserWarning):
    """The bank is shown, but something about it should be known: one line for people."""


class MissingExtraError(SkillDeltaError, ImportError):
    """A capability whose optional packages are not installed."""

    def __init__(self, capability: str, extra: str) -> None:
        packages = " ".join(f"'{package}'" for package in _packages_of(extra))
        super().__init__(f"{capability} needs the extra {extra}; install it with: pip install {packages}")


def _packages_of(extra: str) -> list[str]:
    """What an extra brings, as installers take it: that works wherever SkillDelta itself came from."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        lines = requires("skilldelta") or []
    except PackageNotFoundError:
        lines = []
    mark = re.compile(rf"""extra\s*==\s*["']{re.escape(extra)}["']""")
    return [line.partition(";")[0].strip() for line in lines if mark.search(line)] or [f"skilldelta[{extra}]"]


# Names in a message where none is near.
_NAMED = 5
# How alike two names are where one may be meant for the other: a slip or two, not another word. A slip in a name of two or
# three letters is half of it.
_NEAR, _NEAR_IF_SHORT, _SHORT_NAME = 0.65, 0.5, 3


def unknown_name(kind: str, name: str, known: Iterable[str], *, setting: str = "") -> InputError:
    """An error for a name that does not exist, naming those that do, the nearest first; the setting is called like the kind."""
    names = sorted(set(known))
    near = difflib.get_close_matches(name, names, n=3, cutoff=_NEAR if len(name) > _SHORT_NAME else _NEAR_IF_SHORT)
    if len(name) >= _SHORT_NAME:
        near = near or [known_name for known_name in names if name.lower() in known_name.lower()][:3]
    if not names:
        remedy = ": the bank has none yet; import or collect executions first"
    elif near:
        remedy = f"; did you mean {', '.join(near)}?"
    elif len(names) == 1:
        remedy = f"; the only one is {names[0]}"
    else:
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        remedy = f"; choose one of {', '.join(names[:_NAMED])}{more}"
    return InputError(f"unknown {kind} {shown(name)}{remedy}", setting=setting or kind)


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


def shown(value: object) -> str:
    """A value for a message: one line, and never long, whatever it holds."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a number of thousands of digits"
