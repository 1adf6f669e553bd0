"""`skilldelta serve`: the gate as a local service."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import note
from skilldelta.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from socket import socket

    from skilldelta.serve.admission import AdmissionRules
    from skilldelta.serve.gate_service import GateService


@click.command("serve")
@settings.bank_option
@settings.agent_option
@settings.encoder_options
@settings.listening_options(7345)
@click.option(
    "--rate",
    type=click.FloatRange(0, min_open=True),
    metavar="N",
    help="Requests per second and client; 100 unless on loopback.",
)
@settings.keep_option
@click.option(
    "--retention", type=click.FloatRange(0, min_open=True), metavar="DAYS", help="Remove decisions older than this."
)
@settings.fallback_option(
    "The decision when routing fails, as with a silent encoder. Without it, a failure is an error."
)
@settings.gate_options
@click.option("--access-log", is_flag=True, help="A line per request on stderr: method, path, status, time.")
@click.option(
    "--otel",
    is_flag=False,
    flag_value="",
    metavar="[URL]",
    help="Send spans and metrics to an OpenTelemetry collector: at URL, else OTEL_EXPORTER_OTLP_ENDPOINT, else port 4318 here.",
)
@click.option(
    "--install",
    type=click.Choice(["auto", "systemd", "launchd"]),
    is_flag=False,
    flag_value="auto",
    help="Write a systemd user unit that runs this command, or print a launchd property list; then end.",
)
@click.pass_context
def command(ctx: click.Context, /, bank: str, host: str, port: int, install: str | None, **options: Any) -> None:
    """Answer questions over HTTP, with bank, encoder and estimator kept warm; the dashboard is at /.

    Listens on this machine only, unless --host says otherwise. Nothing is sent anywhere. Decisions are kept in the bank's
    own log, with a digest of the task's text; --keep whole or nothing changes that, --retention removes old ones.

    \b
    skilldelta serve --bank demo.bank
    """
    if install:
        _install(ctx, bank, install)
        return
    try:
        from skilldelta.serve.http_api import gate_app
        from skilldelta.serve.listening import listening_socket, run
    except ModuleNotFoundError as error:
        raise MissingExtraError("skilldelta serve", "serve") from error
    from skilldelta.cli.arguments import encoder_arguments
    from skilldelta.cli.library import machine_libraries
    from skilldelta.cli.state_folder import state_folder
    from skilldelta.serve.service_log import log_to
    from skilldelta.server_proof import own_key

    rules = admission_rules(host, options)
    telemetry = None
    if options["otel"] is not None:
        from skilldelta.serve.telemetry import Telemetry

        endpoint = options["otel"] or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or "http://127.0.0.1:4318"
        telemetry = Telemetry(endpoint)
    listener = listening_socket(host, port)
    with listener:
        gate = _gate(ctx, bank, options)
        log_to(sys.stderr, access=options["access_log"])
        note(f"serving {gate.location} on {address_of(host, listener)}/ (Ctrl+C ends)")
        key = own_key(os.environ)
        if not key:
            note("warning: hooks will not ask this server: the key that proves whose it is cannot be kept; set HOME")
        encoder = encoder_arguments(options)
        run(
            gate_app(
                gate,
                rules,
                encoder=encoder,
                telemetry=telemetry,
                server_key=key,
                hook_state=state_folder(None, os.environ),
                libraries=None if rules.any_address or rules.hosts else machine_libraries,
            ),
            listener,
        )


def _gate(ctx: click.Context, bank: str, options: dict[str, Any]) -> GateService:
    from skilldelta.cli.arguments import chosen_encoder, encoder_arguments, gate_of
    from skilldelta.encoders import check_encoder_name
    from skilldelta.serve.gate_service import GateService, GateSettings
    from skilldelta.serve.learning import LearningProcess

    chosen = GateSettings(
        gate=gate_of(ctx),
        agent=options["agent"],
        keep=options["keep"],
        retention_days=options["retention"],
        fallback=options["fallback"],
    )
    check_encoder_name(options["encoder"])  # before a bank is made for nothing
    gate = GateService.open(
        bank,
        chosen,
        encoder=lambda opened: chosen_encoder(opened, options),
        learner=LearningProcess(bank, encoder_arguments(options)),
        create=True,
    )
    try:
        gate.encoder()
        if options["agent"] and gate.read(lambda opened: opened.agents()):
            gate.read(lambda opened: opened.resolve_agent(options["agent"]))
    except BaseException:
        gate.close()
        raise
    return gate


def address_of(host: str, listener: socket) -> str:
    """Where a server can be reached."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"


def admission_rules(host: str, options: dict[str, Any]) -> AdmissionRules:
    """Tokens unless everybody who can reach the server is on this machine."""
    from skilldelta.serve.access_tokens import TokenFile
    from skilldelta.serve.admission import AdmissionRules, is_loopback

    local = is_loopback(host)
    tokens = None
    if not local or options["require_token"]:
        tokens = TokenFile(options["tokens"])
        if not tokens.tokens():
            where = f"{host} can be reached from other machines" if not local else "--require-token is given"
            raise InputError(f"{where}, and there is no token yet; make one with: skilldelta token create NAME")
    return AdmissionRules(
        tokens=tokens,
        hosts=frozenset(name.lower() for name in options["allow_host"]),
        any_address=not local,
        per_second=options["rate"] or (None if local else 100.0),
    )


def _install(ctx: click.Context, bank: str, system: str) -> None:
    """The unit runs the same command with the same options; paths are written out in full."""
    from skilldelta.cli.arguments import flags_given
    from skilldelta.serve.service_units import UNIT, launchd_plist, write_unit

    place = bank if "://" in bank else str(Path(bank).expanduser().absolute())
    words = [sys.executable, "-m", "skilldelta", "serve", "--bank", place]
    words += flags_given(ctx, but=("bank", "install"), full_paths=True)
    if system == "launchd" or (system == "auto" and sys.platform == "darwin"):
        click.echo(launchd_plist(words, Path.home() / "Library" / "Logs" / "skilldelta.log"), nl=False)
        note("save it as ~/Library/LaunchAgents/skilldelta.serve.plist, then: launchctl load -w that file")
        return
    base = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    path = write_unit(Path(base) / "systemd" / "user", words)
    note(f"wrote {path}; start it now and at every login with: systemctl --user enable --now {UNIT}")
