"""What an agent waits for before its first step: `skilldelta hook` in a fresh process, with and without a server."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

from benchmarks.figure import Figure, Peer
from benchmarks.timing import Work, in_turns
from skilldelta import open_bank
from skilldelta.studies.demonstration import add_demo

PEER = "import json, http.client"
TASK = "How many cans are in 3 pallets and 5 crates of beans?"


def run() -> list[Figure]:
    """A prompt that is decided, a later prompt of the same conversation, the call of a skill, and no server at all."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bank = folder / "demo.bank"
        with open_bank(bank, create=True) as opened:
            add_demo(opened)
        with _served(bank) as port:
            warm = _against_a_server(folder, bank, f"http://127.0.0.1:{port}")
        return [*warm, *_in_process(folder, bank)]


def _against_a_server(folder: Path, bank: Path, server: str) -> list[Figure]:
    first = _hook(folder, bank, "--server", server, "--ask", "server")
    later = _hook(folder, bank, "--server", server, "--ask", "server", conversation="one")
    bare = _launched([sys.executable, "-c", PEER], b"")
    later()
    decided, repeated, peer = in_turns(first, later, bare, rounds=15)
    held = Peer(f"python -c '{PEER}'", 1e3 * peer.wall)
    return [
        Figure(
            "hook_decides", 1e3 * decided.wall, "ms", "lower", "The first prompt of a conversation; a server.", held
        ),
        Figure("hook_repeats", 1e3 * repeated.wall, "ms", "lower", "A later prompt: nothing is asked.", held),
    ]


def _in_process(folder: Path, bank: Path) -> list[Figure]:
    alone = _hook(folder, bank, "--ask", "bank")
    alone()  # learns the stack and keeps it in the bank, as any first prediction does
    numpy = _launched([sys.executable, "-c", "import numpy, sqlalchemy, tokenizers"], b"")
    ours, peer = in_turns(alone, numpy, rounds=5)
    held = Peer("import numpy, sqlalchemy, tokenizers", peer.wall)
    meaning = "The first prompt without a server: bank, encoder and stack loaded cold."
    return [Figure("hook_in_process", ours.wall, "s", "lower", meaning, held)]


def _hook(folder: Path, bank: Path, *words: str, conversation: str = "") -> Work:
    """Each call is a conversation of its own unless one is named."""
    program = Path(sys.executable).with_name("skilldelta")
    start = [str(program)] if program.is_file() else [sys.executable, "-m", "skilldelta"]
    command = [*start, "hook", "claude-code", "--skill", "warehouse-units", "--bank", str(bank), *words]
    command += ["--state", str(folder / "state"), "--timeout", "30"]

    def work() -> None:
        event = {
            "session_id": conversation or os.urandom(8).hex(),
            "hook_event_name": "UserPromptSubmit",
            "prompt": TASK,
        }
        output = _launched(command, json.dumps(event).encode())()
        assert conversation or b"Harrow Mill" in output, output

    return work


def _launched(command: list[str], content: bytes) -> Callable[[], bytes]:
    return lambda: subprocess.run(command, input=content, capture_output=True, check=True).stdout


@contextmanager
def _served(bank: Path) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    words = [sys.executable, "-m", "skilldelta", "serve", "--bank", str(bank), "--port", str(port)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            while not _is_ready(port):
                assert process.poll() is None, "the server has ended"
                time.sleep(0.05)
            yield port
        finally:
            process.terminate()


def _is_ready(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/v1/ready")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()
