"""The endpoint encoder against a real HTTP server on loopback that misbehaves on request."""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from skilldelta.encoders import EncoderError
from skilldelta.encoders.openai import OpenAIEncoder
from skilldelta.errors import InputError, SkillDeltaError

KEY = "sk-not-a-real-key"


@dataclass
class Reply:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    hang_up: bool = False


@dataclass
class Endpoint:
    """What the server heard, and what it says: the scripted replies first, then true embeddings."""

    url: str
    scripted: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def reply(self, body: dict[str, Any]) -> Reply:
        if self.scripted:
            return self.scripted.pop(0)
        size = body.get("dimensions", 3)
        items = [{"index": i, "embedding": _embedding(text, size)} for i, text in enumerate(body["input"])]
        return answer(items[::-1])  # deliberately not in the order of the texts


def _embedding(text: str, size: int) -> list[float]:
    return [float(len(text)), 1.0, float(text.count("a")), *[0.0] * (size - 3)][:size]


def answer(items: list[Any]) -> Reply:
    return Reply(body=json.dumps({"object": "list", "data": items}).encode())


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            heard.requests.append(body)
            heard.headers.append(dict(self.headers))
            heard.paths.append(self.path)
            reply = heard.reply(body)
            if reply.hang_up:
                self.close_connection = True
                return
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    heard = Endpoint(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield heard
    server.shutdown()
    server.server_close()
    thread.join()


def noting(waits: list[float]) -> Callable[[float], Awaitable[None]]:
    """A sleep that takes no time and remembers how long it was asked for."""

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    return sleep


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def make(endpoint: Endpoint, waits: list[float]) -> Callable[..., OpenAIEncoder]:
    def make(**options: Any) -> OpenAIEncoder:
        given: dict[str, Any] = {"api_key": KEY, "sleep": noting(waits), "timeout": 10.0} | options
        return OpenAIEncoder(endpoint.url, "small", **given)

    return make


def test_rows_follow_the_texts_whatever_the_order_of_the_answer(make: Callable[..., OpenAIEncoder]) -> None:
    vectors = make().encode(["aa", "b", "ccc"])

    expected = np.array([[2, 1, 2], [1, 1, 0], [3, 1, 0]])
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), atol=1e-6)
    assert vectors.dtype == np.float32


def test_texts_are_sent_in_batches_with_model_and_key(make: Callable[..., OpenAIEncoder], endpoint: Endpoint) -> None:
    make(batch_size=2).encode(["a", "b", "c", "d", "e"])

    assert [request["input"] for request in endpoint.requests] == [["a", "b"], ["c", "d"], ["e"]]
    assert {request["model"] for request in endpoint.requests} == {"small"}
    assert endpoint.paths == ["/v1/embeddings"] * 3
    assert all(headers["Authorization"] == f"Bearer {KEY}" for headers in endpoint.headers)


def test_without_a_key_no_authorization_is_sent(make: Callable[..., OpenAIEncoder], endpoint: Endpoint) -> None:
    make(api_key=None).encode(["a"])

    assert "Authorization" not in endpoint.headers[0]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_passing_trouble_is_tried_again_with_growing_waits(
    status: int, make: Callable[..., OpenAIEncoder], endpoint: Endpoint, waits: list[float]
) -> None:
    endpoint.scripted = [Reply(status), Reply(status)]

    assert make(backoff=0.5).encode(["a"]).shape == (1, 3)
    assert waits == [0.5, 1.0]


def test_a_dropped_connection_is_tried_again(
    make: Callable[..., OpenAIEncoder], endpoint: Endpoint, waits: list[float]
) -> None:
    endpoint.scripted = [Reply(hang_up=True), Reply(body=b"{", headers={"Content-Length": "99"})]

    assert make().encode(["a"]).shape == (1, 3)
    assert len(waits) == 2


def test_the_servers_own_wait_is_respected_within_reason(
    make: Callable[..., OpenAIEncoder], endpoint: Endpoint, waits: list[float]
) -> None:
    endpoint.scripted = [
        Reply(429, headers={"Retry-After": "7"}),
        Reply(429, headers={"Retry-After": "86400"}),
        Reply(429, headers={"Retry-After": "tomorrow"}),
    ]
    make(backoff=0.5).encode(["a"])

    assert waits == [7.0, 60.0, 2.0]


def test_trouble_that_stays_is_reported_after_the_last_attempt(
    make: Callable[..., OpenAIEncoder], endpoint: Endpoint, waits: list[float]
) -> None:
    endpoint.scripted = [Reply(503)] * 9

    with pytest.raises(EncoderError, match=r"did not answer in 3 attempts \(last: HTTP 503\)"):
        make(attempts=3).encode(["a"])
    assert len(waits) == 2
    assert len(endpoint.requests) == 3


def test_nobody_listening_is_reported_with_the_address(waits: list[float]) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    port = server.server_port
    server.server_close()

    with pytest.raises(EncoderError, match=rf"http://127.0.0.1:{port}/v1/embeddings did not answer"):
        OpenAIEncoder(f"http://127.0.0.1:{port}/v1", "m", sleep=noting(waits)).encode(["a"])
    assert waits == [0.5, 1.0, 2.0]


def test_a_silent_server_runs_into_the_timeout(waits: list[float]) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        with pytest.raises(EncoderError, match="timed out"):
            OpenAIEncoder(url, "m", timeout=0.1, attempts=2, sleep=noting(waits)).encode(["a"])


