"""Options that name what a command writes: declared by their type, and guarded before the command starts.

A command declares its output as `OutputPath()`. Everything else that it takes as a path counts as read, and so do the
bank and the settings file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from skilldelta.cli.given_text import GivenPath
from skilldelta.cli.project_file import ProjectFile
from skilldelta.errors import InputError
from skilldelta.files import check_destination
from skilldelta.output_guard import guard_output


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
            guard_output(path / "file" if param.type.folder else path, read=read, bank=bank)
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
