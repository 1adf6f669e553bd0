"""`skilldelta mcp`: the gate as tools of the Model Context Protocol."""

from __future__ import annotations

from typing import Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import note


@click.command("mcp")
@settings.bank_option
@settings.agent_option
@settings.encoder_options
@settings.threshold_option
@click.option("--http", is_flag=True, help="Streamable HTTP in place of standard input and output.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: the address, on this machine.")
@click.option("--port", type=click.IntRange(0, 65535), default=7346, show_default=True, help="With --http: the port.")
@click.option(
    "--keep",
    type=click.Choice(["whole", "digest", "nothing"]),
    default="digest",
    show_default=True,
    help="What the decision log keeps of a task's text.",
)
def command(bank: str, http: bool, host: str, port: int, **options: Any) -> None:
    """Serve tools to route, choose, explain, record and inspect, and the bank and its skills as resources.

    Speaks on standard input and output, as clients start it; nothing else is printed there.

    \b
    skilldelta mcp --bank demo.bank
    skilldelta mcp --bank demo.bank --http --port 7346
    """
    from skilldelta.advisor import Policy
    from skilldelta.cli.arguments import chosen_encoder
    from skilldelta.serve.gate_service import GateService, GateSettings
    from skilldelta.serve.mcp_http import PATH, check_loopback, serve_over_http
    from skilldelta.serve.mcp_tools import mcp_server

    check_loopback(host)
    chosen = GateSettings(policy=Policy(threshold=options["threshold"]), agent=options["agent"], keep=options["keep"])
    with GateService.open(bank, chosen, encoder=lambda opened: chosen_encoder(opened, options)) as service:
        server = mcp_server(service)
        if http:
            note(f"serving MCP on http://{f'[{host}]' if ':' in host else host}:{port}{PATH} (Ctrl+C ends)")
            serve_over_http(server, host=host, port=port)
        else:
            server.run("stdio")
