"""What attacks are made on: a small bank, a server in a process of its own, and raw connections to it."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from cli.conftest import pair_rows
from serve.running_server import RunningServer, running
from skilldelta.bank import Bank
from skilldelta.bank.importers import read_source

# Nothing that a request brings may have it in the answer, the log or a file.
CANARY = "canary-7d20c1"


def small_bank(folder: Path) -> Path:
    """Eight pairs of two skills."""
    source, path = folder / "pairs.jsonl", folder / "toy.bank"
    source.write_text("".join(json.dumps(row) + "\n" for row in pair_rows()))
    with Bank.open(path, create=True) as bank:
        bank.add(read_source(source))
    source.unlink()
    return path


@contextmanager
def server(folder: Path, *words: object) -> Iterator[RunningServer]:
    """A server on a small bank, ready to answer."""
    with running(small_bank(folder), "--keep", "nothing", *words) as serving:
        yield serving


def port_of(serving: RunningServer) -> int:
    """Where it listens."""
    return int(serving.url.rpartition(":")[2])


def exchanged(port: int, content: bytes, *, timeout: float = 8.0) -> bytes:
    """All that a server answers to some bytes, until it closes the connection."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as client:
        with suppress(OSError):
            client.sendall(content)
            client.shutdown(socket.SHUT_WR)
        with suppress(OSError):
            while part := client.recv(1 << 16):
                answer += part
    return answer


def status_of(answer: bytes) -> int:
    """The status of the first response in an answer; 0 where there is none."""
    match = re.match(rb"HTTP/1\.1 (\d{3})", answer)
    return int(match[1]) if match else 0


class Client:
    """One connection that is opened again where the server closed it."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connection = HTTPConnection("127.0.0.1", port, timeout=20)

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
        """Status and body; 0 where the server closed the connection, or the request cannot be written."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            headers.setdefault("Content-Type", "application/json")
        for _ in range(2):
            try:
                self._connection.request(method, path, body, headers)
                response = self._connection.getresponse()
                return response.status, response.read()
            except (HTTPException, OSError):
                self._connection.close()
            except (ValueError, UnicodeError):  # what the client's own library refuses to send
                self._connection.close()
                return 0, b""
        return 0, b""


class Watch:
    """Asks for /v1/health again and again, and notes the slowest answer."""

    def __init__(self, port: int) -> None:
        self.slowest, self.answers, self.refused = 0.0, 0, 0
        self._port, self._ended = port, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(60)

    def _look(self) -> None:
        while not self._ended.is_set():
            began = time.monotonic()
            connection = HTTPConnection("127.0.0.1", self._port, timeout=30)
            try:
                connection.request("GET", "/v1/health")
                self.answers += connection.getresponse().status == 200
            except (HTTPException, OSError):
                self.refused += 1
            finally:
                connection.close()
            self.slowest = max(self.slowest, time.monotonic() - began)
            self._ended.wait(0.02)

    def in_words(self) -> str:
        """What was measured."""
        return f"{self.answers:,} health checks meanwhile, the slowest {1e3 * self.slowest:,.0f} ms"


def in_threads(work: Callable[[int], None], count: int) -> None:
    """Run something that often at the same time, and wait for all."""
    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
