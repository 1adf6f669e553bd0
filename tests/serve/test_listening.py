"""Clients that are slow, many, or send a great deal hold nobody else."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx
import pytest

from skilldelta.serve.bounded_body import MOST_DEPTH, bounded_json
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.http_api import gate_app
from skilldelta.serve.listening import ConnectionLimits, _is_remote, listening_socket, server

LIMITS = ConnectionLimits(header_seconds=0.7, body_seconds=1.0, connections=12)
QUESTION = {"task": "convert 3 miles", "skill": "units-skill", "record": False}


@contextmanager
def serving(bank_path: Path, limits: ConnectionLimits) -> Iterator[int]:
    running = server(gate_app(GateService.open(bank_path)), limits)
    with listening_socket("127.0.0.1", 0) as listener:
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        end = time.monotonic() + 60
        while not running.started and time.monotonic() < end:
            time.sleep(0.02)
        try:
            yield listener.getsockname()[1]
        finally:
            running.should_exit = True
            thread.join(30)


@pytest.fixture
def port(bank_path: Path) -> Iterator[int]:
    with serving(bank_path, LIMITS) as at:
        yield at


@pytest.fixture
def patient_port(bank_path: Path) -> Iterator[int]:
    """With the limits of `skilldelta serve`: a busy machine sends large bodies slowly."""
    with serving(bank_path, ConnectionLimits()) as at:
        yield at


def ask(port: int, timeout: float = 30) -> httpx.Response:
    return httpx.post(f"http://127.0.0.1:{port}/v1/decide", json=QUESTION, timeout=timeout)


def closed_after(port: int, first: bytes, more: bytes) -> float:
    """Seconds until the server closes a connection on which a byte arrives now and then."""
    began = time.monotonic()
    with closing(socket.create_connection(("127.0.0.1", port))) as client:
        client.sendall(first)
        client.settimeout(0.1)
        while time.monotonic() - began < 20:
            try:
                client.sendall(more)
                if client.recv(1_000) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
    return time.monotonic() - began


def test_a_header_that_never_ends_is_not_waited_for(port: int) -> None:
    assert closed_after(port, b"POST /v1/decide HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"X-More: yes\r\n") < 10


def test_a_client_that_says_nothing_is_not_waited_for(port: int) -> None:
    assert closed_after(port, b"", b"") < 10


def test_a_body_that_never_ends_is_not_waited_for(port: int, caplog: pytest.LogCaptureFixture) -> None:
    head = "POST /v1/decide HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 100000"
    assert closed_after(port, f"{head}\r\n\r\n".encode(), b" ") < 10
    assert "Traceback" not in caplog.text


def test_the_next_request_of_a_connection_has_a_limit_of_its_own(port: int) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as client:
        for _ in range(3):  # longer together than one header may take
            client.request("POST", "/v1/decide", json.dumps(QUESTION), {"Content-Type": "application/json"})
            response = client.getresponse()
            assert response.status == 200
            response.read()
            time.sleep(LIMITS.header_seconds)
        assert client.sock is not None
        client.sock.sendall(b"POST /v1/decide HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        try:
            rest = client.sock.recv(1_000)
        except ConnectionError:
            rest = b""
        assert rest == b""


def test_more_idle_connections_than_there_may_be_leave_room_for_a_question(bank_path: Path) -> None:
    patient = ConnectionLimits(header_seconds=60, connections=12)
    with serving(bank_path, patient) as port, ExitStack() as idle:
        for _ in range(60):
            client = idle.enter_context(closing(socket.create_connection(("127.0.0.1", port))))
            client.sendall(b"POST /v1/decide HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        assert [ask(port).status_code for _ in range(3)] == [200, 200, 200]


def test_only_clients_of_other_machines_are_counted_one_by_one() -> None:
    assert [_is_remote(client) for client in (("127.0.0.1", 1), ("::1", 1), ("10.0.0.7", 1), None)] == [
        False, False, True, False,
    ]  # fmt: skip


def test_bodies_of_very_many_fields_are_refused_and_health_is_answered_meanwhile(patient_port: int) -> None:
    port = patient_port
    body = json.dumps({f"u{i}": 1 for i in range(300_000)}).encode()
    assert len(body) < 4 << 20
    statuses: list[int] = []

    def send() -> None:
        headers = {"Content-Type": "application/json"}
        statuses.append(
            httpx.post(f"http://127.0.0.1:{port}/v1/decide", content=body, headers=headers, timeout=60).status_code
        )

    senders = [threading.Thread(target=send) for _ in range(6)]
    for sender in senders:
        sender.start()
    slowest = 0.0
    while any(sender.is_alive() for sender in senders):
        began = time.monotonic()
        assert httpx.get(f"http://127.0.0.1:{port}/v1/health", timeout=30).status_code == 200
        slowest = max(slowest, time.monotonic() - began)
    for sender in senders:
        sender.join()
    assert statuses == [413] * 6
    assert slowest < 5


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 5_000 + b"]" * 5_000,
        b"[" * (MOST_DEPTH + 1) + b"]" * (MOST_DEPTH + 1),
        b'{"a":' * (MOST_DEPTH + 1) + b"1" + b"}" * (MOST_DEPTH + 1),
        json.dumps([{"a": 1, "b": 2}] * 10_001).encode(),
        json.dumps(dict.fromkeys(map(str, range(501)), 1)).encode(),
        json.dumps(dict.fromkeys((f"{i}\\" for i in range(21_000)), 1)).encode(),
    ],
    ids=["too deep to parse", "lists", "objects", "keys in all", "keys of one", "keys that end in a backslash"],
)
def test_a_document_with_too_many_keys_or_levels_is_refused(port: int, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = httpx.post(f"http://127.0.0.1:{port}/v1/decide/batch", content=body, headers=headers)
    assert answer.status_code == 413
    assert "at most" in answer.json()["detail"]


def test_a_document_within_the_bounds_is_what_it_says() -> None:
    deep = b"[" * MOST_DEPTH + b"]" * MOST_DEPTH
    assert bounded_json(deep) == json.loads(deep)
    text = json.dumps({"task": '[[[{{{"a":' * 30_000, "list": [1, {"a": None}]}).encode()
    assert bounded_json(text) == json.loads(text)
