"""From the options that commands share to the arguments that the library takes."""

from __future__ import annotations

import ipaddress
import os
import urllib.request
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from skilldelta.cli.output import note
from skilldelta.cli.progress import step_bars

if TYPE_CHECKING:
    from skilldelta.arrays import Vectors
    from skilldelta.bank import Bank
    from skilldelta.encoders.base import Encoder
    from skilldelta.evaluation.amendments import Correction, Exclusion
    from skilldelta.evaluation.roster import Rules
    from skilldelta.studies import LoadedPanel, PanelChoice


_ON_COMMAND_LINE = "named on the command line"


def panels_of(bank: Bank, options: Mapping[str, Any]) -> list[LoadedPanel]:
    """The panels of --agent and --suite, corrected and without what is excluded by name."""
    from skilldelta.studies import load_panels

    with step_bars() as advance:
        return load_panels(
            bank,
            choice_of(options),
            encoder=chosen_encoder(bank, options),
            exclusions=exclusions_of(options),
            corrections=corrections_of(options),
            progress=advance,
        )


def choice_of(options: Mapping[str, Any]) -> PanelChoice:
    """--agent and --suite."""
    from skilldelta.studies import PanelChoice

    return PanelChoice(options.get("agent"), options.get("suite"))


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
    try:
        parts = urlsplit(url or "")
        host = parts.hostname or ""
    except ValueError:
        return None  # not a URL: whoever uses it refuses it with a better message
    if not host or _is_this_machine(host) or urllib.request.proxy_bypass(host):
        return None
    return urllib.request.getproxies().get(parts.scheme)


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
