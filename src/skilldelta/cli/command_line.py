"""The command that a page was made by, as one could type it again, without any password."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import click
from click.core import ParameterSource

from skilldelta.cli.arguments import is_overridden
from skilldelta.redaction import redacted


def command_line(ctx: click.Context, arguments: Sequence[str] = ()) -> str:
    """The command with everything that was set by flag, environment or file."""
    words = ["skilldelta", str(ctx.command.name), *map(redacted, arguments)]
    for parameter in ctx.command.params:
        name = str(parameter.name)
        value = ctx.params.get(name)
        if not isinstance(parameter, click.Option) or is_overridden(ctx, name):
            continue
        if value is None or value is False or ctx.get_parameter_source(name) is ParameterSource.DEFAULT:
            continue
        flag = parameter.opts[0]
        for one in value if isinstance(value, tuple) else (value,):
            words += [flag] if one is True else [flag, redacted(str(one))]
    return shlex.join(words)