def test_a_refused_request_without_a_key_says_that_there_was_none(
    make: Callable[..., OpenAIEncoder], endpoint: Endpoint, waits: list[float]
) -> None:
    endpoint.scripted = [Reply(401)]

    with pytest.raises(InputError, match="without an API key"):
        make(api_key=None).encode(["a"])
    assert waits == [], "a refusal is final"


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 422])
def test_no_message_ever_shows_the_key(status: int, make: Callable[..., OpenAIEncoder], endpoint: Endpoint) -> None:
    endpoint.scripted = [Reply(status, f"bad key\n{KEY} for you".encode(), {"Location": f"http://127.0.0.1:9/{KEY}"})]

    with pytest.raises(SkillDeltaError) as caught:
        make().encode(["a"])
    assert KEY not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert str(status) in str(caught.value)


def test_a_redirect_is_reported_and_not_followed(make: Callable[..., OpenAIEncoder], endpoint: Endpoint) -> None:
    endpoint.scripted = [Reply(302, headers={"Location": f"{endpoint.url}/elsewhere"})]

    with pytest.raises(InputError, match="redirects"):
        make().encode(["a"])
    assert endpoint.paths == ["/v1/embeddings"]


@pytest.mark.parametrize(
    "items",
    [
        [],
        [{"index": 0, "embedding": [1, 0]}],
        [{"index": 0, "embedding": [1, 0]}, {"index": 0, "embedding": [1, 0]}],
        [{"index": 0, "embedding": [1, 0]}, {"index": 2, "embedding": [1, 0]}],
        [{"embedding": [1, 0]}, {"embedding": [1, 0]}],
        [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [1, 0, 0]}],
        [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [1, None]}],
        [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [1, float("nan")]}],
        [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [1, 10**400]}],
        [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": []}],
        [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": "AAAA"}],
        [{"index": 0, "embedding": [1, 0]}, {"index": 1, "embedding": [0, 0]}],
        [{"index": 0, "embedding": [1, 0]}, 7],
    ],
)
def test_an_answer_that_is_not_one_good_vector_a_text_is_refused(
    items: list[Any], make: Callable[..., OpenAIEncoder], endpoint: Endpoint
) -> None:
    endpoint.scripted = [answer(items)]

    with pytest.raises(SkillDeltaError):
        make().encode(["a", "b"])


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"data": 3}', b"", b"\xff", b"[" * 100_000])
def test_an_answer_of_another_kind_is_refused(
    body: bytes, make: Callable[..., OpenAIEncoder], endpoint: Endpoint
) -> None:
    endpoint.scripted = [Reply(body=body)]

    with pytest.raises(EncoderError):
        make().encode(["a"])


def test_a_dimension_that_changes_between_calls_is_refused(
    make: Callable[..., OpenAIEncoder], endpoint: Endpoint
) -> None:
    encoder = make()
    encoder.encode(["a"])
    endpoint.scripted = [answer([{"index": 0, "embedding": [1, 0]}])]

    with pytest.raises(EncoderError, match="answered 2 dimensions where 3 were expected"):
        encoder.encode(["b"])


def test_asked_dimensions_are_sent_checked_and_named(make: Callable[..., OpenAIEncoder], endpoint: Endpoint) -> None:
    encoder = make(dimensions=5)

    assert encoder.encode(["a"]).shape == (1, 5)
    assert endpoint.requests[0]["dimensions"] == 5
    assert encoder.identity.endswith("/v1/small/5/l2")


def test_the_identity_needs_no_request_and_tells_endpoints_apart(
    make: Callable[..., OpenAIEncoder], endpoint: Endpoint
) -> None:
    place = endpoint.url.removeprefix("http://")

    assert make().identity == f"openai/{place}/small/native/l2"
    assert endpoint.requests == []
    assert make().identity != OpenAIEncoder("http://127.0.0.1:1/v1", "small").identity


def test_an_empty_text_is_refused_before_anything_is_sent(
    make: Callable[..., OpenAIEncoder], endpoint: Endpoint
) -> None:
    with pytest.raises(InputError, match="text 1 is empty"):
        make().encode(["a", ""])
    assert endpoint.requests == []


@pytest.mark.parametrize("url", ["", "host/v1", "ftp://host", "http://", "http://host:port/v1", "http://[bad"])
def test_a_base_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="base URL"):
        OpenAIEncoder(url, "m")


def test_a_key_inside_the_url_is_refused_without_showing_it() -> None:
    with pytest.raises(InputError, match="must not hold a user or key") as caught:
        OpenAIEncoder(f"https://user:{KEY}@127.0.0.1/v1", "m")
    assert KEY not in str(caught.value)


def test_a_key_that_no_header_can_carry_is_refused_without_showing_it() -> None:
    with pytest.raises(InputError, match="copy it again") as caught:
        OpenAIEncoder("https://127.0.0.1/v1", "m", api_key=f"{KEY}\n{KEY}")
    assert KEY not in str(caught.value)


def test_threads_encode_at_the_same_time(make: Callable[..., OpenAIEncoder]) -> None:
    encoder = make()
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda _: encoder.encode(["one two"]), range(40)))
    assert all(np.array_equal(one, rows[0]) for one in rows)
