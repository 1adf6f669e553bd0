"""`skilldelta hook`: the gate as a hook of an agent harness. Its help is here; it runs in `hook_process`, without click."""

from __future__ import annotations

import os
from typing import Any

import click

from skilldelta.cli.hook_options import OPTIONS, HookOption


class _Verbatim(click.Command):
    """Words go to the hook as they came; click shows the help."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if {"-h", "--help"} & set(args):
            return super().parse_args(ctx, args)
        ctx.obj = list(args)
        return []


def _shown(option: HookOption) -> click.Option:
    kinds: dict[type, Any] = {int: click.INT, float: click.FLOAT, bool: click.BOOL}
    return click.Option(
        [f"--{option.name}"],
        type=click.Choice(option.choices) if option.choices else kinds.get(option.kind, click.STRING),
        is_flag=option.kind is bool,
        metavar=None if option.choices or option.kind is bool else option.metavar,
        help=option.help,
        default=option.default or None,
        show_default=bool(option.default),
        multiple=option.several,
        envvar=option.variable or None,
    )


def _hook(**_: Any) -> None:
    """Answer one event of an agent harness's hook: JSON on stdin, JSON or nothing on stdout.

    HARNESS is claude-code, codex or gemini, or one that a package adds. A submitted prompt gets the skill's text where the gate says use, and nothing
    where it says skip; the call of a skipped skill is denied; the end of a conversation is recorded. A failure
    never stops the agent: the fallback decides and the exit code is 0.

    `skilldelta install HARNESS` writes the entries into the harness's settings.
    """
    from skilldelta.cli.hook_process import run

    context = click.get_current_context()
    context.exit(run(context.obj or [], os.environ))


command = _Verbatim(
    "hook",
    callback=_hook,
    help=_hook.__doc__,
    params=[click.Argument(["host"], metavar="HARNESS"), *map(_shown, OPTIONS)],
)
