"""Flags that would change nothing are refused: --k, --weighting and --scope belong to rules that average neighbours."""

from __future__ import annotations

import click
from click.core import ParameterSource

from skilldelta.errors import InputError
from skilldelta.evaluation.policy_table import policies


def refuse_idle_flags(ctx: click.Context, estimator: str) -> None:
    """InputError about the first flag that has no say in the scores of an estimator."""
    takes = policies()[estimator].takes if estimator in policies() else ()
    for parameter in ctx.command.params:
        name = str(parameter.name)
        is_flag = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if name in ("k", "weighting", "scope") and is_flag and name not in takes:
            flag = parameter.opts[0]
            raise InputError(
                f"{flag} has no say in the scores of {estimator}; leave it out, or give --estimator skilldelta"
            )
