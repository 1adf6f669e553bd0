"""A real `skilldelta serve` in a process of its own, on a free port of loopback."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx


@dataclass
class RunningServer:
    """The process, where it answers, and what it has said so far."""

    process: subprocess.Popen[str]
    url: str
    lines: list[str] = field(default_factory=list)

    @property
    def log(self) -> str:
        return "".join(self.lines)

    def wait_until_ready(self, headers: dict[str, str] | None = None, *, within: float = 90) -> None:
        end = time.monotonic() + within
        while time.monotonic() < end:
            if httpx.get(f"{self.url}/v1/ready", headers=headers).status_code == 200:
                return
            time.sleep(0.05)
        raise AssertionError(f"not ready: {self.log}")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> int:
        """Ask it to end, and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=20)


@contextmanager
def running(
    bank: Path, *words: object, port: int = 0, ready: bool = True, env: dict[str, str] | None = None
) -> Iterator[RunningServer]:
    """Start it and wait until it answers."""
    command = [sys.executable, "-m", "skilldelta", "serve", "--bank", str(bank), "--port", str(port)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SKILLDELTA_")}
    process = subprocess.Popen(
        [*command, *map(str, words)],
        stderr=subprocess.PIPE,
        text=True,
        env={**environment, "OPENBLAS_NUM_THREADS": "1", **(env or {})},
    )
    assert process.stderr is not None
    server = RunningServer(process, "")
    try:
        first = process.stderr.readline()
        found = re.search(r"http://(\S+):(\d+)/", first)
        assert found is not None, first + process.stderr.read()
        server.url = f"http://127.0.0.1:{found[2]}"
        server.lines.append(first)
        reader = threading.Thread(target=lambda: server.lines.extend(process.stderr or ()), daemon=True)
        reader.start()
        if ready:
            answers_within(server.url)
        yield server
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stderr.close()


def answers_within(url: str, *, within: float = 90) -> None:
    """Wait until a server answers."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        try:
            httpx.get(f"{url}/v1/health")
            return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("the server does not answer")
