"""Asking a running server, within a time limit that holds for everything together: connecting, sending, reading.

Straight to the address that is given: proxies of the environment are for the world outside, and redirections are not
followed. A token is sent to this machine or over TLS only. This machine is spoken to over a bare socket, because loading
an HTTP library takes longer than the answer.
"""

from __future__ import annotations

import json
import socket
import threading
from typing import Any, NamedTuple

DEFAULT_SERVER = "http://127.0.0.1:7345"
_NEAR = "http://127.0.0.1:"
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
    spent: float = 0.0
    """Seconds of them that are gone."""


class _Response(NamedTuple):
    status: int
    content: bytes


def ask_server(server: ServerAddress, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """The server's answer to a document."""
    left = server.timeout - server.spent
    if left <= 0:
        raise ServerSilentError(_silence(server))
    found: list[dict[str, Any]] = []
    failed: list[Exception] = []

    def ask() -> None:
        try:
            content = json.dumps(body).encode()
            port = server.url.removeprefix(_NEAR).removesuffix("/")
            near = server.url.startswith(_NEAR) and port.isdecimal()
            response = _near(server, int(port), path, content) if near else _far(server, path, content)
            found.append(_answer(server, response))
        except Exception as error:  # handed to whoever waits
            failed.append(error)

    # In a thread, because a time limit of sockets begins anew with every byte that a slow peer sends.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(left)
    if found:
        return found[0]
    if not failed:
        raise ServerSilentError(_silence(server))
    if isinstance(failed[0], ServerSilentError):
        raise failed[0]
    raise ServerSilentError(f"{server.url} cannot be asked ({failed[0] or type(failed[0]).__name__})") from None


def _silence(server: ServerAddress) -> str:
    return f"{server.url} did not answer within {server.timeout:g} s"


def _near(server: ServerAddress, port: int, path: str, content: bytes) -> _Response:
    """HTTP/1.0, in which an answer ends with its connection."""
    headers = {**_headers(server.token), "Host": f"127.0.0.1:{port}", "Content-Length": str(len(content))}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
        connection.settimeout(server.timeout)
        connection.connect(("127.0.0.1", port))
        connection.sendall(f"POST {path} HTTP/1.0\r\n{head}\r\n".encode("latin-1") + content)
        answer = bytearray()
        while (received := connection.recv(1 << 16)) and len(answer) < _MOST_BYTES:
            answer += received
    told, _, body = bytes(answer).partition(b"\r\n\r\n")
    words = told.split(b"\r\n", 1)[0].split()
    if len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
        raise ServerSilentError(f"{server.url} does not answer as SkillDelta does")
    return _Response(int(words[1][:9]), body)


def _far(server: ServerAddress, path: str, content: bytes) -> _Response:
    from http.client import HTTPConnection, HTTPSConnection
    from urllib.parse import urlsplit

    url = urlsplit(server.url)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ServerSilentError(f"{server.url!r} is no address of a server; write {DEFAULT_SERVER}")
    is_private = url.scheme == "https" or url.hostname in _LOOPBACK
    kind = HTTPSConnection if url.scheme == "https" else HTTPConnection
    connection = kind(url.hostname, url.port, timeout=server.timeout)
    try:
        connection.request("POST", path, content, _headers(server.token if is_private else ""))
        response = connection.getresponse()
        return _Response(response.status, response.read(_MOST_BYTES))
    finally:
        connection.close()


def _headers(token: str) -> dict[str, str]:
    if not all(" " < character < "\x7f" for character in token):
        raise ServerSilentError("the token has characters that no header can hold; check SKILLDELTA_TOKEN")
    headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
    return {**headers, "Authorization": f"Bearer {token}"} if token else headers


def _answer(server: ServerAddress, response: _Response) -> dict[str, Any]:
    try:
        document = json.loads(response.content)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ServerSilentError(f"{server.url} does not answer as SkillDelta does (status {response.status})")
    if response.status not in (200, 201):
        said = document.get("detail") or document.get("title") or "no reason"
        raise ServerSilentError(f"{server.url} answered with status {response.status}: {str(said)[:300]}")
    return document
