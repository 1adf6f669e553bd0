"""Values that a command is given: what no file can be called, and what is no text, is refused before the command starts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from skilldelta.errors import InputError, shown


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
    """Refuse values that are not Unicode text, which no bank holds; file names may have any bytes."""
    for param in ctx.command.params:
        value = ctx.params.get(param.name or "")
        for one in value if isinstance(value, tuple) else (value,):
            if isinstance(one, str):
                _check_text(param, one)


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
