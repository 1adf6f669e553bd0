"""A loopback OpenAI-compatible endpoint for tests: the network's edge, everything behind it is real."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = Callable[[dict[str, Any]], "str | tuple[int, bytes]"]


@dataclass
class Endpoint:
    """What it was asked, and what it answers: a text becomes a completion, (status, body) is sent as it is."""

    reply: Reply
    url: str = ""
    model: str | None = None
    delay: float = 0.0
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    open: int = 0
    most_open: int = 0

    @property
    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(body) for body in self.bodies]


def completion(text: str, *, model: str, tokens_in: int = 10, tokens_out: int = 2) -> bytes:
    """A chat completion as providers send it."""
    answer = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out},
    }
    return json.dumps(answer).encode()


@contextmanager
def serving(reply: Reply, *, model: str | None = None, delay: float = 0.0) -> Iterator[Endpoint]:
    """An endpoint that answers until the block ends."""
    endpoint = Endpoint(reply, model=model, delay=delay)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            with lock:
                endpoint.bodies.append(body)
                endpoint.headers.append({name.lower(): value for name, value in self.headers.items()})
                endpoint.open += 1
                endpoint.most_open = max(endpoint.most_open, endpoint.open)
            time.sleep(endpoint.delay)
            request = json.loads(body)
            answer = endpoint.reply(request)
            status, data = (
                (200, completion(answer, model=endpoint.model or request["model"]))
                if isinstance(answer, str)
                else answer
            )
            with lock:
                endpoint.open -= 1
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass  # clients that are killed break their connections: that is the test

    server = Server(("127.0.0.1", 0), Handler)
    endpoint.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
