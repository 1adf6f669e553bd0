"""`skilldelta serve`: the gate as a local service."""

from __future__ import annotations

from typing import Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import note
from skilldelta.errors import MissingExtraError


@click.command("serve")
@settings.bank_option
@settings.agent_option
@settings.encoder_options
@settings.threshold_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=7345, show_default=True, help="The port.")
@click.option(
    "--keep",
    type=click.Choice(["whole", "digest", "nothing"]),
    default="digest",
    show_default=True,
    help="What the decision log keeps of a task's text.",
)
@click.option(
    "--retention", type=click.FloatRange(0, min_open=True), metavar="DAYS", help="Remove decisions older than this."
)
@click.option(
    "--fallback",
    type=click.Choice(["use", "skip", "abstain"]),
    envvar="SKILLDELTA_FALLBACK",
    help="The decision when routing fails; without it that is an error.",
)
def command(bank: str, host: str, port: int, **options: Any) -> None:
    """Answer questions over HTTP, with bank, encoder and estimator kept warm.

    Listens on this machine only. Nothing is sent anywhere; the decision log is in the bank.

    \b
    skilldelta serve --bank demo.bank
    """
    try:
        import uvicorn

        from skilldelta.serve.http_api import gate_app
    except ModuleNotFoundError as error:
        raise MissingExtraError("skilldelta serve", "serve") from error
    from skilldelta.advisor import Policy
    from skilldelta.cli.arguments import chosen_encoder
    from skilldelta.serve.gate_service import GateService, GateSettings

    chosen = GateSettings(
        policy=Policy(threshold=options["threshold"]),
        agent=options["agent"],
        keep=options["keep"],
        retention_days=options["retention"],
        fallback=options["fallback"],
    )
    gate = GateService.open(bank, chosen, encoder=lambda opened: chosen_encoder(opened, options), create=True)
    note(f"serving {gate.location} on http://{host}:{port}/ (Ctrl+C ends)")
    uvicorn.run(gate_app(gate), host=host, port=port, log_level="warning", access_log=False)
