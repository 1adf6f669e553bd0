"""From the options that commands share to the arguments that the library takes, and flags that settle the rule.

--paper is the paper's rule in its main setting. The paper has panels with k=3, uniform weights and other thresholds, so
--k, --weighting, --scope and --threshold are taken as flags; the environment and the file are overridden. Flags that
would make it another rule, and flags that would change nothing, are refused.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from click.core import ParameterSource

from skilldelta.cli.output import note, steps
from skilldelta.errors import InputError, unknown_name
from skilldelta.gate_settings import PAPER_SETTINGS, SETTING, SETTLED_BY_PAPER
from skilldelta.redaction import redacted

if TYPE_CHECKING:
    from skilldelta.arrays import Vectors
    from skilldelta.bank import Bank
    from skilldelta.encoders import Encoder
    from skilldelta.evaluation.amendments import Correction, Exclusion
    from skilldelta.evaluation.roster import Rules
    from skilldelta.gate import Gate
    from skilldelta.studies import LoadedPanel, PanelChoice

T = TypeVar("T")
_ON_COMMAND_LINE = "named on the command line"


def panels_of(bank: Bank, options: Mapping[str, Any]) -> list[LoadedPanel]:
    """The panels of --agent and --suite, corrected and without what is excluded by name."""
    from skilldelta.studies import load_panels

    with steps() as advance:
        return load_panels(
            bank,
            choice_of(options),
            encoder=chosen_encoder(bank, options),
            exclusions=exclusions_of(options),
            corrections=corrections_of(options),
            progress=advance,
        )


def panels_in(location: str, options: Mapping[str, Any]) -> list[LoadedPanel]:
    """The same panels, from the bank at a location, which is closed again before the work begins."""
    from skilldelta.bank import Bank

    with Bank.open(location, create=False) as bank:
        return panels_of(bank, options)


def choice_of(options: Mapping[str, Any]) -> PanelChoice:
    """--agent and --suite."""
    from skilldelta.studies import PanelChoice

    return PanelChoice(options.get("agent"), options.get("suite"))


def known_suite(bank: Bank, suite: str | None) -> str | None:
    """The suite that is named, if any; InputError where the bank has none of that name."""
    if suite and suite not in bank.suites():
        raise unknown_name("suite", suite, bank.suites())
    return suite


def exclusions_of(options: Mapping[str, Any]) -> tuple[Exclusion, ...]:
    """--exclude and --exclude-file together, in that order."""
    from skilldelta.evaluation.amendments import Exclusion
    from skilldelta.studies import read_exclusions

    named = [Exclusion(task_id, _ON_COMMAND_LINE) for task_id in options.get("exclude") or ()]
    path = options.get("exclude_file")
    return (*named, *(() if path is None else read_exclusions(path)))


def corrections_of(options: Mapping[str, Any]) -> tuple[Correction, ...]:
    """--corrections."""
    from skilldelta.studies import read_corrections

    path = options.get("corrections")
    return () if path is None else read_corrections(path)


def rules_of(options: Mapping[str, Any]) -> Rules:
    """--k, --weighting, --scope, --threshold, and --holdout and --partition where a command has them."""
    from skilldelta.estimators.partition import read_partition
    from skilldelta.evaluation.roster import Rules
    from skilldelta.predictor import Settings

    holdout = options.get("holdout", "task")
    return Rules(
        Settings(k=options["k"], weighting=options["weighting"]),
        options["scope"] or ("skill" if holdout == "family" else "family"),
        options.get("threshold", 0.0),
        partition=read_partition(options["partition"]) if options.get("partition") else None,
        holdout=holdout,
    )


def settings_in(options: Mapping[str, Any], kind: type[T]) -> T:
    """A dataclass from the options of the same names; fields that a command has no option for keep their defaults."""
    names = [field.name for field in fields(cast("Any", kind)) if field.name in options]
    return kind(**{name: options[name] for name in names})


def created_now() -> str:
    """When a page or a file was made, for people."""
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"


def note_left_out(panels: Sequence[LoadedPanel]) -> None:
    """What each panel leaves out, on stderr."""
    for panel in panels:
        for remark in panel.notes:
            note(f"{panel.agent.name} on {panel.suite}: {remark}")


def chosen_encoder(bank: Bank, options: Mapping[str, Any], *, given: Mapping[str, Vectors] | None = None) -> Encoder:
    """The encoder of --encoder; `given` are vectors of texts that an import did not bring."""
    from skilldelta.studies.loaded_panel import bank_encoder

    return bank_encoder(bank, **encoder_arguments(options), given=given)


def encoder_arguments(options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `bank_encoder` that --encoder and its companions stand for."""
    return {
        "name": options["encoder"],
        "base_url": options.get("encoder_url"),
        "model": options.get("encoder_model"),
        "api_key": os.environ.get("SKILLDELTA_ENCODER_KEY") or os.environ.get("OPENAI_API_KEY"),
        "proxy": environment_proxy(options.get("encoder_url")),
    }


