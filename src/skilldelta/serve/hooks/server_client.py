"""Asking a running server, within a time limit that holds for everything together: connecting, sending, reading.

Straight to the address that is given: proxies of the environment are for the world outside, and redirections are not
followed. A token is sent to this machine or over TLS only.
"""

from __future__ import annotations

import json
import threading
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import urlsplit

DEFAULT_SERVER = "http://127.0.0.1:7345"
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_MOST_BYTES = 32 << 20


class ServerSilentError(Exception):
    """There is no answer: nobody is there, or somebody who cannot tell; the message is one line."""


class ServerAddress(NamedTuple):
    """Where a server is, and how long it may take."""

    url: str = DEFAULT_SERVER
    token: str = ""
    timeout: float = 1.0
    """Seconds."""


def ask_server(server: ServerAddress, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The server's answer to a document."""
    found: list[dict[str, Any]] = []
    failed: list[Exception] = []

    def ask() -> None:
        try:
            found.append(_exchange(server, path, body))
        except Exception as error:  # handed to whoever waits
            failed.append(error)

    # In a thread, because a time limit of sockets begins anew with every byte that a slow peer sends.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(server.timeout)
    if found:
        return found[0]
    if not failed:
        raise ServerSilentError(f"{server.url} did not answer within {server.timeout:g} s")
    if isinstance(failed[0], ServerSilentError):
        raise failed[0]
    raise ServerSilentError(f"{server.url} cannot be asked ({failed[0]})") from None


def _exchange(server: ServerAddress, path: str, body: dict[str, Any]) -> dict[str, Any]:
    connection = _connection(server)
    try:
        connection.request("POST", path, json.dumps(body).encode(), _headers(server))
        response = connection.getresponse()
        content = response.read(_MOST_BYTES)
    except (OSError, HTTPException) as error:
        raise ServerSilentError(f"{server.url} cannot be asked ({error or type(error).__name__})") from None
    finally:
        connection.close()
    return _answer(server, response.status, content)


def _answer(server: ServerAddress, status: int, content: bytes) -> dict[str, Any]:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ServerSilentError(f"{server.url} does not answer as SkillDelta does (status {status})")
    if status not in (200, 201):
        said = document.get("detail") or document.get("title") or "no reason"
        raise ServerSilentError(f"{server.url} answered with status {status}: {str(said)[:300]}")
    return document


def _connection(server: ServerAddress) -> HTTPConnection:
    url = urlsplit(server.url)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ServerSilentError(f"{server.url!r} is no address of a server; write http://127.0.0.1:7345")
    kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
    return kind(url.hostname, url.port, timeout=server.timeout)


def _headers(server: ServerAddress) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
    url = urlsplit(server.url)
    if server.token and (url.scheme == "https" or url.hostname in _LOOPBACK):
        headers["Authorization"] = f"Bearer {server.token}"
    return headers
