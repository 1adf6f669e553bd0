"""`skilldelta serve` over loopback on a bank of 6,511 tasks: latency, rate, start and memory, with a real server and client.

What a decision costs beyond the encoder is the point, so that every figure has its peer from the same run: the encoder
alone, or a request that decides nothing. Decisions are recorded: each answer is in the log, durably, before it is sent.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import psutil

from benchmarks.figure import Figure, Peer
from benchmarks.timing import best, launch, timed
from skilldelta.encoders import load_encoder

COMMAND = [sys.executable, "-m", "skilldelta"]
TASKS, SKILLS, DIMENSIONS = 6_511, 27, 256
ROUNDS, SECONDS, CLIENTS = 300, 5.0, 32


def run() -> list[Figure]:
    """Everything on one bank, which is started twice: the first start learns, the second reads what was kept."""
    with tempfile.TemporaryDirectory() as folder:
        pairs, bank = Path(folder) / "pairs.jsonl", Path(folder) / "bench.bank"
        pairs.write_text("".join(json.dumps(row) + "\n" for row in _rows()), encoding="utf-8")
        launch([*COMMAND, "import", str(pairs), "--bank", str(bank)])()
        with _serving(bank) as server:
            first = server.ready_after
        with _serving(bank) as server:
            return [*_start(server, first), *_latency(server), *_rate(server), *_memory(server)]


class _Server:
    def __init__(self, process: subprocess.Popen[str], port: int, ready_after: float) -> None:
        self.process, self.port, self.ready_after = process, port, ready_after
        self.cpu_at_ready = self.cpu()

    def cpu(self) -> float:
        """Seconds of the processor so far, which others on the machine do not lengthen."""
        taken = psutil.Process(self.process.pid).cpu_times()
        return float(taken.user + taken.system)


def _start(server: _Server, first: float) -> list[Figure]:
    bare = best(launch([sys.executable, "-c", "import fastapi, uvicorn, sqlalchemy, numpy"]), rounds=3)
    meaning = f"From the start of the process to /v1/ready on {TASKS:,} tasks; at most 3 s are allowed."
    learning = "The same on a bank that was never asked: texts are encoded and the blend is fitted."
    peer = Peer("import of the libraries", bare)
    return [
        Figure("ready", server.ready_after, "s", "lower", meaning, peer),
        Figure("ready_first_time", first, "s", "lower", learning, peer),
        Figure(
            "ready_processor",
            server.cpu_at_ready,
            "s",
            "lower",
            "Processor time until /v1/ready, after the first time.",
        ),
    ]


def _latency(server: _Server) -> list[Figure]:
    encoder = load_encoder()
    texts = [f"How many days are {i} weeks and {i % 7} days in the year {1900 + i}?" for i in range(ROUNDS)]
    encoding = _median_ms([timed(partial(encoder.encode, [text])).wall for text in texts])
    new = asyncio.run(_asked(server.port, texts))
    known = asyncio.run(_asked(server.port, texts[:20] * (ROUNDS // 20)))
    health = asyncio.run(_asked(server.port, [None] * ROUNDS))
    over = _median_ms(new) - encoding
    return [
        Figure(
            "decide_over_encoder",
            over,
            "ms",
            "lower",
            "Median of new texts at concurrency 1, recorded, less the encoder's own time; at most 3 ms are allowed.",
            Peer("encoder alone", encoding),
        ),
        Figure(
            "decide_cached",
            _median_ms(known),
            "ms",
            "lower",
            "Median of texts that came before, at concurrency 1, recorded; at most 2 ms are allowed.",
            Peer("GET /v1/health", _median_ms(health)),
        ),
    ]


def _rate(server: _Server) -> list[Figure]:
    """Of three spells the one with the quickest answers."""
    began = server.cpu()
    spells = [asyncio.run(_sustained(server.port, SECONDS, "How many days are {} weeks?")) for _ in range(3)]
    deciding = server.cpu() - began
    decided = min(spells, key=_slowest)
    health = asyncio.run(_sustained(server.port, 3.0, None))
    resting = server.cpu() - began - deciding
    return [
        Figure(
            "processor_per_decision",
            1e3 * deciding / sum(map(len, spells)),
            "ms",
            "lower",
            "Processor time of the server per recorded decision, whatever else runs; one core gives its inverse per second.",
            Peer("GET /v1/health", 1e3 * resting / len(health)),
        ),
        Figure(
            "decisions_at_32",
            len(decided) / SECONDS,
            "per s",
            "higher",
            f"{CLIENTS} clients for {SECONDS:.0f} s, cached texts, recorded; at least 500 are wanted.",
            Peer("GET /v1/health", len(health) / 3.0),
        ),
        Figure(
            "p99_at_32",
            1e3 * _slowest(decided),
            "ms",
            "lower",
            "The slowest answer of a hundred in the same spell; below 100 ms is wanted.",
            Peer("GET /v1/health", 1e3 * _slowest(health)),
        ),
    ]


def _slowest(taken: list[float]) -> float:
    return float(np.quantile(taken, 0.99))


def _memory(server: _Server) -> list[Figure]:
    resident = psutil.Process(server.process.pid).memory_info().rss / 1e6
    meaning = "Resident memory after all of this; at most 400 MB more than the vectors are allowed."
    return [Figure("memory", resident, "MB", "lower", meaning, Peer("the vectors", TASKS * DIMENSIONS * 4 / 1e6))]


@contextmanager
def _serving(bank: Path) -> Iterator[_Server]:
    began = time.perf_counter()
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [*COMMAND, "serve", "--bank", str(bank), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stderr is not None
        said = process.stderr.readline()
        found = re.search(r":(\d+)/", said)
        assert found is not None, said
        port = int(found[1])
        while asyncio.run(_status(port)) != 200:
            time.sleep(0.01)
        yield _Server(process, port, time.perf_counter() - began)
    finally:
        process.kill()
        process.wait()


async def _status(port: int) -> int:
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return 0
    status = await _exchange(reader, writer, _request("GET", "/v1/ready"))
    writer.close()
    return status


async def _asked(port: int, texts: list[str] | list[None]) -> list[float]:
    """Seconds per answer, one after the other on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    taken = []
    for text in texts:
        began = time.perf_counter()
        assert await _exchange(reader, writer, _question(text)) == 200
        taken.append(time.perf_counter() - began)
    writer.close()
    return taken


