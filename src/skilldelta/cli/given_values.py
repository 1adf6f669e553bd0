"""Values that a command is given, checked before it starts: paths, texts, and the files that it will write.

A command declares its output as `OutputPath()`. Everything else that it takes as a path counts as read, and so do the
bank and the settings file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.errors import InputError, shown
from skilldelta.files import check_destination
from skilldelta.output_guard import guard_output

if TYPE_CHECKING:
    from skilldelta.cli.setting_sources import ProjectFile


class GivenPath(click.Path):
    """The path of a file or folder. Python takes an empty one, such as an unset variable of a shell, for this folder."""

    def __init__(self, *, file_okay: bool = True, dir_okay: bool = True) -> None:
        super().__init__(file_okay=file_okay, dir_okay=dir_okay, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A `Path`, which may or may not exist."""
        fault = _fault_of_path(os.fspath(value))
        if fault:
            self.fail(f"{shown(str(value))} {fault}", param, ctx)
        return super().convert(value, param, ctx)


def check_texts(ctx: click.Context) -> None:
    """Refuse values that are not Unicode text, which no bank holds, and nan for a range; file names may have any bytes."""
    for param in ctx.command.params:
        value = ctx.params.get(param.name or "")
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, str):
                _check_text(param, one)
            elif isinstance(one, float) and math.isnan(one) and isinstance(param.type, click.FloatRange):
                # It is in no range, and click takes it for one within: every comparison with it is false.
                raise click.BadParameter("nan is not a number; give one", ctx, param)


def _check_text(param: click.Parameter, text: str) -> None:
    if param.name == "bank":
        if not _can_be_named(text):
            raise InputError(f"--bank: {shown(text)} cannot be the name of a file; give a path or postgresql://…")
        return
    try:
        text.encode()
    except UnicodeEncodeError:
        name = max(param.opts, key=len) if isinstance(param, click.Option) else param.human_readable_name
        raise InputError(f"{name}: {shown(text)} is not UTF-8 text; write it in UTF-8") from None


def _fault_of_path(text: str) -> str:
    if not text:
        return "is an empty path; name a file or a folder"
    if "://" in text:
        return "is a URL; name a file or a folder on this machine"
    return "" if _can_be_named(text) else "cannot be the name of a file; check the path"


def _can_be_named(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


class OutputPath(GivenPath):
    """A file that the command writes, or a folder that it writes files into."""

    def __init__(self, *, folder: bool = False) -> None:
        super().__init__(file_okay=not folder, dir_okay=folder)
        self.folder = folder


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
            yield from ((param, Path(one)) for one in (value if isinstance(value, tuple) else (value,)) if one)


def _bank_file(bank: Any) -> Path | None:
    """The file of a SQLite bank, given as a path or a URL; a bank on a server has none."""
    if not bank:
        return None
    scheme, separator, rest = str(bank).partition("://")
    if not separator:
        return Path(scheme).expanduser()
    return Path(rest.removeprefix("/").partition("?")[0]) if scheme.startswith("sqlite") else None
