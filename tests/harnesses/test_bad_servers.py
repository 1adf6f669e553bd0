"""Servers that hang, drip, die or lie, behind the real programs: the agent goes on without the skill, and in time."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from harnesses.conftest import UNITS, WAREHOUSE
from harnesses.fake_models import ANSWER, FakeModels
from harnesses.harness_runs import KEY, HarnessRun
from harnesses.test_every_harness import HARNESSES
from skilldelta.server_proof import proof

pytestmark = pytest.mark.slow
Start = Callable[..., HarnessRun]
OK = b"HTTP/1.1 200 OK\r\n"
LIMIT = 20.0
"""Seconds for a run that may wait for the server twice, 5 s each, and starts slowly on a busy machine."""


def _hang(connection: socket.socket, ended: threading.Event) -> None:
    ended.wait(300)


def _drip(connection: socket.socket, ended: threading.Event) -> None:
    connection.sendall(OK + b"content-length: 9000\r\n\r\n")
    while not ended.wait(0.1):
        connection.sendall(b" ")


def _die(connection: socket.socket, ended: threading.Event) -> None:
    connection.sendall(OK + b'content-length: 9000\r\n\r\n{"action": "use", ')


def _garbage(connection: socket.socket, ended: threading.Event) -> None:
    connection.sendall(OK + b"content-length: 7\r\n\r\n\x00\xff{]use")


def _flood(connection: socket.socket, ended: threading.Event) -> None:
    connection.sendall(OK + b"\r\n")
    while not ended.is_set():
        connection.sendall(b"x" * 65_536)


def _wrong_types(connection: socket.socket, ended: threading.Event) -> None:
    body = (
        b'{"action": ["use"], "skill": {}, "gain": "big", "reason": 7, "decisions": 5, "choice": [], "skill_text": {}}'
    )
    connection.sendall(OK + b"content-length: %d\r\n\r\n" % len(body) + body)


SERVERS = {
    "hung": _hang,
    "dripping": _drip,
    "killed": _die,
    "garbage": _garbage,
    "flood": _flood,
    "wrong types": _wrong_types,
}


@contextmanager
def bad_server(kind: str, *, is_proven: bool) -> Iterator[str]:
    """A server of that kind, before or after it has proved whose it is; yields its address."""
    ended = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            head = connection.recv(1 << 20)
            if is_proven:
                challenge = head.partition(b"challenge=")[2].split()[0].decode()
                address = "{}:{}".format(*connection.getsockname())
                body = json.dumps({"address": address, "proof": proof(KEY, address, challenge)}).encode()
                connection.sendall(OK + b"content-length: %d\r\n\r\n" % len(body) + body)
                connection.recv(1 << 20)
            SERVERS[kind](connection, ended)

    def accept() -> None:
        with suppress(OSError):
            while not ended.is_set():
                connection, _ = listener.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        ended.set()
        listener.close()


@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize("name", HARNESSES)
def test_no_server_stops_or_holds_the_agent(name: str, kind: str, start: Start, models: FakeModels) -> None:
    with bad_server(kind, is_proven=kind != "hung" or name in ("opencode", "gemini")) as url:
        run = start(name, server=url)
        if name == "opencode":
            run.ask("Hello.", timeout=180)  # its first run fetches a package, which takes a minute
            models.requests.clear()
        started = time.monotonic()
        assert ANSWER in run.ask(WAREHOUSE, timeout=60)
        assert time.monotonic() - started < LIMIT
    assert WAREHOUSE in models.steps[0].text
    assert UNITS not in models.steps[0].text
