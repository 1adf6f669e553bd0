"""A loopback server that answers every question with one arm: how a collection puts a skill where the gate would put it.

The harness runs with its adapter as it is installed, and the adapter asks this server instead of a gate. So the use arm of
the bank is what a deployed adapter does when the gate says use, and the skip arm what it does when the gate says skip.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from skilldelta.json_text import decode_json
from skilldelta.records import Condition
from skilldelta.server_proof import PROOF_PATH, proof

# Bytes of an event, as hooks read them.
_MOST_BYTES = 16 << 20
REASON: Final = "this execution is one arm of a collection"


@dataclass(slots=True)
class ForcedArm:
    """Where to ask, and what was asked and told so far."""

    condition: Condition
    skill_text: str
    url: str = ""
    key: str = field(default_factory=lambda: os.urandom(32).hex())
    """What proves to the adapter that it asks the right server."""
    asked: int = 0
    """Questions that were answered; without one, the adapter did not run."""
    outcomes: list[dict[str, Any]] = field(default_factory=list)

    @property
    def tokens(self) -> float | None:
        """The last count of tokens that the adapter reported, where it does."""
        counts = [outcome["tokens"] for outcome in self.outcomes if isinstance(outcome.get("tokens"), int | float)]
        return float(counts[-1]) if counts else None

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """The answer to one request, as a gate would give it."""
        if path == "/v1/outcomes":
            self.outcomes.append(body)
            return 201, {"recorded": True}
        is_adapter = path.startswith("/v1/hooks/")
        if path != "/v1/choose" and not is_adapter:
            return 404, {"title": "Not found", "status": 404}
        self.asked += 1
        # What adapters read of a decision, and nothing that looks like evidence.
        document = {"action": self.condition, "gain": 0.0, "threshold": 0.0, "reason": REASON, "fallback": False}
        first = (body.get("skills") or [""])[0]
        skill = str(first.get("name", "") if isinstance(first, dict) else first)
        document |= {"skill": skill, "repeated": False, "decision_id": self.asked}
        if is_adapter:
            injected = {"skill": skill, "text": self.skill_text} if self.condition == "use" else {}
            return 200, {**injected, "denied": {}, "decisions": [document]}
        text = {"skill_text": self.skill_text or None} if body.get("include_skill_text") else {}
        return 200, {"choice": skill if self.condition == "use" else None, "decisions": [{**document, **text}]}


class _QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing: a peer that disconnects early is no news, and its traceback belongs on nobody's screen."""


@contextmanager
def forced_arm(condition: Condition, skill_text: str) -> Iterator[ForcedArm]:
    """A server for one execution, on a port of its own."""
    arm = ForcedArm(condition, skill_text)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # the proof and the question come over one connection

        def do_POST(self) -> None:
            # The agent under test can reach this port too: whatever it sends is answered, and never printed.
            try:
                length = int(self.headers.get("Content-Length") or 0)
                if not 0 < length <= _MOST_BYTES:
                    raise ValueError("no body, or too large a one")
                body = decode_json(self.rfile.read(length))
            except ValueError:
                self._send(400, {"title": "Not a question", "status": 400})
                return
            self._send(*arm.answer(self.path, body if isinstance(body, dict) else {}))

        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            if path == PROOF_PATH:
                host, port = self.connection.getsockname()[:2]
                challenge = query.removeprefix("challenge=")
                self._send(200, {"address": f"{host}:{port}", "proof": proof(arm.key, f"{host}:{port}", challenge)})
            else:
                self._send(200, {"status": "ok", "ready": True})

        def _send(self, status: int, document: dict[str, Any]) -> None:
            content = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Print nothing: standard error belongs to the command."""

    server = _QuietServer(("127.0.0.1", 0), Handler)
    arm.url = f"http://127.0.0.1:{server.server_address[1]}"
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    serving.start()
    try:
        yield arm
    finally:
        server.shutdown()
        server.server_close()
        serving.join(5)