def environment_proxy(url: str | None) -> str | None:
    """From http_proxy, https_proxy and no_proxy. This machine's own addresses never go through a proxy."""
    import urllib.request
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url or "")
        host = parts.hostname or ""
    except ValueError:
        return None  # not a URL: whoever uses it refuses it with a better message
    if not host or _is_this_machine(host) or urllib.request.proxy_bypass(host):
        return None
    return urllib.request.getproxies().get(parts.scheme)


def _is_this_machine(host: str) -> bool:
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def gate_of(ctx: click.Context) -> Gate:
    """The gate that a command's options spell out; with --paper, only flags change the paper's main setting."""
    from skilldelta.gate import Gate

    return Gate.from_settings({name: value for name, value in gate_settings_of(ctx).items() if value is not None})


def gate_settings_of(ctx: click.Context) -> dict[str, Any]:
    """The values of a command's gate options, without those that --paper takes the place of."""
    if ctx.params.get("paper"):
        _refuse_other_rules(ctx)
    return {name: ctx.params[name] for name in SETTING if name in ctx.params and not is_overridden(ctx, name)}


def with_paper_settings(ctx: click.Context, options: dict[str, Any]) -> dict[str, Any]:
    """The options as they are without --paper; with it, the main setting wherever no flag says otherwise."""
    if not options["paper"]:
        return options
    _refuse_other_rules(ctx)
    main = {name: value for name, value in PAPER_SETTINGS.items() if name in options and not _is_flag(ctx, name)}
    return {**options, **main}


def is_overridden(ctx: click.Context, name: str) -> bool:
    """Whether --paper takes the place of what the environment or a file said of a parameter."""
    settles = name in SETTLED_BY_PAPER or name in PAPER_SETTINGS
    return bool(ctx.params.get("paper")) and settles and not _is_flag(ctx, name)


def _refuse_other_rules(ctx: click.Context) -> None:
    """InputError about the first flag that --paper would discard."""
    for flag in _flags_among(ctx, SETTLED_BY_PAPER):
        paper = "--paper" if _is_flag(ctx, "paper") else "paper in skilldelta.toml"
        raise InputError(f"--paper already settles {flag}; leave out {flag}, or {paper}")


def _is_flag(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _flags_among(ctx: click.Context, names: Collection[str]) -> list[str]:
    return [one.opts[0] for one in ctx.command.params if one.name in names and _is_flag(ctx, str(one.name))]


def refuse_idle_flags(ctx: click.Context, estimator: str) -> None:
    """InputError about the first flag that has no say in the scores of an estimator."""
    from skilldelta.evaluation.policy_table import policies

    takes = policies()[estimator].takes if estimator in policies() else ()
    for flag in _flags_among(ctx, {"k", "weighting", "scope"} - set(takes)):
        raise InputError(f"{flag} has no say in the scores of {estimator}; leave it out, or give --estimator paper")


def command_line(ctx: click.Context, arguments: Sequence[str] = ()) -> str:
    """The command that a page was made by, as one could type it again, without any password."""
    overridden = [str(parameter.name) for parameter in ctx.command.params if is_overridden(ctx, str(parameter.name))]
    words = ["skilldelta", str(ctx.command.name), *arguments, *flags_given(ctx, but=overridden)]
    return shlex.join(map(redacted, words))


def flags_given(ctx: click.Context, *, but: Collection[str], full_paths: bool = False) -> Iterator[str]:
    """The options that were set by flag, environment or file, as words of a command line."""
    for parameter in ctx.command.params:
        name, flag = str(parameter.name), parameter.opts[0]
        if isinstance(parameter, click.Option) and is_given(ctx, name) and name not in but:
            value = ctx.params[name]
            for one in value if isinstance(value, tuple) else (value,):
                if one is not False:
                    yield flag
                if not isinstance(one, bool):
                    yield str(one.absolute() if full_paths and isinstance(one, Path) else one)


def is_given(ctx: click.Context, name: str) -> bool:
    """Whether a parameter has a value other than our default."""
    return ctx.get_parameter_source(name) not in (ParameterSource.DEFAULT, None) and ctx.params[name] is not None
