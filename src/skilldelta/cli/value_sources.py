"""Where a bad value came from: an error about a value that no flag gave names the variable or the file that did.

Click says `Invalid value for '--threshold'` whoever set it. The commands' own messages name the value and know nothing of
its source, so they are matched by it.
"""

from __future__ import annotations

import os
import re
from typing import Any

import click
from click.core import ParameterSource

from skilldelta.cli.given_text import check_texts
from skilldelta.cli.output_paths import guard_outputs
from skilldelta.cli.project_file import ProjectFile, option_name
from skilldelta.errors import InputError, SkillDeltaError

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


def remember_file(ctx: click.Context, file: ProjectFile) -> None:
    """Keep the settings file of this call for `with_source`."""
    ctx.meta[_FILE] = file


def with_source(error: click.BadParameter | SkillDeltaError, ctx: click.Context) -> Exception:
    """The error with the variable or the file behind its value; the same error where a flag is, or nothing is known."""
    if isinstance(error, click.BadParameter):
        source = _source(error.ctx, error.param) if error.ctx and error.param else ""
        return InputError(f"{source}: {error.message}") if source else error
    running: click.Context | None = ctx.meta.get(_RUNNING)
    for param in running.command.params if running else ():
        source = _source(running, param) if running else ""
        if running and source and _is_about(str(error), param, running.params.get(param.name or "")):
            return InputError(f"{source}: {error}")
    return error


def _source(ctx: click.Context, param: click.Parameter) -> str:
    """`SKILLDELTA_BANK`, or `…/skilldelta.toml: bank`; empty for flags and for defaults of ours."""
    found = ctx.get_parameter_source(param.name or "")
    if found is ParameterSource.ENVIRONMENT:
        names = [param.envvar] if isinstance(param.envvar, str) else param.envvar or ()
        return next((name for name in names if os.environ.get(name)), "")
    file: ProjectFile | None = ctx.meta.get(_FILE)
    return file.place(option_name(param)) if file and found is ParameterSource.DEFAULT_MAP else ""


def _is_about(message: str, param: click.Parameter, value: Any) -> bool:
    """Whether a message names the value: a text in quotes or as a path, a number together with its option."""
    if isinstance(value, str):
        return repr(value) in message or (not value.isalnum() and value in message)
    words = re.split(r"[^\w.+-]+", message)
    return value is not None and str(value) in words and option_name(param) in words
