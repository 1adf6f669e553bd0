"""The nearest skilldelta.toml upward: defaults of a project, under the flags and the environment.

Top-level keys serve every command; a table named like a command serves that command only. Keys are options without their
dashes: `encoder_url` or `encoder-url` for --encoder-url.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from skilldelta.errors import InputError, shown, unknown_name
from skilldelta.files import read_text
from skilldelta.settings_text import MOST_SETTINGS, toml_table

FILE_NAME = "skilldelta.toml"

SHARED_KEYS = (
    "bank",
    "agent",
    "suite",
    "encoder",
    "encoder_url",
    "encoder_model",
    "estimator",
    "k",
    "scope",
    "weighting",
    "threshold",
    "rule",
    "interval",
    "level",
    "familiarity_limit",
    "seed",
    "resamples",
    "fallback",
)


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """What a file says to one command, by option name."""

    path: Path
    values: Mapping[str, Any]
    own: frozenset[str]
    """Options that the command's own table sets."""
    command: str

    def defaults(self, command: click.Command) -> dict[str, Any]:
        """A default map for a command, or for each command of a group; an unknown key or an odd value is refused."""
        members = command.commands if isinstance(command, click.Group) else {"": command}
        known = {name for member in members.values() for name in _options(member)}
        for name in self.own - known:
            raise self._fault(unknown_name(f"setting of {self.command}", name, known))
        maps = {name: self._defaults_of(member) for name, member in members.items()}
        return maps if isinstance(command, click.Group) else maps[""]

    def place(self, name: str) -> str:
        """The file and the key that set an option."""
        return f"{self.path}: {f'{self.command}.' if name in self.own else ''}{name}"

    def _defaults_of(self, command: click.Command) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, option in _options(command).items():
            if name in self.values and option.name is not None:
                found[option.name] = self._checked(name, option)
        return found

    def _checked(self, name: str, option: click.Parameter) -> Any:
        """Click converts texts and numbers; what it would cut, or break on, is refused."""
        value = self.values[name]
        several = isinstance(value, list) and getattr(option, "multiple", False)
        for one in value if several else [value]:
            if not isinstance(one, str | int | float | bool):
                raise InputError(f"{self.place(name)}: must be one text or number, got {shown(value)}")
            if isinstance(option.type, click.types.IntParamType) and not _is_whole(one):
                raise InputError(f"{self.place(name)}: must be a whole number, got {shown(one)}")
        return value

    def _fault(self, error: InputError) -> InputError:
        return InputError(f"{self.path}: {error}")


def project_file(command: str, commands: Iterable[str], start: Path | None = None) -> ProjectFile | None:
    """What the nearest file says to one of the commands; None where there is no file."""
    path = _nearest(start or _here())
    if path is None:
        return None
    settings = _read(path)
    shared = {_name(key): value for key, value in settings.items() if not isinstance(value, dict)}
    tables = {key: value for key, value in settings.items() if isinstance(value, dict)}
    for known, kind, keys in ((SHARED_KEYS, "setting", shared), (tuple(commands), "command", tables)):
        for key in keys:
            if key not in known:
                raise InputError(f"{path}: {unknown_name(kind, key, known)}")
    own = {_name(key): value for key, value in tables.get(command, {}).items()}
    return ProjectFile(path, _relative_to(path, shared | own), frozenset(own), command)


def option_name(option: click.Parameter) -> str:
    """An option as files write it: `encoder_url`."""
    return _name(max(option.opts, key=len).lstrip("-"))


def _options(command: click.Command) -> dict[str, click.Parameter]:
    return {option_name(one): one for one in command.params if isinstance(one, click.Option)}


def _name(key: str) -> str:
    return key.replace("-", "_")


def _is_whole(value: str | int | float | bool) -> bool:
    """Click would cut 2.5 to 2, take true for 1, and break on infinity."""
    return isinstance(value, str) or (not isinstance(value, bool) and math.isfinite(value) and value == int(value))


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise InputError("the current folder has been removed; change to one that exists") from None


def _nearest(folder: Path) -> Path | None:
    places = (place / FILE_NAME for place in (folder, *folder.parents))
    return next((path for path in places if path.is_file()), None)


def _read(path: Path) -> dict[str, Any]:
    return toml_table(read_text(path, most=MOST_SETTINGS), str(path))


def _relative_to(path: Path, values: dict[str, Any]) -> dict[str, Any]:
    """A bank's path is meant from the file's folder."""
    bank = values.get("bank")
    is_path = isinstance(bank, str) and "://" not in bank
    return {**values, "bank": str(path.parent / str(bank))} if is_path else values
