"""Spans and metrics reach a collector that the operator names, and nobody otherwise."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli.conftest import Skilldelta, skilldelta  # noqa: F401
from serve.running_server import running

pytest.importorskip("opentelemetry.sdk", reason="the extra otel (opentelemetry-sdk) is not installed")

TRACE = "0af7651916cd43dd8448eb211c80319c"


@contextmanager
def collector() -> Iterator[tuple[str, dict[str, bytes]]]:
    """An OTLP endpoint on loopback, and what it was sent, by path."""
    received: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            received[self.path] = received.get(self.path, b"") + body
            self.send_response(200)
            self.end_headers()

        def log_message(self, *words: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", received
    finally:
        server.shutdown()
        server.server_close()


def spans_of(raw: bytes) -> dict[str, Any]:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest.FromString(raw)
    return {span.name: span for part in request.resource_spans for scope in part.scope_spans for span in scope.spans}


def test_decisions_and_outcomes_become_spans_in_the_callers_trace(bank_path: Path) -> None:
    asked = {"task": "convert my private miles", "skill": "units-skill", "conversation": "chat-17", "source": "dsh"}
    parent = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
    with collector() as (url, received), running(bank_path, "--otel", url) as server:
        httpx.post(f"{server.url}/v1/decide", json=asked, headers=parent).raise_for_status()
        httpx.post(f"{server.url}/v1/outcomes", json={"decision_id": 1, "success": 0.5}).raise_for_status()
        assert server.end() in (0, -15)
        spans = spans_of(received["/v1/traces"])
        named = {one.key: one.value for one in spans["decide_skill"].attributes}
        (event,) = spans["record_outcome"].events
        numbers = received["/v1/metrics"]
    assert spans["decide_skill"].trace_id.hex() == TRACE
    assert named["gen_ai.agent.name"].string_value == "toy"
    assert named["skilldelta.action"].string_value == "use"
    assert named["skilldelta.decision_id"].int_value == 1
    assert named["gen_ai.operation.name"].string_value == "decide_skill"
    assert event.name == "gen_ai.evaluation.result"
    assert {one.key: one.value.double_value for one in event.attributes}["gen_ai.evaluation.score.value"] == 0.5
    for name in (b"http.server.request.duration", b"skilldelta.decisions", b"skilldelta.outcomes"):
        assert name in numbers
    for hidden in (b"private", b"chat-17"):
        assert hidden not in received["/v1/traces"] + numbers


def test_without_the_option_nothing_is_sent_whatever_the_environment_says(
    bank_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collector() as (url, received):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
        with running(bank_path) as server:
            httpx.post(
                f"{server.url}/v1/decide", json={"task": "convert miles", "skill": "units-skill"}
            ).raise_for_status()
            server.end()
        assert received == {}


def test_a_collector_without_an_address_is_refused(skilldelta: Skilldelta, bank_path: Path) -> None:  # noqa: F811
    ran = skilldelta("serve", "--bank", bank_path, "--port", 0, "--otel", "collector")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "http://127.0.0.1:4318" in ran.err
