"""A socket to listen on, and the server that runs on it until it is told to end.

Uvicorn has a limit on connections and on idle ones between requests, but none on how long a request may take to arrive:
a thousand clients that send a header now and then would hold every connection there is. `PatientProtocol` adds it.
"""

from __future__ import annotations

import asyncio
import ctypes
import ipaddress
import socket
from dataclasses import dataclass, replace
from typing import Any

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from skilldelta.errors import InputError

# Seconds that requests under way have after the server was told to end.
_PATIENCE = 10
# Bytes per second below which a body is too slow.
_SLOWEST = 200_000
# M_ARENA_MAX of malloc.h.
_ARENA_MAX = -8
# Connections that are accepted before anything else is done; a flood of them must not use up all files at once.
_BACKLOG = 128


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How long a request may take to arrive, in seconds, and how many connections there may be.

    Beyond the number, the connection that has waited longest for its request is closed in favor of the new one.
    """

    header_seconds: float = 10.0
    body_seconds: float = 60.0
    connections: int = 1_000
    per_client: int = 200
    """Of one address. Loopback has none: it stands for all users of this machine, or for a proxy."""


def listening_socket(host: str, port: int) -> socket.socket:
    """A bound socket; an address that cannot be had is refused in one line."""
    name = host.strip("[]")
    family = socket.AF_INET6 if ":" in name else socket.AF_INET
    # With the protocol named, asyncio switches Nagle off for what it accepts; else each answer waits 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((name, port))
    except OSError as error:
        listener.close()
        reason = error.strerror or str(error)
        raise InputError(f"cannot listen on {name} port {port} ({reason}); choose another --port or --host") from None
    return listener


def run(app: ASGIApp, listener: socket.socket, limits: ConnectionLimits | None = None) -> None:
    """Serve until SIGINT or SIGTERM; requests under way are answered first."""
    _share_memory_pools()
    server(app, limits).run(sockets=[listener])


def server(app: ASGIApp, limits: ConnectionLimits | None = None) -> uvicorn.Server:
    """The server, not yet running."""
    chosen = _within_files(limits or ConnectionLimits())
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=type("LimitedProtocol", (PatientProtocol,), {"limits": chosen}),
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_PATIENCE,
            timeout_keep_alive=30,
            backlog=_BACKLOG,
            # The protocol below keeps to its own number by closing idle ones; this one is for requests under way.
            limit_concurrency=2 * chosen.connections,
        )
    )


class PatientProtocol(H11Protocol):
    """HTTP/1.1 as Uvicorn speaks it, to clients that finish what they begin."""

    limits = ConnectionLimits()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, and wait for its request."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._deadline: asyncio.TimerHandle | None = None
        self._in_body = False
        self._wait(self.limits.header_seconds)
        self._make_room()

    def data_received(self, data: bytes) -> None:
        """Read on, and start or stop the clock."""
        super().data_received(data)
        state = self.conn.their_state
        if state is h11.SEND_BODY and not self._in_body:
            self._in_body = True
            length = dict(self.headers).get(b"content-length", b"0")[:12]
            # A large import over a slow line may take longer, at a rate that nobody calls an attack.
            self._wait(max(self.limits.body_seconds, int(length) / _SLOWEST if length.isdigit() else 0))
        elif state is h11.IDLE:
            if self._in_body or self._deadline is None:  # the first bytes of the next request
                self._in_body = False
                self._wait(self.limits.header_seconds)
        elif state is not h11.SEND_BODY:
            self._in_body, self._since = False, self.loop.time()
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self, seconds: float) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(seconds, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _make_room(self) -> None:
        """Close the connection that has waited longest where there are too many, of this client or of all."""
        others: list[Any] = [
            other
            for other in self.connections
            if isinstance(other, PatientProtocol) and other is not self and not other.transport.is_closing()
        ]
        own = [other for other in others if _is_remote(other.client) and other.client[0] == (self.client or ("",))[0]]
        crowd = own if len(own) >= self.limits.per_client else others
        if len(own) < self.limits.per_client and len(others) < self.limits.connections:
            return
        idle = [other for other in crowd if other.cycle is None or other.cycle.response_complete or other._deadline]
        if idle:
            min(idle, key=lambda other: other._since).transport.abort()


def _share_memory_pools() -> None:
    """Let all threads take memory from two pools.

    The C library of Linux gives every thread a pool of its own, up to eight for each processor, and seldom returns what
    is in them: after 1,500 mixed requests a server had grown by 150 MB in place of 90.
    """
    try:
        ctypes.CDLL("libc.so.6").mallopt(_ARENA_MAX, 2)
    except (OSError, AttributeError):  # another system
        return


def _is_remote(client: tuple[str, int] | None) -> bool:
    try:
        return client is not None and not ipaddress.ip_address(client[0]).is_loopback
    except ValueError:
        return False


def _within_files(limits: ConnectionLimits) -> ConnectionLimits:
    """No more connections than this process may have files, less those that it needs itself."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limit
        return limits
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return limits
    return replace(limits, connections=min(limits.connections, max(16, files - 256)))
