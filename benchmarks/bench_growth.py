"""A server whose evidence grows: decisions while pairs arrive and after a restart, beside quiet ones, and its memory.

Four clients ask new texts at a steady rate, so that the figures show what growth adds and not how fast the machine is.
Pairs arrive one by one from another process, as `collect` or a teammate would add them.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil

from benchmarks.figure import Figure, Peer
from benchmarks.timing import launch

COMMAND = [sys.executable, "-m", "skilldelta"]
TASKS, SKILLS = int(os.environ.get("BENCH_TASKS", "6511")), 27
CLIENTS, PAUSE = 4, 0.02
QUIET_SECONDS, CHANGES, CHANGES_PER_SECOND = 10.0, 200, 5.0
# A hook gives up after this many seconds, so that no decision may take longer.
HOOK_LIMIT = 1.0


def run() -> list[Figure]:
    """Quiet, growing, and restarted after one more pair, on one bank."""
    with tempfile.TemporaryDirectory() as folder:
        bank = Path(folder) / "bench.bank"
        _import(bank, (_row(i) for i in range(TASKS)))
        with _serving(bank) as server:
            asyncio.run(_load(server.port, 3.0))  # scopes are read with the first question about each skill
            quiet = asyncio.run(_load(server.port, QUIET_SECONDS))
            memory = server.memory()
            growing = _while_growing(bank, server, CHANGES)
            grown_memory = server.memory()
        _import(bank, [_row(TASKS + CHANGES)])
        with _serving(bank, wait=False) as server:
            first = []
            while asyncio.run(_status(server.port, "/v1/ready")) != 200:
                first += asyncio.run(_load(server.port, 0.2))
            restarted = asyncio.run(_load(server.port, QUIET_SECONDS))
    slowest = Figure(
        "restarted_slowest",
        1e3 * max(first + restarted),
        "ms",
        "lower",
        f"The slowest decision of that server, before it is ready as well; a hook gives up after {HOOK_LIMIT:.0f} s.",
        Peer("quiet", 1e3 * max(quiet)),
    )
    return [
        *_figures("growing", growing, quiet),
        _figures("restarted", restarted, quiet)[0],
        slowest,
        _memory(memory, grown_memory),
    ]


def _figures(name: str, seconds: list[float], quiet: list[float]) -> list[Figure]:
    meanings = {
        "growing": f"while {CHANGES} single pairs arrive, {CHANGES_PER_SECOND:.0f} a second",
        "restarted": "of a server that was restarted after one more pair, once it is ready",
    }
    slowest = f"The slowest decision {meanings[name]}; a hook gives up after {HOOK_LIMIT:.0f} s."
    return [
        Figure(
            f"{name}_p99",
            1e3 * float(np.quantile(seconds, 0.99)),
            "ms",
            "lower",
            f"The slowest decision of a hundred {meanings[name]}; at most 3 times the quiet one is wanted.",
            Peer("quiet", 1e3 * float(np.quantile(quiet, 0.99))),
        ),
        Figure(f"{name}_slowest", 1e3 * max(seconds), "ms", "lower", slowest, Peer("quiet", 1e3 * max(quiet))),
    ]


def _memory(before: float, after: float) -> Figure:
    meaning = f"Resident memory after {CHANGES} changes of the evidence; at most 1.2 times that before is wanted."
    return Figure("growing_memory", after, "MB", "lower", meaning, Peer("before the changes", before))


@dataclass(frozen=True, slots=True)
class _Server:
    process: subprocess.Popen[str]
    port: int

    def memory(self) -> float:
        """Resident megabytes of the server itself."""
        return float(psutil.Process(self.process.pid).memory_info().rss) / 1e6


def _while_growing(bank: Path, server: _Server, changes: int) -> list[float]:
    """Seconds per decision while a process of its own adds pairs."""
    source = (
        "import json, sys, time\n"
        "from skilldelta.bank import Bank\n"
        "from skilldelta.bank.importers import read_source\n"
        "bank, rows, pause = Bank.open(sys.argv[1], timeout=30), json.load(sys.stdin), float(sys.argv[2])\n"
        "for row in rows:\n"
        "    open(sys.argv[3], 'w').write(json.dumps(row))\n"
        "    bank.add(read_source(sys.argv[3]))\n"
        "    time.sleep(pause)\n"
    )
    arguments = [str(bank), str(1 / CHANGES_PER_SECOND), str(bank.with_suffix(".jsonl"))]
    writer = subprocess.Popen([sys.executable, "-c", source, *arguments], stdin=subprocess.PIPE, text=True)
    assert writer.stdin is not None
    json.dump([_row(TASKS + i) for i in range(changes)], writer.stdin)
    writer.stdin.close()
    seconds: list[float] = []
    while writer.poll() is None:
        seconds += asyncio.run(_load(server.port, 2.0))
    assert writer.returncode == 0
    return seconds


@contextmanager
def _serving(bank: Path, *, wait: bool = True) -> Iterator[_Server]:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [*COMMAND, "serve", "--bank", str(bank), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        address = re.search(r":(\d+)/", line)
        assert address is not None, line
        port = int(address[1])
        while asyncio.run(_status(port, "/v1/ready" if wait else "/v1/health")) != 200:
            time.sleep(0.01)
        yield _Server(process, port)
    finally:
        process.terminate()
        process.wait(20)


async def _status(port: int, path: str) -> int:
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return 0
    status = await _exchange(reader, writer, _request("GET", path))
    writer.close()
    return status


_texts = itertools.count()


async def _load(port: int, seconds: float) -> list[float]:
    """Seconds per decision of clients that each ask, wait for the answer, and pause."""
    end = time.perf_counter() + seconds
    taken: list[float] = []

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (began := time.perf_counter()) < end:
            text = f"weeks days kind{number} word{next(_texts)}"
            body = json.dumps({"text": text, "skill": f"skill {next(_texts) % SKILLS}"}).encode()
            assert await _exchange(reader, writer, _request("POST", "/v1/decide", body)) == 200
            taken.append(time.perf_counter() - began)
            await asyncio.sleep(PAUSE)
        writer.close()

    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return taken


def _request(method: str, path: str, body: bytes = b"") -> bytes:
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    return f"{head}\r\n\r\n".encode() + body


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes) -> int:
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = re.search(r"content-length: (\d+)", head, re.IGNORECASE)
    assert length is not None
    await reader.readexactly(int(length[1]))
    return int(head.split(" ", 2)[1])


def _import(bank: Path, rows: Iterator[dict[str, object]] | list[dict[str, object]]) -> None:
    pairs = bank.with_suffix(".jsonl")
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    launch([*COMMAND, "import", str(pairs), "--bank", str(bank)])()


def _row(i: int) -> dict[str, object]:
    rng = np.random.default_rng(i)
    skill = i % SKILLS
    words = " ".join(f"word{j}" for j in rng.integers(3_000, size=40))
    y0, y1 = int(rng.random() < 0.5), int(rng.random() < 0.4 + 0.01 * skill)
    names = {"task_id": f"task {i}", "family": f"family {skill}", "skill": f"skill {skill}", "agent": "bench"}
    return {**names, "text": f"weeks days kind{skill} {words}", "y0": [y0], "y1": [y1]}
