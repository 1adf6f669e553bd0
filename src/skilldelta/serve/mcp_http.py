"""The MCP server over streamable HTTP, for this machine only: a page in the user's browser, and a name that was made to
lead here, are refused by their Origin and Host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skilldelta.errors import InputError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


def serve_over_http(server: MCPServer[Any], *, host: str, port: int) -> None:
    """Answer until the process is told to end."""
    import uvicorn

    check_loopback(host)
    uvicorn.run(http_app(server), host=host, port=port, log_level="warning", access_log=False)


def http_app(server: MCPServer[Any]) -> Any:
    """The ASGI application, with MCP at `/mcp`."""
    from mcp.server.transport_security import TransportSecuritySettings

    names = ["[::1]" if name == "::1" else name for name in _LOOPBACK]
    rules = TransportSecuritySettings(
        allowed_hosts=[*names, *(f"{name}:*" for name in names)],
        allowed_origins=[f"http://{name}{port}" for name in names for port in ("", ":*")],
    )
    return server.streamable_http_app(streamable_http_path=PATH, transport_security=rules)


def check_loopback(host: str) -> None:
    """Refuse any address that other machines can reach: there is no token to ask them for."""
    if host not in _LOOPBACK:
        raise InputError(
            f"skilldelta mcp listens on this machine only, not on {host!r}; other machines ask skilldelta serve"
        )
