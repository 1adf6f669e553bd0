"""A model server on loopback that keeps every request and answers in the dialect that it was asked in.

It speaks Anthropic messages, OpenAI responses and chat completions, and Gemini's generateContent, streamed or whole. It is
the only part of the harness tests that is not real.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harnesses import dialects
from harnesses.dialects import Reply

ANSWER = "FAKE-ANSWER"


@dataclass(frozen=True)
class ModelRequest:
    """One request as it arrived; `time` is when its last byte was read."""

    dialect: str
    path: str
    body: dict[str, Any]
    time: float

    @property
    def offers_tools(self) -> bool:
        """Whether it is a step of the agent; titles and summaries are asked for without tools."""
        return bool(self.body.get("tools"))

    @property
    def text(self) -> str:
        """The whole request as text, for assertions about what the model saw."""
        return json.dumps(self.body, ensure_ascii=False)


@dataclass
class FakeModels:
    """The requests so far. `tool` is called once, in the first step that offers it; every other answer is ANSWER."""

    url: str = ""
    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    requests: list[ModelRequest] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _called: bool = False

    @property
    def steps(self) -> list[ModelRequest]:
        """The requests in which the agent works."""
        return [request for request in self.requests if request.offers_tools]

    def reply(self, request: ModelRequest) -> Reply:
        with self._lock:
            self.requests.append(request)
            if self.tool and not self._called and dialects.offers(request.body, self.tool):
                self._called = True
                return Reply(tool=self.tool, arguments=self.arguments)
        return Reply(text=ANSWER)


@contextmanager
def fake_models(tool: str = "", arguments: dict[str, Any] | None = None) -> Iterator[FakeModels]:
    """Serve for as long as the block lasts."""
    models = FakeModels(tool=tool, arguments=arguments or {})

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            dialect = dialects.of(self.path)
            body = json.loads(raw) if raw else {}
            if dialect == "":
                return self._send(404, "application/json", b"{}")
            reply = models.reply(ModelRequest(dialect, self.path, body, time.perf_counter()))
            kind, payload = dialects.encode(dialect, reply, streamed=dialects.is_streamed(self.path, body))
            return self._send(200, kind, payload)

        def do_GET(self) -> None:
            self._send(404, "application/json", b"{}")

        def do_HEAD(self) -> None:
            self.do_GET()

        def _send(self, status: int, kind: str, payload: bytes) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, format: str, *args: object) -> None:
            """Silence: the requests are kept."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    models.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield models
    finally:
        server.shutdown()
        server.server_close()
