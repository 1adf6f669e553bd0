"""Flags that settle the rule: --paper with the flags beside it, and flags that would change nothing.

--paper is the paper's rule in its main setting. The paper has panels with k=3, uniform weights and other thresholds, so
--k, --weighting, --scope and --threshold are taken as flags; the environment and the file are overridden. Flags that
would make it another rule are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click
from click.core import ParameterSource

from skilldelta.errors import InputError

SETTLED = frozenset({"estimator", "method", "success_worth", "price"})
"""Parameters that make it the paper's rule, in whatever command has them."""

MAIN_SETTING: Mapping[str, Any] = {
    "k": 6,
    "weighting": "cosine",
    "scope": None,
    "threshold": 0.0,
    "familiarity_limit": None,
}
"""The paper's main setting; no scope means the family where it is recorded, no limit that familiarity is only shown."""


def with_paper_settings(ctx: click.Context, options: dict[str, Any]) -> dict[str, Any]:
    """The options as they are without --paper; with it, the main setting wherever no flag says otherwise."""
    if not options["paper"]:
        return options
    _refuse_other_rules(ctx)
    main = {name: value for name, value in MAIN_SETTING.items() if name in options and not _is_flag(ctx, name)}
    return {**options, **main}


def is_overridden(ctx: click.Context, name: str) -> bool:
    """Whether --paper takes the place of what the environment or a file said of a parameter."""
    return bool(ctx.params.get("paper")) and (name in SETTLED or name in MAIN_SETTING) and not _is_flag(ctx, name)


def _refuse_other_rules(ctx: click.Context) -> None:
    """InputError about the first flag that --paper would discard."""
    for parameter in ctx.command.params:
        name = str(parameter.name)
        if name in SETTLED and _is_flag(ctx, name):
            flag = parameter.opts[0]
            raise InputError(f"--paper already settles {flag}; leave out {flag}, or {_paper_as_given(ctx)}")


def _is_flag(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _paper_as_given(ctx: click.Context) -> str:
    return "--paper" if _is_flag(ctx, "paper") else "paper in skilldelta.toml"


def refuse_idle_flags(ctx: click.Context, estimator: str) -> None:
    """InputError about the first flag that has no say in the scores of an estimator."""
    from skilldelta.evaluation.policy_table import policies

    takes = policies()[estimator].takes if estimator in policies() else ()
    for parameter in ctx.command.params:
        name = str(parameter.name)
        if name in ("k", "weighting", "scope") and _is_flag(ctx, name) and name not in takes:
            flag = parameter.opts[0]
            raise InputError(
                f"{flag} has no say in the scores of {estimator}; leave it out, or give --estimator skilldelta"
            )
