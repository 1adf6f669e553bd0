"""The JSON endpoint against loopback servers that speak HTTP badly, slowly, too much, or break off."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from skilldelta import endpoint as endpoint_module
from skilldelta.endpoint import (
    EndpointReply,
    JsonEndpoint,
    NoAnswerError,
    check_base_url,
    check_key,
    read_json,
    run_blocking,
)
from skilldelta.errors import InputError

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Serve = Callable[[socket.socket], None]


@dataclass
class RawServer:
    url: str
    requests: list[bytes] = field(default_factory=list)

    def read_request(self, connection: socket.socket) -> bytes:
        """Head and body of one request; nothing when the client is gone."""
        data = b""
        while b"\r\n\r\n" not in data:
            part = connection.recv(65536)
            if not part:
                return b""
            data += part
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        while len(body) < length:
            body += connection.recv(65536)
        self.requests.append(head + b"\r\n\r\n" + body)
        return self.requests[-1]


@contextmanager
def raw_server(serve: Callable[[RawServer, socket.socket], None]) -> Iterator[RawServer]:
    """Hands every connection to `serve`, one thread each."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = RawServer(f"http://127.0.0.1:{listening.getsockname()[1]}/v1")

    def handle(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            serve(server, connection)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=handle, args=(listening.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server
    finally:
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits in accept
        listening.close()


def post(
    url: str, times: int = 1, *, timeout: float = 5.0, proxy: str | None = None, key: str = ""
) -> list[EndpointReply]:
    async def main() -> list[EndpointReply]:
        client = JsonEndpoint(url, "/x", timeout=timeout, proxy=proxy, api_key=key)
        try:
            return [await client.post(b"{}") for _ in range(times)]
        finally:
            await client.close()

    return asyncio.run(main())


def answering(answer: bytes) -> Callable[[RawServer, socket.socket], None]:
    """One request, one answer, then the connection is closed."""

    def serve(server: RawServer, connection: socket.socket) -> None:
        server.read_request(connection)
        connection.sendall(answer)

    return serve


def reset(connection: socket.socket) -> None:
    """End a connection with RST, as a crashed server or a middlebox does."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def test_a_chunked_answer_is_put_together() -> None:
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n"
    with raw_server(answering(chunked)) as server:
        assert [one.body for one in post(server.url)] == [b"abcde"]


def test_connections_are_kept_alive() -> None:
    ports: list[int] = []

    def serve(server: RawServer, connection: socket.socket) -> None:
        ports.append(connection.getpeername()[1])
        while server.read_request(connection):
            connection.sendall(OK)

    with raw_server(serve) as server:
        assert len(post(server.url, times=3)) == 3
    assert len(ports) == 1


def test_a_connection_that_the_server_closed_in_between_is_replaced_without_an_error() -> None:
    with raw_server(answering(OK)) as server:

        async def main() -> list[EndpointReply]:
            client = JsonEndpoint(server.url, "/x", timeout=5)
            answers = []
            for _ in range(3):
                answers.append(await client.post(b"{}"))
                await asyncio.sleep(0.05)
            await client.close()
            return answers

        assert [one.body for one in asyncio.run(main())] == [b"ok"] * 3
        assert len(server.requests) == 3


@pytest.mark.parametrize("ending", ["reset", "close"])
def test_a_kept_alive_connection_that_breaks_after_the_request_was_read_gets_no_second_request(ending: str) -> None:
    def serve(server: RawServer, connection: socket.socket) -> None:
        server.read_request(connection)
        connection.sendall(OK)
        server.read_request(connection)  # the second request was received, and may be worked on and paid
        reset(connection) if ending == "reset" else connection.close()

    with raw_server(serve) as server:
        with pytest.raises(NoAnswerError) as caught:
            post(server.url, times=2)
        time.sleep(0.1)
        assert len(server.requests) == 2
    assert caught.value.sent


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"SSH-2.0\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope",
        b"HTTP/1.1 99999999999 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: \x00\r\n\r\n",
    ],
)
def test_a_broken_answer_is_no_answer(answer: bytes) -> None:
    with raw_server(answering(answer)) as server, pytest.raises(NoAnswerError) as caught:
        post(server.url)
    assert caught.value.sent
    assert str(caught.value).isprintable()


def sending_for_ever(start: bytes, piece: bytes) -> Callable[[RawServer, socket.socket], None]:
    def serve(server: RawServer, connection: socket.socket) -> None:
        server.read_request(connection)
        connection.sendall(start)
        while True:
            connection.sendall(piece)

    return serve


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
        (b"HTTP/1.1 200 OK\r\n", b"X-More: and more\r\n" * 1000),
        (b"HTTP/1.1 200 OK\r\nX: ", b"x" * 65536),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536),
    ],
    ids=["interim answers", "headers", "one header", "body"],
)
def test_an_answer_without_end_is_given_up_long_before_the_timeout(
    start: bytes, piece: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint_module, "LARGEST_BODY", 1 << 20)
    started = time.monotonic()
    with raw_server(sending_for_ever(start, piece)) as server, pytest.raises(NoAnswerError):
        post(server.url, timeout=60)
    assert time.monotonic() - started < 20


def test_a_few_interim_answers_are_skipped() -> None:
    with raw_server(
        answering(b"HTTP/1.1 100 Continue\r\n\r\n" * 3 + b"HTTP/1.1 102 Processing\r\n\r\n" + OK)
    ) as server:
        assert [one.body for one in post(server.url)] == [b"ok"]


def test_a_compressed_answer_is_read_and_a_bomb_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    small = gzip.compress(b"hello")
    with raw_server(answering(head % len(small) + small)) as server:
        assert post(server.url)[0].body == b"hello"
    monkeypatch.setattr(endpoint_module, "LARGEST_BODY", 4 << 20)
    squeeze = zlib.compressobj(1, wbits=31)
    bomb = b"".join(squeeze.compress(bytes(1 << 20)) for _ in range(64)) + squeeze.flush()
    assert len(bomb) < 1 << 20
    with raw_server(answering(head % len(bomb) + bomb)) as server, pytest.raises(NoAnswerError, match="more than 4 MB"):
        post(server.url, timeout=60)


def test_no_answer_in_time_is_given_up_and_may_have_been_paid() -> None:
    def serve(server: RawServer, connection: socket.socket) -> None:
        server.read_request(connection)
        time.sleep(2)

    with raw_server(serve) as server, pytest.raises(NoAnswerError, match=r"within 0.2 s") as caught:
        post(server.url, timeout=0.2)
    assert caught.value.sent


def test_a_redirect_is_an_answer_and_the_key_goes_nowhere_else() -> None:
    with raw_server(answering(OK)) as other:
        there = f"HTTP/1.1 307 X\r\nLocation: {other.url}\r\nContent-Length: 0\r\n\r\n".encode()
        with raw_server(answering(there)) as server:
            assert post(server.url, key="sk-1")[0].status == 307
        assert other.requests == []


def test_a_proxy_gets_the_request() -> None:
    with raw_server(answering(OK)) as proxy:
        assert post("http://far.example/v1", proxy=proxy.url.removesuffix("/v1"))[0].body == b"ok"
        assert proxy.requests[0].startswith(b"POST http://far.example/v1/x HTTP/1.1")


def test_the_environment_and_netrc_are_not_read(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    netrc = f"{tmp_path}/netrc"
    with open(netrc, "w") as file:
        file.write("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", netrc)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    with raw_server(answering(OK)) as server:
        assert post(server.url, key="sk-1")[0].body == b"ok"
        assert b"Basic" not in server.requests[0]
        assert b"Bearer sk-1" in server.requests[0]


def test_an_endpoint_that_is_down_is_found_before_the_first_call() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]

    async def check() -> None:
        client = JsonEndpoint(f"http://127.0.0.1:{port}/v1", "/x")
        try:
            await client.check()
        finally:
            await client.close()

    with pytest.raises(InputError, match="nothing answers at"):
        asyncio.run(check())
    with pytest.raises(NoAnswerError, match="cannot be reached") as caught:
        post(f"http://127.0.0.1:{port}/v1")
    assert not caught.value.sent


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:8000",
        "ftp://host",
        "http://",
        "http://host:port/v1",
        "http://host:99999/v1",
        "http://host:-1",
        "http://host:0/v1",
        "http://[bad",
        "http://a b/v1",
        "http://host/\x00",
        "http://host/\ud800",
    ],
)
def test_an_address_that_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="must be an http or https URL"):
        check_base_url(url)


def test_a_password_in_an_address_is_refused_without_showing_it() -> None:
    for url in ("http://me:secret@host/v1", "http://me:secret@host:99999/v1"):
        with pytest.raises(InputError) as caught:
            check_base_url(url)
        assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["ключ", "sk-\n1", "sk-\x00", "sk-\ud800", "schlüssel"])
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(InputError, match="copy it again") as caught:
        check_key(key)
    assert key not in str(caught.value)


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf")])
def test_a_timeout_that_is_no_time_is_refused(seconds: float) -> None:
    with pytest.raises(InputError, match="above 0"):
        JsonEndpoint("http://host", "/x", timeout=seconds)


def test_a_query_of_the_base_url_is_kept_and_never_shown() -> None:
    client = JsonEndpoint("https://host/v1/?api-version=7", "/x")
    assert client.url.geturl() == "https://host/v1/x?api-version=7"
    assert client.place == "https://host/v1/x"


def test_deep_json_is_a_value_error_and_a_long_integer_costs_nothing() -> None:
    with pytest.raises(ValueError, match="too deeply"):
        read_json(b"[" * 100_000)
    assert read_json(b'{"a": %s, "b": 7}' % (b"9" * 100_000)) == {"a": float("inf"), "b": 7}


def test_blocking_work_runs_inside_a_running_loop_too() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 3

    async def in_a_notebook() -> int:
        return run_blocking(work)

    assert run_blocking(work) == 3
    assert asyncio.run(in_a_notebook()) == 3
