"""A server that answers as it is told, on loopback: the edge of the network in tests of hooks."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from skilldelta.harnesses import harness_named
from skilldelta.harnesses.harness import Dialect
from skilldelta.server_proof import PROOF_PATH, proof

HOSTS = ("claude-code", "codex", "gemini")
"""The harnesses that run hooks."""


def dialect_of(host: str) -> Dialect:
    dialect = harness_named(host).dialect
    assert dialect is not None
    return dialect


Reply = Callable[[str, dict[str, Any]], tuple[int, Any]]


KEY = "of the user who runs the tests, and long enough"


@dataclass
class FakeGate:
    """What the server was asked, and where it is."""

    url: str
    key: str = KEY
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


def decision(skill: str, action: str = "use", **more: Any) -> dict[str, Any]:
    known = {"gain": 0.5, "reason": f"predicted to {action}", "fallback": False, "certainty": "sure", "decision_id": 7}
    return {"skill": skill, "action": action, **known, **more}


def says(action: str, **more: Any) -> Reply:
    """A gate that decides the same about every skill."""

    def reply(path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if path == "/v1/outcomes":
            return 201, {}
        if body.get("wished"):
            return 200, {"choice": body["skills"][0], "decisions": [decision(body["skills"][0], "use", **more)]}
        if "skills" in body:
            decisions = [decision(name, action, **more) for name in body["skills"]]
            return 200, {"choice": body["skills"][-1] if action == "use" else None, "decisions": decisions}
        return 200, decision(body["skill"], action, **more)

    return reply


class ProvenHandler(BaseHTTPRequestHandler):
    """Proves that it is the user's own, and has documents to read."""

    protocol_version = "HTTP/1.1"

    def documents(self) -> dict[str, Any]:
        return {}

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        documents = dict(self.documents())
        if path == PROOF_PATH:
            host, port = self.connection.getsockname()[:2]
            challenge = query.removeprefix("challenge=")
            documents[path] = {"address": f"{host}:{port}", "proof": proof(KEY, f"{host}:{port}", challenge)}
        content = json.dumps(documents.get(path, {})).encode()
        self.send_response(200 if path in documents else 404)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def fake_gate(reply: Reply, *, seconds: float = 0.0) -> Iterator[FakeGate]:
    """A running server; it takes its time before every answer."""

    class Handler(ProvenHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.asked.append((self.path, body))
            found.headers.append(dict(self.headers))
            time.sleep(seconds)
            status, document = reply(self.path, body)
            content = document if isinstance(document, bytes) else json.dumps(document).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
            except OSError:  # the hook did not wait
                pass

        def log_message(self, format: str, *words: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found = FakeGate(f"http://127.0.0.1:{server.server_address[1]}")
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def documents_at(documents: dict[str, Any]) -> Iterator[str]:
    """A server that has documents to read, by their paths; yields its address."""

    class Handler(ProvenHandler):
        def documents(self) -> dict[str, Any]:
            return documents

        def log_message(self, format: str, *words: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
