"""The collector against a loopback endpoint that answers after 50 ms: rate against the ideal, memory against the count.

The ideal rate is concurrency / latency; the rate is taken from the first call to the last execution, and once more with
the opening and closing of the bank. A bare aiohttp client that only sends the same number of requests, on the same machine
and in the same run, says how much of the ideal the machine itself allows.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.figure import Figure, Peer

LATENCY = 0.05
CONCURRENCY = 64

_ENDPOINT = """
import asyncio, json, sys
body = json.dumps({"model": "bench", "choices": [{"message": {"role": "assistant", "content": "42"}, "finish_reason": "stop"}],
                   "usage": {"prompt_tokens": 40, "completion_tokens": 2}}).encode()
answer = b"HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\ncontent-length: %d\\r\\n\\r\\n" % len(body) + body

class Endpoint(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.data = transport, b""
    def data_received(self, data):
        self.data += data
        head = self.data.find(b"\\r\\n\\r\\n")
        if head >= 0:
            length = int(self.data[:head].lower().rpartition(b"content-length:")[2].split(b"\\r\\n")[0])
            if len(self.data) >= head + 4 + length:
                self.data = self.data[head + 4 + length:]
                asyncio.get_running_loop().call_later(float(sys.argv[1]), self.transport.write, answer)

async def main():
    server = await asyncio.get_running_loop().create_server(Endpoint, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


def run() -> list[Figure]:
    """Figures of 2,000 executions at concurrency 64, and of the memory for 2,000 against 8,000."""
    endpoint = subprocess.Popen(
        [sys.executable, "-c", _ENDPOINT, str(LATENCY)], stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        assert endpoint.stdout is not None
        url = f"http://127.0.0.1:{int(endpoint.stdout.readline())}/v1"
        ideal = CONCURRENCY / LATENCY
        bare = max((asyncio.run(_bare(url, 2_000)) for _ in range(3)), key=lambda one: one["rate"])
        tries = [_collect_in_child(url, repetitions=1) for _ in range(3)]
        large = _collect_in_child(url, repetitions=4)
    finally:
        endpoint.kill()
        endpoint.wait()
    small = max(tries, key=lambda one: one["rate"])  # the least disturbed one
    what = f"Executions at concurrency {CONCURRENCY} and {1e3 * LATENCY:g} ms per answer"
    peer = Peer("bare aiohttp client", bare["rate"])
    return [
        Figure("collect", small["rate"], "per s", "higher", f"{what}, first call to last execution.", peer),
        Figure(
            "collect_of_ideal",
            100 * small["rate"] / ideal,
            "%",
            "higher",
            f"The same as a share of the {ideal:,.0f} per second that waiting alone would allow.",
            Peer("bare aiohttp client", 100 * bare["rate"] / ideal),
        ),
        Figure(
            "whole_collection", small["whole_rate"], "per s", "higher", "With the bank's opening and closing.", peer
        ),
        Figure(
            "collect_processor_time",
            small["cpu_ms"],
            "ms",
            "lower",
            "Processor time per execution: request, ledger, grade, transcript, bank.",
            Peer("bare aiohttp client", bare["cpu_ms"]),
        ),
        Figure(
            "collect_memory",
            large["peak_mb"],
            "MB",
            "lower",
            "Peak of a collection of 8,000 executions.",
            Peer("2,000 executions", small["peak_mb"]),
        ),
        Figure(
            "collect_memory_growth",
            (large["peak_mb"] - small["peak_mb"]) * 1024 / 6_000,
            "kB",
            "lower",
            "Peak memory per further execution.",
        ),
    ]


async def _bare(url: str, count: int) -> dict[str, float]:
    """aiohttp alone: requests per second, and processor time per request."""
    import aiohttp

    body = json.dumps({"model": "bench", "messages": [{"role": "user", "content": "x" * 200}]}).encode()
    left = iter(range(count))

    async def work(client: aiohttp.ClientSession) -> None:
        for _ in left:
            async with client.post(f"{url}/chat/completions", data=body) as answer:
                await answer.read()

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:
        started, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(work(client) for _ in range(CONCURRENCY)))
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    return {"rate": count / seconds, "cpu_ms": 1e3 * cpu / count}


def _collect_in_child(url: str, *, repetitions: int) -> dict[str, float]:
    """1,000 tasks in both arms in a fresh process, so that its peak memory is its own."""
    with tempfile.TemporaryDirectory() as folder:
        suite = _write_suite(Path(folder) / "suite", tasks=1_000)
        arguments = [str(suite), url, str(Path(folder) / "bench.bank"), str(repetitions)]
        answer = subprocess.run(
            [sys.executable, "-m", "benchmarks.bench_collect", *arguments], capture_output=True, text=True, check=True
        )
    figures: dict[str, float] = json.loads(answer.stdout)
    return figures


def _write_suite(folder: Path, *, tasks: int) -> Path:
    (folder / "skills" / "one").mkdir(parents=True)
    (folder / "skills" / "one" / "SKILL.md").write_text("---\nname: one\ndescription: d\n---\nAlways answer 42.\n")
    (folder / "suite.yaml").write_text("name: bench\ngrader: {type: exact}\n")
    rows = (
        {"task_id": f"t{i}", "text": f"Question {i}: " + "word " * 30, "skill": "one", "answer": "42"}
        for i in range(tasks)
    )
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def _measure(suite_folder: str, url: str, bank: str, repetitions: str) -> dict[str, float]:
    import resource

    import aiohttp  # noqa: F401  (what is imported on first use is start-up, not rate)

    from skilldelta.bank import Bank
    from skilldelta.collect.agents.chat_agent import ChatAgent
    from skilldelta.collect.chat_endpoint import ChatEndpoint
    from skilldelta.collect.graders import GraderTools, make_graders
    from skilldelta.collect.plan import Selection
    from skilldelta.collect.session import Session, collect
    from skilldelta.collect.suite import load_suite

    with Bank.open(f"{bank}.warm", create=True):
        pass
    suite = load_suite(Path(suite_folder))
    agent = ChatAgent(name="bench", model="bench", wanted=suite.agent, endpoint=ChatEndpoint(url))
    session = Session(
        suite=suite,
        agent=agent,
        bank=bank,
        make_graders=lambda budget: make_graders(suite, GraderTools()),
        selection=Selection(repetitions=int(repetitions)),
        concurrency=CONCURRENCY,
    )
    started, cpu = time.perf_counter(), time.process_time()
    result = asyncio.run(collect(session, lambda progress: None))
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    done = result.progress.finished
    assert done == result.progress.planned
    assert not result.progress.now.errors
    return {
        "rate": done / result.progress.seconds,
        "whole_rate": done / seconds,
        "cpu_ms": 1e3 * cpu / done,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


if __name__ == "__main__":
    print(json.dumps(_measure(*sys.argv[1:5])))
