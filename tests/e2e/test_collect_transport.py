"""Whole collections over a transport that breaks: one reservation is one request, and the bank holds every answer."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from collect.endpoint import completion
from collect.suites import solve, write_suite
from skilldelta.bank import Bank
from skilldelta.cli.main import run
from skilldelta.collect.budget import Retries


@dataclass
class Breaking:
    url: str
    received: int = 0
    answered: int = 0


@contextmanager
def breaking_server(every: int) -> Iterator[Breaking]:
    """Keeps connections alive, and resets the connection of every n-th request after reading it whole."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                server.received += 1
                breaks = server.received % every == 0
                server.answered += not breaks
            if breaks:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                self.close_connection = True
                return
            data = completion(solve(request), model=request["model"])
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def finish(self) -> None:
            if not self.close_connection or self.connection.fileno() >= 0:
                super().finish()

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass

    listening = Server(("127.0.0.1", 0), Handler)
    server = Breaking(f"http://127.0.0.1:{listening.server_address[1]}/v1")
    threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()


def entries(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.glob("b.bank.collect/*/ledger.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_reset_after_the_request_was_read_is_one_payment_per_reservation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Retries, "wait", lambda *_: 0.0)
    suite = write_suite(tmp_path / "suite", tasks=6)
    with breaking_server(every=4) as server:
        options = ["--model", "m", "--bank", str(tmp_path / "b.bank"), "--concurrency", "1"]
        assert run(["collect", str(suite), "--base-url", server.url, *options]) == 0
    reserved = [one for one in entries(tmp_path) if "reserved" in one]
    assert len(reserved) == server.received > 12
    with Bank.open(tmp_path / "b.bank") as bank:
        assert [one.status for one in bank.executions()] == ["completed"] * 12
    assert server.answered == 12
    # A request that broke off may have been paid: it is booked at the most it can have cost.
    settled = {one["call"]: one["settled"]["tokens"] for one in entries(tmp_path) if "settled" in one}
    broken = [one for one in reserved if settled[one["call"]] != 12]
    assert len(broken) == server.received - server.answered
    assert all(settled[one["call"]] == one["reserved"]["tokens"] for one in broken)


@pytest.mark.slow
def test_a_providers_own_client_does_not_send_again_behind_the_budgets_back(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    suite = write_suite(tmp_path / "suite", tasks=2)
    solver = tmp_path / "suite" / "plain.py"
    solver.write_text("from inspect_ai.solver import generate\n\ndef plain():\n    return generate()\n")
    with breaking_server(every=3) as server:
        options = ["--model", "m", "--bank", str(tmp_path / "b.bank"), "--concurrency", "1", "--retries", "1"]
        assert run(["collect", str(suite), "--base-url", server.url, *options, "--solver", "plain.py@plain"]) == 0
    assert len([one for one in entries(tmp_path) if "reserved" in one]) == server.received > 4
