"""--paper settles some options: given beside it as flags they are refused, from the environment or a file overridden."""

from __future__ import annotations

import click
from click.core import ParameterSource

from skilldelta.errors import InputError

SETTLED = frozenset({"estimator", "k", "scope", "weighting", "threshold", "method", "success_worth", "price"})
"""Parameters that the paper's rule and settings decide, in whatever command has them."""


def refuse_flags_beside_paper(ctx: click.Context) -> None:
    """InputError about the first flag that --paper would discard."""
    if not ctx.params["paper"]:
        return
    for parameter in ctx.command.params:
        name = str(parameter.name)
        if name in SETTLED and ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            flag = parameter.opts[0]
            raise InputError(f"--paper already settles {flag}; leave out {flag}, or {_paper_as_given(ctx)}")


def _paper_as_given(ctx: click.Context) -> str:
    by_flag = ctx.get_parameter_source("paper") is ParameterSource.COMMANDLINE
    return "--paper" if by_flag else "paper in skilldelta.toml"
