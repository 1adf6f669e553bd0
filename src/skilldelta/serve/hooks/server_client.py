"""Asking a running server, within a time limit that holds for everything together: connecting, sending, reading.

Straight to the address that is given: proxies of the environment are for the world outside, and redirections are not
followed. Nothing is sent to a server before it has proved that it is the user's own (`skilldelta.server_proof`), or before
TLS has. A bare socket is used, because loading an HTTP library takes longer than the answer.
"""

from __future__ import annotations

import json
import re
import socket
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from skilldelta.json_text import decode_json
from skilldelta.server_proof import DEFAULT_SERVER, KEY_VARIABLE, PROOF_PATH, is_proof, new_challenge

if TYPE_CHECKING:
    from io import BufferedReader

_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_URL = re.compile(r"(https?)://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?/?")
_MOST_BYTES = 32 << 20
_MOST_HEADERS, _LONGEST_LINE = 100, 1 << 16
_TOKEN_REMEDIES = {
    401: "set SKILLDELTA_TOKEN to a token that `skilldelta token create` made on the server's machine",
    403: "ask for a token of scope write: skilldelta token create NAME --scope write",
}


class ServerSilentError(Exception):
    """There is no answer: nobody is there, or somebody who cannot be asked; the message is one line."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy
        """What the user can do about it, where that is clear."""

    @property
    def in_full(self) -> str:
        """The message with its remedy."""
        return f"{self}; {self.remedy}" if self.remedy else str(self)


class NobodyThereError(ServerSilentError):
    """No server listens at the address, or none of this user has ever run."""


class ServerAddress(NamedTuple):
    """Where a server is, how it is known, and how long it may take."""

    url: str = DEFAULT_SERVER
    token: str = ""
    timeout: float = 1.0
    """Seconds."""
    key: str = ""
    """What the server has to know; see `skilldelta.server_proof.known_key`."""
    key_is_pinned: bool = False
    """Whether the user has named the key, which then stands for TLS on a plain connection to another machine."""


def ask_server(server: ServerAddress, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """The server's answer to a document, or what it has at a path."""
    answers: list[dict[str, Any]] = []
    errors: list[Exception] = []

    def ask() -> None:
        try:
            answers.append(_document(server, *_exchange(server, path, body)))
        except Exception as error:  # handed to whoever waits
            errors.append(error)

    # In a thread, because a time limit of sockets begins anew with every byte that a slow peer sends.
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(server.timeout)
    if answers:
        return answers[0]
    if not errors:
        raise ServerSilentError(f"{server.url} did not answer within {server.timeout:g} s")
    if isinstance(errors[0], ServerSilentError):
        raise errors[0]
    kind = NobodyThereError if isinstance(errors[0], ConnectionRefusedError) else ServerSilentError
    raise kind(f"{server.url} cannot be asked ({errors[0] or type(errors[0]).__name__})") from None


def _exchange(server: ServerAddress, path: str, body: dict[str, Any] | None) -> tuple[int, bytes]:
    """The status and the body of the answer."""
    if not all(" " < character < "\x7f" for character in server.token):
        raise ServerSilentError("the token has characters that no header can hold; check SKILLDELTA_TOKEN")
    address = _URL.fullmatch(server.url)
    if address is None:
        raise ServerSilentError(f"{server.url!r} is no address of a server; write {DEFAULT_SERVER}")
    scheme, host, port = address[1], address[2].strip("[]"), address[3] or ""
    content = b"" if body is None else json.dumps(body).encode()
    method = "GET" if body is None else "POST"
    if scheme == "https":
        return _over_tls(server, host, int(port or 443), (method, path, content))
    if host not in _LOOPBACK and not server.key_is_pinned:
        raise ServerSilentError(
            f"{server.url} is another machine, reached without TLS, so it was sent neither a token nor a prompt",
            f"use https, or on a private network set {KEY_VARIABLE} to what `skilldelta token server-key` prints there",
        )
    if not server.key:
        raise NobodyThereError(f"{server.url} cannot be known as yours: no server of yours has run here yet")
    connected = socket.create_connection((host, int(port or 80)), timeout=server.timeout)
    with connected as connection, connection.makefile("rb") as answers:
        _check_proof(server, connection, answers, host)
        token = f"Authorization: Bearer {server.token}\r\n" if server.token else ""
        kind = f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n" if content else ""
        # HTTP/1.0, in which an answer ends with its connection.
        head = f"{method} {path} HTTP/1.0\r\nHost: {_host_header(host, port)}\r\n{kind}{token}\r\n"
        connection.sendall(head.encode("latin-1") + content)
        return _read_answer(answers)


def _check_proof(server: ServerAddress, connection: socket.socket, answers: BufferedReader, host: str) -> None:
    """Refuse a server that does not know the key. The question then goes over the same connection."""
    challenge = new_challenge()
    peer = connection.getpeername()
    request = f"GET {PROOF_PATH}?challenge={challenge} HTTP/1.1\r\nHost: {_host_header(host, str(peer[1]))}\r\n\r\n"
    connection.sendall(request.encode("latin-1"))
    _, body = _read_answer(answers, most=1 << 16)
    address = None if server.key_is_pinned else f"{peer[0]}:{peer[1]}"
    if not is_proof(_json(body), server.key, address, challenge):
        raise ServerSilentError(
            f"{server.url} has not proved that it is your server, so it was sent nothing",
            f"if another user runs it, set {KEY_VARIABLE} to what `skilldelta token server-key` prints there",
        )


def _read_answer(answers: BufferedReader, most: int = _MOST_BYTES) -> tuple[int, bytes]:
    """The status and the body of an answer; 0 where it is no HTTP. A body without a length ends with the connection."""
    words = answers.readline(_LONGEST_LINE).split()
    if len(words) < 2 or not words[0].startswith(b"HTTP/") or not words[1].isdigit():
        return 0, b""
    for _ in range(_MOST_HEADERS):
        name, _, value = answers.readline(_LONGEST_LINE).partition(b":")
        if name.lower() == b"content-length" and value.strip().isdigit():
            most = min(most, int(value.strip()[:9]))
        if not name.strip():
            break
    return int(words[1][:9]), answers.read(most)


def _host_header(host: str, port: str) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"{name}:{port}" if port else name


def _over_tls(server: ServerAddress, host: str, port: int, request: tuple[str, str, bytes]) -> tuple[int, bytes]:
    from http.client import HTTPSConnection

    method, path, content = request
    headers = {"Accept": "application/json", **({"Content-Type": "application/json"} if content else {})}
    headers |= {"Authorization": f"Bearer {server.token}"} if server.token else {}
    connection = HTTPSConnection(host, port, timeout=server.timeout)
    try:
        connection.request(method, path, content or None, headers)
        response = connection.getresponse()
        return response.status, response.read(_MOST_BYTES)
    finally:
        connection.close()


def _document(server: ServerAddress, status: int, content: bytes) -> dict[str, Any]:
    document = _json(content)
    if not isinstance(document, dict):
        raise ServerSilentError(f"{server.url} does not answer as SkillDelta does (status {status})")
    if status not in (200, 201):
        detail = document.get("detail") or document.get("title") or "no reason"
        remedy = _TOKEN_REMEDIES.get(status, "") if server.token or status == 401 else ""
        raise ServerSilentError(f"{server.url} answered with status {status}: {str(detail)[:300]}", remedy)
    return document


def _json(content: bytes) -> Any:
    """The document of a body; None where it is none."""
    try:
        return decode_json(content)
    except ValueError:
        return None
