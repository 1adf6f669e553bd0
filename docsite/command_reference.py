"""Every command with its options, as Markdown, from what click knows about them."""

from __future__ import annotations

import html
import inspect
from collections.abc import Iterator

import click

from skilldelta.cli.main import cli


def command_reference() -> str:
    """One section for each command, in the order of `skilldelta --help`, and one for each of its subcommands."""
    context = click.Context(cli, info_name="skilldelta", **cli.context_settings)
    return "\n".join(line for command in _commands(cli, context) for line in _section(command, context, level=2))


def _commands(group: click.Group, context: click.Context) -> Iterator[click.Command]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            yield command


def _section(command: click.Command, parent: click.Context, *, level: int) -> Iterator[str]:
    context = click.Context(command, info_name=command.name, parent=parent)
    yield from (f"{'#' * level} {context.command_path}", "")
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield from ("```text", usage, "```", "")
    yield from _description(command)
    yield from _options(command, context)
    if isinstance(command, click.Group):
        for inner in _commands(command, context):
            yield from _section(inner, context, level=level + 1)


def _description(command: click.Command) -> Iterator[str]:
    r"""The paragraphs of the help; one that click must not wrap (it begins with \b) holds commands."""
    for paragraph in inspect.cleandoc(command.help or "").split("\n\n"):
        if paragraph.startswith("\b\n"):
            yield from ("```text", paragraph.removeprefix("\b\n"), "```", "")
        else:
            yield from (paragraph.replace("<", "&lt;"), "")


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    options = [one for one in command.get_params(context) if isinstance(one, click.Option)]  # usage has the arguments
    records = [record for one in options if (record := one.get_help_record(context)) is not None]
    named = [(names.replace(" RANGE", ""), meaning) for names, meaning in records if "--help" not in names]
    if named:
        yield from ("| option | meaning |", "|---|---|")
        yield from (f"| <code>{_cell(names)}</code> | {_cell(meaning)} |" for names, meaning in named)
        yield ""


def _cell(text: str) -> str:
    """A text for a cell of a table, where a bar would begin the next cell and Markdown must not read a star."""
    return html.escape(" ".join(text.split()), quote=False).translate({ord("|"): "&#124;", ord("*"): "&#42;"})
