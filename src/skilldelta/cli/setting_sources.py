"""Where settings come from: flags, then the environment, then the nearest skilldelta.toml upward; and their checks.

In the file, top-level keys serve every command; a table named like a command serves that command only. Keys are options
without their dashes: `encoder_url` or `encoder-url` for --encoder-url. An error about a value that no flag gave names
the variable or the file that did.

Before a command starts, its texts must be Unicode, and its outputs must be harmless. A command declares an output as
`OutputPath()`. Everything else that it takes as a path counts as read, and so do the bank and the settings file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from skilldelta.cli.settings import OutputPath, can_be_named
from skilldelta.errors import InputError, SkillDeltaError, shown, unknown_name
from skilldelta.files import check_destination, read_text
from skilldelta.gate_settings import GATE_SETTINGS, SETTING
from skilldelta.output_guard import guard_output
from skilldelta.settings_text import MOST_SETTINGS, toml_table

FILE_NAME = "skilldelta.toml"

SHARED_KEYS = (
    "bank",
    "agent",
    "suite",
    "encoder",
    "encoder_url",
    "encoder_model",
    "gate",
    *(setting.name for setting in GATE_SETTINGS if setting.name != "paper"),
    "seed",
    "resamples",
    "fallback",
)

# Files may hold larger numbers, which break on their way to a float.
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """What a file says to one command, by option name."""

    path: Path
    values: Mapping[str, Any]
    own: frozenset[str]
    """Options that the command's own table sets."""
    command: str
    gates: Mapping[str, Mapping[str, Any]]
    """The settings of named gates."""

    def defaults(self, command: click.Command) -> dict[str, Any]:
        """A default map for a command, or for each command of a group; an unknown key or an odd value is refused."""
        members = command.commands if isinstance(command, click.Group) else {"": command}
        option_names = {name for member in members.values() for name in _options(member)}
        for name in self.own - option_names:
            raise InputError(f"{self.path}: {unknown_name(f'setting of {self.command}', name, option_names)}")
        maps = {name: self._defaults_of(member) for name, member in members.items()}
        return maps if isinstance(command, click.Group) else maps[""]

    def place(self, name: str) -> str:
        """The file and the key that set an option."""
        return f"{self.path}: {f'{self.command}.' if name in self.own else ''}{name}"

    def _defaults_of(self, command: click.Command) -> dict[str, Any]:
        defaults: dict[str, Any] = {}
        for name, option in _options(command).items():
            if name in self.values and option.name is not None:
                defaults[option.name] = self._checked(name, option)
        return defaults

    def _checked(self, name: str, option: click.Parameter) -> Any:
        """Click converts texts and numbers; what it would cut, or break on, is refused."""
        value = self.values[name]
        several = isinstance(value, list) and getattr(option, "multiple", False)
        for item in value if several else [value]:
            if not isinstance(item, str | int | float | bool):
                raise InputError(f"{self.place(name)}: must be one text or number, got {shown(value)}")
            if isinstance(item, int) and not -_LARGEST <= item <= _LARGEST:
                raise InputError(f"{self.place(name)}: is too large a number for any setting")
            if isinstance(option.type, click.types.IntParamType) and not _is_whole(item):
                raise InputError(f"{self.place(name)}: must be a whole number, got {shown(item)}")
        return value


def project_file(command: str, commands: Iterable[str] | None, start: Path | None = None) -> ProjectFile | None:
    """What the nearest file says to one of the commands; None where there is no file.

    Without `commands`, tables of other commands are not looked at.
    """
    path = _nearest(start or _here())
    if path is None:
        return None
    settings = toml_table(read_text(path, most=MOST_SETTINGS), str(path))
    shared = {_name(key): value for key, value in settings.items() if not isinstance(value, dict)}
    tables = {key: value for key, value in settings.items() if isinstance(value, dict)}
    gates = _gates(path, tables.pop("gates", {}))
    names = tuple(tables) if commands is None else tuple(commands)
    for names_of_kind, kind, keys in ((SHARED_KEYS, "setting", shared), (names, "command", tables)):
        for key in keys:
            if key not in names_of_kind:
                raise InputError(f"{path}: {unknown_name(kind, key, names_of_kind)}")
    own = {_name(key): value for key, value in tables.get(command, {}).items()}
    return ProjectFile(path, _relative_to(path, shared | own), frozenset(own), command, gates)


