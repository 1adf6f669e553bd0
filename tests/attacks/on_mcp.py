"""Attacks on MCP, over standard input and output and over HTTP."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from attacks.arena import Client, small_bank
from attacks.attack import Tries, attack
from fuzz.mutations import hostile_bytes, hostile_documents

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}
CALL = {
    "jsonrpc": "2.0",
    "id": 7,
    "method": "tools/call",
    "params": {
        "name": "skilldelta_route",
        "arguments": {"text": "convert 3 miles", "skill": "units-skill", "record": False},
    },
}
READ = {"jsonrpc": "2.0", "id": 8, "method": "resources/read", "params": {"uri": "skilldelta://skills/units-skill"}}


class _Stdio:
    """A server on standard input and output, and the lines it has written."""

    def __init__(self, bank: Path) -> None:
        command = [sys.executable, "-m", "skilldelta", "mcp", "--bank", str(bank)]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.lines: list[bytes] = []
        assert self.process.stdout is not None
        threading.Thread(target=lambda: self.lines.extend(self.process.stdout or ()), daemon=True).start()
        self._pings = itertools.count(1_000_000)

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answers_ping(self, within: float = 30.0) -> bool:
        number = next(self._pings)
        try:
            self.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode())
        except OSError:
            return False
        wanted, end = str(number).encode(), time.monotonic() + within
        while time.monotonic() < end and self.process.poll() is None:
            if any(wanted in line for line in self.lines[-200:]):
                return True
            time.sleep(0.005)
        return False

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@attack("MCP", "lines on standard input that are no messages, before and after the greeting", tries=3_000, few=0)
def garbage_on_stdio(folder: Path, tries: int) -> Tries:
    """A ping is answered after every hundred."""
    plain = [b"[]", b"{}", b"null", b"x", b"[1", b'{"jsonrpc":"2.0"}', b"[" * 900, b'"', b"\xff\xfe", b""]
    torn = (line.replace(b"\n", b" ") for line in hostile_bytes(json.dumps(CALL).encode(), seed=31))
    server = _Stdio(small_bank(folder))
    try:
        for _ in range(min(1_000, tries // 3)):
            server.send(b"[]")
            yield ""
        server.send(json.dumps(HELLO).encode())
        server.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        yield "" if server.answers_ping(60) else "no ping is answered after lines of [] before the greeting"
        for number in range(tries - min(1_000, tries // 3)):
            server.send(plain[number % len(plain)] if number % 2 else next(torn))
            if number % 100 == 99:
                yield "" if server.answers_ping() else f"no ping is answered after {number + 1} lines"
            else:
                yield ""
    except OSError as error:
        yield f"the server has ended: {error}"
    finally:
        server.close()
    return ""


@attack("MCP", "calls with odd names, values and missing arguments on standard input", tries=1_500, few=60)
def odd_calls(folder: Path, tries: int) -> Tries:
    """Each is answered with a result or an error, and nothing else is written."""
    server = _Stdio(small_bank(folder))
    variants = [hostile_documents(one, seed) for seed, one in enumerate((CALL, READ))]
    try:
        server.send(json.dumps(HELLO).encode())
        server.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        yield "" if server.answers_ping(60) else "no ping is answered"
        for number in range(tries):
            document: Any = next(variants[number % 2])
            server.send(json.dumps(document).encode("utf-8", "surrogatepass"))
            if number % 50 == 49 and not server.answers_ping():
                yield f"no ping is answered after {json.dumps(document)[:200]}"
            yield ""
        strange = [line for line in server.lines if not line.startswith(b'{"jsonrpc":"2.0"')]
        yield f"{strange[0][:200]!r} on standard output" if strange else ""
        yield f"a traceback: {server.lines[-1][:300]!r}" if any(b"Traceback" in line for line in server.lines) else ""
    except OSError as error:
        yield f"the server has ended: {error}"
    finally:
        server.close()
    return f"{len(server.lines):,} lines of answers"


@contextmanager
def _over_http(bank: Path) -> Iterator[tuple[int, int]]:
    """Port and process of a server."""
    command = [sys.executable, "-m", "skilldelta", "mcp", "--http", "--port", "0", "--bank", str(bank)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        port = int(process.stderr.readline().rpartition("/mcp")[0].rpartition(":")[2])
        lines: list[str] = []
        threading.Thread(target=lambda: lines.extend(process.stderr or ()), daemon=True).start()
        end = time.monotonic() + 60
        while time.monotonic() < end and not Client(port).ask("GET", "/")[0]:
            time.sleep(0.1)
        yield port, process.pid
    finally:
        process.kill()
        process.wait()


@attack("MCP", "mutated messages over HTTP", tries=1_500, few=0)
def mutated_messages_over_http(folder: Path, tries: int) -> Tries:
    """None is a failure of the server."""
    accept = "application/json, text/event-stream"
    variants: list[Iterator[Any]] = [hostile_documents(one, seed) for seed, one in enumerate((HELLO, CALL, READ))]
    torn = hostile_bytes(json.dumps(HELLO).encode(), seed=33)
    with _over_http(small_bank(folder)) as (port, _):
        client = Client(port)
        for number in range(tries):
            body = (
                next(torn)
                if number % 4 == 3
                else json.dumps(next(variants[number % 3])).encode("utf-8", "surrogatepass")
            )
            status, content = client.ask("POST", "/mcp", body, Accept=accept)
            yield f"{body[:200]!r}: {status} {content[:200]!r}" if status >= 500 else ""
        yield "" if client.ask("POST", "/mcp", json.dumps(HELLO).encode(), Accept=accept)[0] == 200 else "no greeting"
    return ""


@attack("MCP", "sessions over HTTP that are begun and never ended", tries=1_000, few=0)
def abandoned_sessions(folder: Path, tries: int) -> Tries:
    """They do not stay in memory."""
    accept = "application/json, text/event-stream"
    with _over_http(small_bank(folder)) as (port, pid):
        client, sizes = Client(port), []
        for number in range(tries):
            status, content = client.ask("POST", "/mcp", json.dumps(HELLO).encode(), Accept=accept)
            yield "" if status == 200 else f"greeting {number}: {status} {content[:100]!r}"
            if number % 50 == 0:
                sizes.append(psutil.Process(pid).memory_info().rss / 1e6)
        half = sizes[len(sizes) // 2]
        yield "" if sizes[-1] - half < 15 else f"from {half:.0f} to {sizes[-1]:.0f} MB in the second half"
    return f"{sizes[0]:.0f} MB at first, {half:.0f} half way, {sizes[-1]:.0f} at the end"
