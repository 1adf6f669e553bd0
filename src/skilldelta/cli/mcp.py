"""`skilldelta mcp`: the gate as tools of the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import note
from skilldelta.errors import MissingExtraError

if TYPE_CHECKING:
    from skilldelta.serve.gate_service import GateService


@click.command("mcp")
@settings.bank_option
@settings.agent_option
@settings.encoder_options
@settings.threshold_option
@settings.keep_option
@click.option(
    "--http", is_flag=True, help="Streamable HTTP in place of standard input and output; the options below are for it."
)
@settings.listening_options(7346)
def command(bank: str, http: bool, host: str, port: int, **options: Any) -> None:
    """Serve tools to route, choose, explain, record and inspect, and the bank and its skills as resources.

    Speaks on standard input and output, as clients start it; nothing else is printed there.

    \b
    skilldelta mcp --bank demo.bank
    skilldelta mcp --bank demo.bank --http --port 7346
    """
    from skilldelta.cli.arguments import chosen_encoder, encoder_arguments
    from skilldelta.gate import Gate
    from skilldelta.serve.gate_service import GateService, GateSettings
    from skilldelta.serve.learning import LearningProcess

    chosen = GateSettings(gate=Gate(threshold=options["threshold"]), agent=options["agent"], keep=options["keep"])
    learner = LearningProcess(bank, encoder_arguments(options))
    with GateService.open(
        bank, chosen, encoder=lambda opened: chosen_encoder(opened, options), learner=learner
    ) as service:
        if http:
            _serve(service, host, port, options)
        else:
            from skilldelta.serve.mcp_tools import mcp_server

            mcp_server(service).run("stdio")


def _serve(service: GateService, host: str, port: int, options: dict[str, Any]) -> None:
    from skilldelta.cli.serve import address_of, admission_rules
    from skilldelta.serve.mcp_tools import PATH, http_app, mcp_server

    try:
        from skilldelta.serve.listening import listening_socket, run
    except ModuleNotFoundError as error:
        raise MissingExtraError("skilldelta mcp --http", "mcp,serve") from error

    app = http_app(mcp_server(service), admission_rules(host, {"rate": None, **options}))
    with listening_socket(host, port) as listener:
        note(f"serving MCP on {address_of(host, listener)}{PATH} (Ctrl+C ends)")
        run(app, listener)