def _gates(path: Path, tables: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """[gates.NAME] by name; the keys are the settings of a gate."""
    gates = {}
    for name, table in tables.items():
        if not isinstance(table, dict):
            raise InputError(f"{path}: gates.{name} must be a table, [gates.{name}], got {shown(table)}")
        gates[name] = {_name(key): value for key, value in table.items()}
        for key, value in gates[name].items():
            if key not in SETTING:
                raise InputError(f"{path}: gates.{name}: {unknown_name('setting of a gate', key, SETTING)}")
            setting = SETTING[key]
            kinds = (int, float) if setting.kind is float else (setting.kind,)
            if not isinstance(value, kinds) or (isinstance(value, bool) and setting.kind is not bool):
                raise InputError(f"{path}: gates.{name}.{key} must be a {_KINDS[setting.kind]}, got {shown(value)}")
    return gates


_KINDS = {str: "text", int: "whole number", float: "number", bool: "true or false"}


def named_gates(ctx: click.Context) -> Mapping[str, Mapping[str, Any]]:
    """The named gates of the nearest file; none where there is no file."""
    file: ProjectFile | None = ctx.meta.get(_FILE)
    return {} if file is None else file.gates


def option_name(option: click.Parameter) -> str:
    """An option as files write it: `encoder_url`."""
    return _name(max(option.opts, key=len).lstrip("-"))


def _options(command: click.Command) -> dict[str, click.Parameter]:
    return {option_name(param): param for param in command.params if isinstance(param, click.Option)}


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


def _relative_to(path: Path, values: dict[str, Any]) -> dict[str, Any]:
    """A bank's path is meant from the file's folder."""
    bank = values.get("bank")
    is_path = isinstance(bank, str) and "://" not in bank
    return {**values, "bank": str(path.parent / str(bank))} if is_path else values


_FILE = "skilldelta.project_file"
_RUNNING = "skilldelta.running"


class TracedContext(click.Context):
    """A command's context that can be found after the command has failed: contexts of one call share their `meta`."""

    def __init__(self, *words: Any, **options: Any) -> None:
        super().__init__(*words, **options)
        self.meta[_RUNNING] = self

    def invoke(self, callback: Any, /, *words: Any, **options: Any) -> Any:
        """Start the command once its values are known to be texts, and its outputs to be harmless."""
        if callback is self.command.callback:
            check_texts(self)
            guard_outputs(self, self.meta.get(_FILE))
        return super().invoke(callback, *words, **options)


def trace(command: click.Command) -> click.Command:
    """Let a command, and the commands of a group, run in contexts that can be found."""
    command.context_class = TracedContext
    for member in command.commands.values() if isinstance(command, click.Group) else ():
        member.context_class = TracedContext
    return command


def take_project_file(ctx: click.Context, name: str, command: click.Command, commands: Iterable[str]) -> None:
    """Let the nearest file give defaults to a command of this call, and keep it for `with_source`."""
    file = project_file(name, commands)
    if file is not None:
        ctx.meta[_FILE] = file
        ctx.default_map = {name: file.defaults(command)}


def with_source(error: click.BadParameter | SkillDeltaError, ctx: click.Context) -> Exception:
    """The error with the variable or the file behind its value; the same error where a flag is, or nothing is known."""
    if isinstance(error, click.BadParameter):
        source = _source(error.ctx, error.param) if error.ctx and error.param else ""
        return InputError(f"{source}: {error.message}") if source else error
    running: click.Context | None = ctx.meta.get(_RUNNING)
    for param in running.command.params if running and error.setting else ():
        source = _source(running, param) if running and option_name(param) == error.setting else ""
        if source:
            return InputError(f"{source}: {error}")
    return error


def _source(ctx: click.Context, param: click.Parameter) -> str:
    """`SKILLDELTA_BANK`, or `…/skilldelta.toml: bank`; empty for flags and for defaults of ours."""
    source = ctx.get_parameter_source(param.name or "")
    if source is ParameterSource.ENVIRONMENT:
        names = [param.envvar] if isinstance(param.envvar, str) else param.envvar or ()
        return next((name for name in names if os.environ.get(name)), "")
    file: ProjectFile | None = ctx.meta.get(_FILE)
    return file.place(option_name(param)) if file and source is ParameterSource.DEFAULT_MAP else ""


def check_texts(ctx: click.Context) -> None:
    """Refuse values that are not Unicode text, which no bank holds, and nan for a range; file names may have any bytes."""
    for param in ctx.command.params:
        value = ctx.params.get(param.name or "")
        for text in value if isinstance(value, tuple) else (value,):
            if isinstance(text, str):
                _check_text(param, text)
            elif isinstance(text, float) and math.isnan(text) and isinstance(param.type, click.FloatRange):
                # It is in no range, and click takes it for one within: every comparison with it is false.
                raise click.BadParameter("nan is not a number; give one", ctx, param)


def _check_text(param: click.Parameter, text: str) -> None:
    if param.name == "bank":
        if not can_be_named(text):
            raise InputError(f"--bank: {shown(text)} cannot be the name of a file; give a path or postgresql://…")
        return
    try:
        text.encode()
    except UnicodeEncodeError:
        name = max(param.opts, key=len) if isinstance(param, click.Option) else param.human_readable_name
        raise InputError(f"{name}: {shown(text)} is not UTF-8 text; write it in UTF-8") from None


def guard_outputs(ctx: click.Context, settings_file: ProjectFile | None) -> None:
    """Refuse outputs over a bank, a suite, or anything that this command reads; two outputs need two files."""
    read = [path for param, path in _paths(ctx) if not isinstance(param.type, OutputPath)]
    read += [settings_file.path] if settings_file else []
    bank, written = _bank_file(ctx.params.get("bank")), list[Path]()
    for param, path in _paths(ctx):
        if isinstance(param.type, OutputPath):
            guard_output(path, read=read, bank=bank, folder=param.type.folder)
            if not param.type.folder:
                _check_file(path, written)
            written.append(path)


def _check_file(path: Path, written: list[Path]) -> None:
    """What would stop the writing stops the command before minutes of work."""
    check_destination(path)
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: the folder {path.parent} does not exist; make it first")
    if path in written:
        raise InputError(f"two outputs name {path}; give each a file of its own")


def _paths(ctx: click.Context) -> Iterator[tuple[click.Parameter, Path]]:
    for param in ctx.command.params:
        if isinstance(param.type, click.Path) and param.name != "bank":
            value = ctx.params.get(param.name or "")
            yield from ((param, Path(path)) for path in (value if isinstance(value, tuple) else (value,)) if path)


def _bank_file(bank: Any) -> Path | None:
    """The file of a SQLite bank, given as a path or a URL; a bank on a server has none."""
    if not bank:
        return None
    scheme, separator, rest = str(bank).partition("://")
    if not separator:
        return Path(scheme).expanduser()
    return Path(rest.removeprefix("/").partition("?")[0]) if scheme.startswith("sqlite") else None
