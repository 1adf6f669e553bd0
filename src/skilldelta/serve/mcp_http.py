"""The MCP server over streamable HTTP, behind the same door as the HTTP API: Host, Origin, tokens, size and rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skilldelta.errors import MissingExtraError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

    from skilldelta.serve.admission import AdmissionRules

PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


def http_app(server: MCPServer[Any], rules: AdmissionRules) -> Any:
    """The ASGI application, with MCP at `/mcp`. A token, where one is asked for, must allow writing."""
    try:
        from mcp.server.transport_security import TransportSecuritySettings

        from skilldelta.serve.admission import Admission
        from skilldelta.serve.http_guard import HttpGuard
    except ModuleNotFoundError as error:
        raise MissingExtraError("skilldelta mcp --http", "mcp,serve") from error
    # The door does not look at the Origin of what is only read, which is a stream of messages here; so the SDK does.
    origins = [f"http://{name}{port}" for name in (*_LOOPBACK, *rules.hosts) for port in ("", ":*")]
    hosts = [f"{name}{port}" for name in (*_LOOPBACK, *rules.hosts) for port in ("", ":*")]
    inner = TransportSecuritySettings(
        enable_dns_rebinding_protection=not rules.any_address, allowed_hosts=hosts, allowed_origins=origins
    )
    app = server.streamable_http_app(streamable_http_path=PATH, transport_security=inner)
    return HttpGuard(app, Admission(rules), lambda *_: None)
