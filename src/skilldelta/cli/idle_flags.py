"""Flags that would change nothing are refused: --k, --weighting and --scope belong to rules that average neighbours."""

from __future__ import annotations

import click
from click.core import ParameterSource

from skilldelta.errors import InputError

_TAKES = {
    "skilldelta": ("k", "weighting", "scope"),
    "with_skill_only": ("k", "weighting", "scope"),
    "tfidf_knn": ("k", "scope"),
}
"""Which of the three each policy listens to; the others listen to none."""


def refuse_idle_flags(ctx: click.Context, estimator: str) -> None:
    """InputError about the first flag that has no say in the scores of an estimator."""
    for parameter in ctx.command.params:
        name = str(parameter.name)
        is_flag = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if name in ("k", "weighting", "scope") and is_flag and name not in _TAKES.get(estimator, ()):
            flag = parameter.opts[0]
            raise InputError(
                f"{flag} has no say in the scores of {estimator}; leave it out, or give --estimator skilldelta"
            )
