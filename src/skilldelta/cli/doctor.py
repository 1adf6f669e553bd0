"""`skilldelta doctor`: is everything in place, and if not, what to do about it."""

from __future__ import annotations

import os
import textwrap
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import write_json
from skilldelta.errors import InputError
from skilldelta.serve.hooks.server_client import ServerAddress
from skilldelta.server_proof import DEFAULT_SERVER, KEY_VARIABLE, known_key

if TYPE_CHECKING:
    from skilldelta.serve.health import Finding


@click.command("doctor")
@settings.bank_option
@settings.encoder_options
@click.option("--server", envvar="SKILLDELTA_SERVER", default=DEFAULT_SERVER, metavar="URL", help="The server.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, 600, min_open=True),
    envvar="SKILLDELTA_TIMEOUT",
    default=1.0,
    metavar="S",
    help="Seconds that the server may take.",
)
@settings.json_option
@click.pass_context
def command(ctx: click.Context, /, bank: str, server: str, timeout: float, as_json: bool, **options: Any) -> None:
    """Check the bank, the encoder, the server and every harness that SkillDelta is set up in.

    Installed hooks are run with a sample prompt, which leaves no trace in the decision log. The exit code is 1 where
    something is wrong, and each such line says how to fix it.
    """
    is_default = ctx.get_parameter_source("bank") == click.core.ParameterSource.DEFAULT
    is_named = ctx.get_parameter_source("server") != click.core.ParameterSource.DEFAULT
    findings = _findings(bank, is_default, server, timeout, {**options, "server_is_named": is_named})
    wrong = [finding for finding in findings if finding.status == "wrong"]
    if as_json:
        write_json({"healthy": not wrong, "findings": [asdict(finding) for finding in findings]})
    else:
        _show(findings)
    ctx.exit(1 if wrong else 0)


def _findings(bank: str, is_default: bool, server: str, timeout: float, options: dict[str, Any]) -> list[Finding]:
    from skilldelta.cli.arguments import chosen_encoder
    from skilldelta.cli.state_folder import state_folder
    from skilldelta.harnesses import harness_named, harness_names
    from skilldelta.serve import harness_health, health

    declared, broken = [], []
    for name in harness_names():
        try:
            declared.append(harness_named(name))
        except InputError as error:
            broken.append(health.Finding(name, "wrong", str(error), "update the package, or remove it"))
    folders = {harness.name: [harness.folder(Path.home(), os.environ)] for harness in declared}
    for harness in declared:
        project = Path.cwd() / harness.project_folder
        if harness.project_folder and project not in folders[harness.name]:  # at home, it is the user's own
            folders[harness.name].append(project)
    places = [(harness, folder) for harness in declared for folder in folders[harness.name]]
    hook_banks = sorted(
        {place for harness, folder in places for place in harness_health.installed_values(harness, folder, "--bank")}
    )
    banks = hook_banks if hook_banks and is_default else [bank]
    asks = {value for harness, folder in places for value in harness_health.installed_values(harness, folder, "--ask")}
    # A machine whose hooks and commands ask a server needs no bank of its own.
    is_client = is_default and not hook_banks and (options["server_is_named"] or "server" in asks)
    if is_client and not Path(bank).exists():
        banks = []
    findings = [health.check_bank(location) for location in banks] or [
        health.Finding("bank", "ok", "none on this machine; the server's is asked")
    ]
    if banks and findings[0].status != "wrong":
        findings.append(health.check_encoder(banks[0], lambda opened: chosen_encoder(opened, options)))
    token, is_pinned = os.environ.get("SKILLDELTA_TOKEN", ""), bool(os.environ.get(KEY_VARIABLE))
    key = known_key(os.environ)
    # The servers that hooks really ask; an entry may name another one than this command does.
    named_servers = {
        url for harness, folder in places for url in harness_health.installed_values(harness, folder, "--server")
    }
    servers = [server, *sorted(named_servers - {server})]
    asked = [health.check_server(ServerAddress(url, token, timeout, key, is_pinned), banks) for url in servers]
    findings += asked
    has_server = any(finding.status == "ok" for finding in asked)
    harnesses = [
        finding
        for harness, folder in places
        for finding in harness_health.check_harness(
            harness, folder, has_server=has_server, library=_library(harness.name)
        )
    ]
    none = health.Finding("harnesses", "note", "no harness asks the gate yet", "skilldelta install HARNESS")
    state = state_folder(None, os.environ)
    return [
        *findings,
        *broken,
        *(harnesses or [none]),
        *(harness_health.check_failures(state, now=time.time()) if state else []),
    ]


def _show(findings: list[Finding]) -> None:
    marks = {"ok": "ok    ", "note": "note  ", "wrong": "WRONG "}
    for finding in findings:
        click.echo(_wrapped(marks[finding.status], f"{finding.name}: {finding.detail}"))
        if finding.remedy and finding.status != "ok":
            click.echo(_wrapped("      → ", finding.remedy))


def _wrapped(first: str, text: str) -> str:
    """In lines of 80 columns behind a mark; a path is not broken, so that it can be copied."""
    from skilldelta.cli.output import one_line

    rest = " " * len(first)
    lines = textwrap.wrap(one_line(text), 80 - len(first), break_long_words=False, break_on_hyphens=False)
    return first + f"\n{rest}".join(lines)


def _library(harness: str) -> list[Path]:
    """The files of the skills that a harness has."""
    from skilldelta.cli.hook import installed_skills

    return [skill.file for skill in installed_skills(harness, os.environ) if skill.file is not None]
