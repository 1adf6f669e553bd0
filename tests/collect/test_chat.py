from __future__ import annotations

import asyncio
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from collect.endpoint import completion, serving
from skilldelta.collect.arms import Message
from skilldelta.collect.chat import ChatEndpoint, Completion, Sampling, check_model, request_body
from skilldelta.collect.failures import IncompleteError, StopCollectionError, TransportError
from skilldelta.collect.http import HttpClient
from skilldelta.errors import InputError

SAMPLING = Sampling("m", temperature=0.2, max_tokens=9, stop=("\n",))


def ask(answer: Any, *, key: str = "", model: str | None = None) -> Completion:
    with serving(lambda request: answer, model=model) as endpoint:
        return asyncio.run(
            ChatEndpoint(endpoint.url, key, timeout=10).complete(SAMPLING, request_body(SAMPLING, [], seed=1))
        )


def test_a_request_is_the_same_bytes_every_time_and_leaves_out_what_is_not_set() -> None:
    body = request_body(Sampling("m"), [Message("user", "é")], seed=3)
    expected = '{"model":"m","messages":[{"role":"user","content":"é"}],"temperature":0.0,"max_tokens":1024,"seed":3}'
    assert body == expected.encode()
    assert b'"stop":["\\n"]' in request_body(SAMPLING, [], seed=3)


def test_a_completion_is_read_with_its_tokens() -> None:
    assert ask("hello") == Completion("hello", "m", "stop", 10, 2, seconds=0.0)


def test_an_empty_completion_is_an_answer_not_an_error() -> None:
    body = completion("", model="m").replace(b'"content": ""', b'"content": null')
    assert ask((200, body)).text == ""


def test_the_key_is_sent_and_never_shown() -> None:
    with serving(lambda request: "x") as endpoint:
        chat = ChatEndpoint(endpoint.url, "sk-secret", timeout=10)
        asyncio.run(chat.complete(SAMPLING, request_body(SAMPLING, [], seed=0)))
    assert endpoint.headers[0]["authorization"] == "Bearer sk-secret"
    assert "sk-secret" not in repr(chat)


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        ((401, b'{"error": {"message": "bad key"}}'), StopCollectionError, "refused the key (HTTP 401: bad key)"),
        ((404, b'{"error": "no such model"}'), StopCollectionError, "does not know model 'm'"),
        ((400, b'{"error": {"message": "too long"}}'), IncompleteError, "too long"),
        ((429, b"slow down"), TransportError, "HTTP 429: slow down"),
        ((500, b""), TransportError, "HTTP 500: no reason given"),
        ((200, b"<html>"), TransportError, "not a chat completion"),
        ((200, b'{"choices": []}'), TransportError, "not a chat completion"),
        ((200, b'{"choices": [{"message": "text"}]}'), TransportError, "not a chat completion"),
    ],
)
def test_what_is_not_a_completion_is_called_by_its_meaning(answer: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        ask(answer)
    assert said in str(caught.value)


@pytest.mark.parametrize(("asked", "returned"), [("m", "m"), ("m", "M"), ("gpt-x", "gpt-x-2024-08-06"), ("m", "")])
def test_the_asked_model_and_its_dated_name_pass(asked: str, returned: str) -> None:
    check_model(asked, returned)


@pytest.mark.parametrize(("asked", "returned"), [("m", "n"), ("gpt-x", "gpt-x-mini"), ("gpt-x-mini", "gpt-x")])
def test_another_model_stops_the_collection(asked: str, returned: str) -> None:
    with pytest.raises(StopCollectionError, match="the endpoint answered as"):
        check_model(asked, returned)


def test_a_returned_name_that_was_announced_passes() -> None:
    with serving(lambda request: "x", model="weights.gguf") as endpoint:
        chat = ChatEndpoint(endpoint.url, timeout=10, expected_model="weights.gguf")
        assert asyncio.run(chat.complete(SAMPLING, request_body(SAMPLING, [], seed=0))).text == "x"


def raw_server(answers: list[bytes]) -> tuple[str, threading.Thread]:
    """Answers each connection with raw bytes, then closes it."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with listening:
            for answer in answers:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}", thread


def post(answer: bytes, times: int = 1) -> list[bytes]:
    url, thread = raw_server([answer] * times)

    async def main() -> list[bytes]:
        client = HttpClient(url, timeout=5)
        return [(await client.post("/x", b"{}", {})).body for _ in range(times)]

    bodies = asyncio.run(main())
    thread.join(5)
    return bodies


def test_a_chunked_answer_is_put_together() -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
    assert post(chunked) == [b"abcde"]


def test_a_connection_that_the_server_closed_is_replaced_without_an_error() -> None:
    assert post(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", times=3) == [b"ok"] * 3


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_a_broken_answer_is_a_transport_error(answer: bytes) -> None:
    with pytest.raises(TransportError):
        post(answer)


def test_no_answer_in_time_is_a_transport_error(tmp_path: Path) -> None:
    with serving(lambda request: "x", delay=5) as endpoint:
        client = HttpClient(endpoint.url, timeout=0.2)
        with pytest.raises(TransportError, match=r"within 0.2 s"):
            asyncio.run(client.post("/chat/completions", b"{}", {}))


def test_an_address_that_is_no_url_is_refused() -> None:
    with pytest.raises(InputError, match="must be an http or https URL"):
        HttpClient("localhost:8000")


def test_an_endpoint_that_is_down_is_found_before_the_first_call() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(InputError, match="nothing answers at"):
        asyncio.run(HttpClient(f"http://127.0.0.1:{port}/v1").check())
