"""A socket to listen on, and the server that runs on it until it is told to end."""

from __future__ import annotations

import socket

import uvicorn
from fastapi import FastAPI

from skilldelta.errors import InputError

_PATIENCE = 10
"""Seconds that requests under way have after the server was told to end."""
_MOST_CONNECTIONS = 1_000


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


def run(app: FastAPI, listener: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM; requests under way are answered first."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_PATIENCE,
        timeout_keep_alive=30,
        limit_concurrency=_MOST_CONNECTIONS,
    )
    uvicorn.Server(config).run(sockets=[listener])
