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

    exclusions = [Exclusion(task_id, _ON_COMMAND_LINE) for task_id in options.get("exclude") or ()]
    path = options.get("exclude_file")
    return (*exclusions, *(() if path is None else read_exclusions(path)))


def corrections_of(options: Mapping[str, Any]) -> tuple[Correction, ...]:
    """--corrections."""
    from skilldelta.studies import read_corrections

    path = options.get("corrections")
    return () if path is None else read_corrections(path)


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


def gate_of(ctx: click.Context, default: Gate | None = None, *, but: Collection[str] = ()) -> Gate:
    """The gate that a command's options spell out: flags, then a named gate, then the environment and the file.

    `default` is the gate of a command that nothing sets; options among `but` have a meaning of their own there.
    """
    from skilldelta.gate import Gate

    settings = {name: value for name, value in _gate_settings(ctx).items() if name not in but}
    if not ctx.params.get("gate"):
        return Gate.from_settings(settings, default)
    flags = {name: value for name, value in settings.items() if _is_flag(ctx, name)}
    return Gate.from_settings(flags, named_gate(ctx, ctx.params["gate"]))


def gate_body(ctx: click.Context) -> dict[str, Any]:
    """The settings of a gate that this call names, for a server, whose own settings take the place of the others."""
    from skilldelta.cli.setting_sources import named_gates

    settings, name = _gate_settings(ctx), ctx.params.get("gate")
    if name:
        named_gate(ctx, name)  # an unknown name is an error
        settings = {**named_gates(ctx)[name], **{key: settings[key] for key in settings if _is_flag(ctx, key)}}
    return {key: value for key, value in settings.items() if value is not False}


def gate_and_control(ctx: click.Context) -> tuple[Gate, str | None]:
    """The same for studies of scores, where --estimator may also name a control that cannot decide."""
    from skilldelta.estimators.registry import policy_entry
    from skilldelta.gate import Gate

    settings = _gate_settings(ctx)
    if settings.get("estimator") is None or policy_entry(settings["estimator"]).predicts_gain:
        return gate_of(ctx), None
    control = policy_entry(settings.pop("estimator")).name
    return Gate.from_settings(settings), control


def named_gate(ctx: click.Context, name: str) -> Gate:
    """A gate of the nearest skilldelta.toml."""
    from skilldelta.cli.setting_sources import named_gates
    from skilldelta.gate import Gate

    gates = named_gates(ctx)
    if name not in gates:
        raise InputError(f"{unknown_gate(name, gates)}", setting="gate")
    return Gate.from_settings(gates[name])


def unknown_gate(name: str, gates: Collection[str]) -> str:
    """Why there is no gate of a name."""
    if not gates:
        return f"there is no gate {name!r}: no skilldelta.toml from here upward has a table [gates.{name}]"
    return str(unknown_name("gate", name, gates))


def _gate_settings(ctx: click.Context) -> dict[str, Any]:
    """The values of a command's gate options, without those that --paper takes the place of."""
    if ctx.params.get("paper"):
        _refuse_other_rules(ctx)
    names = [name for name in SETTING if ctx.params.get(name) is not None]
    return {name: ctx.params[name] for name in names if not is_overridden(ctx, name)}


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
    return [param.opts[0] for param in ctx.command.params if param.name in names and _is_flag(ctx, str(param.name))]


def refuse_idle_flags(ctx: click.Context, gate: Gate, control: str | None = None) -> None:
    """InputError about the first flag that has no say in what a gate, or a control, compares with the threshold."""
    from skilldelta.estimators.registry import policy_entry

    estimator = control or gate.estimator
    if control is None and (gate.rule != "plain" or gate.cost_rule is not None):
        return  # they choose the pairs behind intervals and costs
    for flag in _flags_among(ctx, {"k", "weighting", "scope"} - set(policy_entry(estimator).takes)):
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
            for item in value if isinstance(value, tuple) else (value,):
                if item is not False:
                    yield flag
                if not isinstance(item, bool):
                    yield str(item.absolute() if full_paths and isinstance(item, Path) else item)


def is_given(ctx: click.Context, name: str) -> bool:
    """Whether a parameter has a value other than our default."""
    return ctx.get_parameter_source(name) not in (ParameterSource.DEFAULT, None) and ctx.params[name] is not None