async def _sustained(port: int, seconds: float, text: str | None) -> list[float]:
    end = time.perf_counter() + seconds
    taken: list[float] = []

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (began := time.perf_counter()) < end:
            asked = None if text is None else text.format((number + len(taken)) % 100)
            assert await _exchange(reader, writer, _question(asked)) == 200
            taken.append(time.perf_counter() - began)
        writer.close()

    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return taken


def _question(text: str | None) -> bytes:
    if text is None:
        return _request("GET", "/v1/health")
    return _request("POST", "/v1/decide", json.dumps({"task": text, "skill": "skill 3"}).encode())


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


def _median_ms(taken: list[float]) -> float:
    """The median of the best stretch of twenty answers: others use the machine, too."""
    return 1e3 * min(float(np.median(taken[i : i + 20])) for i in range(0, len(taken), 20))


def _rows() -> Iterator[dict[str, object]]:
    rng = np.random.default_rng(0)
    for i in range(TASKS):
        skill = i % SKILLS
        words = " ".join(f"word{j}" for j in rng.integers(3_000, size=40))
        y0, y1 = int(rng.random() < 0.5), int(rng.random() < 0.4 + 0.01 * skill)
        named = {"task_id": f"task {i}", "family": f"family {skill}", "skill": f"skill {skill}", "agent": "bench"}
        yield {**named, "text": f"weeks days kind{skill} {words}", "y0": [y0], "y1": [y1]}
