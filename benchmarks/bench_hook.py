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
from benchmarks.timing import Work, in_turns, medians_in_turns
from skilldelta import open_bank
from skilldelta.studies.demonstration import add_demo

PEER = "import json, http.client"
TASK = "How many cans are in 3 pallets and 5 crates of beans?"


def run() -> list[Figure]:
    """A first prompt, the same with three entries, a later prompt of the same conversation, and no server at all."""
    with tempfile.TemporaryDirectory(prefix="sd-") as name:
        folder = Path(name)
        bank = folder / "demo.bank"
        with open_bank(bank, create=True) as opened:
            add_demo(opened)
        with _served(folder, bank) as port:
            warm = _against_a_server(folder, bank, f"http://127.0.0.1:{port}")
        return [*warm, *_in_process(folder, bank)]


def _against_a_server(folder: Path, bank: Path, server: str) -> list[Figure]:
    asked = ("--server", server, "--ask", "server")
    first = _hook(folder, bank, *asked)
    later = _hook(folder, bank, *asked, conversation="one")
    entries = _three_entries(folder, bank, *asked)
    bare = _launched([sys.executable, "-c", PEER], b"")
    later()
    times = medians_in_turns(first, entries, later, bare, rounds=25)
    held = Peer(f"python -c '{PEER}'", 1e3 * times[-1])
    rows = (
        ("hook_decides", "The first prompt of a conversation, decided by a running server."),
        ("hook_three_entries", "The same with three entries at once, as the plugins have them for long skills."),
        ("hook_repeats", "A later prompt: nothing is asked."),
    )
    return [
        Figure(name, 1e3 * seconds, "ms", "lower", f"{meaning} Median.", held)
        for (name, meaning), seconds in zip(rows, times, strict=False)
    ]


def _in_process(folder: Path, bank: Path) -> list[Figure]:
    alone = _hook(folder, bank, "--ask", "bank")
    alone()  # learns the blend and keeps it in the bank, as any first prediction does
    numpy = _launched([sys.executable, "-c", "import numpy, sqlalchemy, tokenizers"], b"")
    ours, peer = in_turns(alone, numpy, rounds=5)
    held = Peer("import numpy, sqlalchemy, tokenizers", peer.wall)
    meaning = "The first prompt without a server: bank, encoder and blend loaded cold."
    return [Figure("hook_in_process", ours.wall, "s", "lower", meaning, held)]


def _hook(folder: Path, bank: Path, *words: str, conversation: str = "") -> Work:
    """Each call is a conversation of its own unless one is named."""
    command = _command(folder, bank, *words)

    def work() -> None:
        output = _launched(command, _event(conversation), _environment(folder, "state"))()
        assert conversation or b"Harrow Mill" in output, output

    return work


def _three_entries(folder: Path, bank: Path, *words: str) -> Work:
    commands = [_command(folder, bank, *words, "--part", f"{part}/3") for part in (1, 2, 3)]
    environment = _environment(folder, "state")

    def work() -> None:
        event = _event("")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        entries = [subprocess.Popen(command, env=environment, **pipes) for command in commands]  # type: ignore[call-overload]
        for entry in entries:
            entry.stdin.write(event)
            entry.stdin.close()
        outputs = [entry.stdout.read() for entry in entries]
        assert [entry.wait() for entry in entries] == [0, 0, 0]
        assert b"Harrow Mill" in b"".join(outputs), outputs

    return work


def _command(folder: Path, bank: Path, *words: str) -> list[str]:
    program = Path(sys.executable).with_name("skilldelta")
    start = [str(program)] if program.is_file() else [sys.executable, "-m", "skilldelta"]
    command = [*start, "hook", "claude-code", "--skill", "warehouse-units", "--bank", str(bank), *words]
    return [*command, "--state", str(folder / "kept"), "--timeout", "30"]


def _event(conversation: str) -> bytes:
    named = conversation or os.urandom(8).hex()
    return json.dumps({"session_id": named, "hook_event_name": "UserPromptSubmit", "prompt": TASK}).encode()


def _environment(folder: Path, state: str) -> dict[str, str]:
    """Where hooks and server meet, apart from the user's own."""
    return {**os.environ, "XDG_STATE_HOME": str(folder / state)}


def _launched(command: list[str], content: bytes, environment: dict[str, str] | None = None) -> Callable[[], bytes]:
    return lambda: subprocess.run(command, input=content, capture_output=True, check=True, env=environment).stdout


@contextmanager
def _served(folder: Path, bank: Path) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    words = [sys.executable, "-m", "skilldelta", "serve", "--bank", str(bank), "--port", str(port)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": _environment(folder, "state")}
    with subprocess.Popen(words, **quiet) as process:  # type: ignore[call-overload]
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
