"""Whole collections over a transport that breaks: one reservation is one request, and the bank holds every answer."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from collect.endpoint import Endpoint, completion, serving
from collect.suites import solve, write_suite
from skilldelta.bank import Bank
from skilldelta.cli.main import run
from skilldelta.collect.budget import Retries


@dataclass
class Breaking:
    url: str
    received: int = 0
    answered: int = 0


@contextmanager
def breaking_server(every: int) -> Iterator[Breaking]:
    """Keeps connections alive, and resets the connection of every n-th request after reading it whole."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                server.received += 1
                breaks = server.received % every == 0
                server.answered += not breaks
            if breaks:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                self.close_connection = True
                return
            data = completion(solve(request), model=request["model"])
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def finish(self) -> None:
            if not self.close_connection or self.connection.fileno() >= 0:
                super().finish()

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass

    listening = Server(("127.0.0.1", 0), Handler)
    server = Breaking(f"http://127.0.0.1:{listening.server_address[1]}/v1")
    threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()


def entries(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.glob("b.bank.collect/*/ledger.jsonl")
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_reset_after_the_request_was_read_is_one_payment_per_reservation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Retries, "wait", lambda *_: 0.0)
    suite = write_suite(tmp_path / "suite", tasks=6)
    with breaking_server(every=4) as server:
        options = ["--model", "m", "--bank", str(tmp_path / "b.bank"), "--concurrency", "1"]
        assert run(["collect", str(suite), "--base-url", server.url, *options]) == 0
    reserved = [one for one in entries(tmp_path) if "reserved" in one]
    assert len(reserved) == server.received > 12
    with Bank.open(tmp_path / "b.bank") as bank:
        assert [one.status for one in bank.executions()] == ["completed"] * 12
    assert server.answered == 12
    # A request that broke off may have been paid: it is booked at the most it can have cost.
    settled = {one["call"]: one["settled"]["tokens"] for one in entries(tmp_path) if "settled" in one}
    broken = [one for one in reserved if settled[one["call"]] != 12]
    assert len(broken) == server.received - server.answered
    assert all(settled[one["call"]] == one["reserved"]["tokens"] for one in broken)


@pytest.mark.slow
def test_a_providers_own_client_does_not_send_again_behind_the_budgets_back(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    suite = write_suite(tmp_path / "suite", tasks=2)
    solver = tmp_path / "suite" / "plain.py"
    solver.write_text("from inspect_ai.solver import generate\n\ndef plain():\n    return generate()\n")
    with breaking_server(every=3) as server:
        options = ["--model", "m", "--bank", str(tmp_path / "b.bank"), "--concurrency", "1", "--retries", "1"]
        assert run(["collect", str(suite), "--base-url", server.url, *options, "--solver", "plain.py@plain"]) == 0
    assert len([one for one in entries(tmp_path) if "reserved" in one]) == server.received > 4


def collect(suite: Path, endpoint: Endpoint, *options: str) -> int:
    bank = str(suite.parent / "b.bank")
    common = ["--base-url", endpoint.url, "--model", "m", "--bank", bank, "--retries", "0", "--concurrency", "1"]
    return run(["collect", str(suite), *common, *options])


def transcript(folder: Path) -> list[dict[str, Any]]:
    (path,) = folder.glob("b.bank.collect/*/transcript.jsonl")
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_a_reply_with_a_lone_surrogate_is_stored_graded_and_not_asked_again(tmp_path: Path) -> None:
    rows = [{"task_id": "t", "text": "x", "skill": "arith", "answer": "x", "grader": {"type": "contains"}}]
    rows.append({**rows[0], "task_id": "u", "grader": {"type": "python", "function": "g.py:grade"}})
    suite = write_suite(tmp_path / "suite", rows=rows)
    (suite / "g.py").write_text("def grade(answer, task):\n    return answer == 'x\\ufffdy'\n")
    with serving(lambda request: "x\ud800y") as endpoint:
        assert collect(suite, endpoint) == 0
        assert collect(suite, endpoint) == 0
        assert len(endpoint.bodies) == 4
    with Bank.open(tmp_path / "b.bank") as bank:
        assert [(one.status, one.success) for one in bank.executions()] == [("completed", 1.0)] * 4
    assert [row["reply"] for row in transcript(tmp_path)] == ["x\ud800y"] * 4
    (log,) = tmp_path.glob("b.bank.collect/*/*.eval")
    log_module = pytest.importorskip("inspect_ai.log")
    assert log_module.read_eval_log(str(log)).samples[0].output.completion == "x\ufffdy"


def test_a_self_judgement_with_a_lone_surrogate_is_stored_and_not_asked_again(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite", tasks=2)
    with serving(lambda request: "USE_SKILL \ud800\x00") as endpoint:
        assert collect(suite, endpoint) == 0
        assert collect(suite, endpoint, "--self-judge") == 0
        assert collect(suite, endpoint, "--self-judge") == 0
        assert len(endpoint.bodies) == 4 + 2
    with Bank.open(tmp_path / "b.bank") as bank:
        found = [(one.use, one.answer) for one in bank.judgements(bank.resolve_agent(None), "small")]
    assert found == [(True, 'json:"USE_SKILL \\ud800\\u0000"')] * 2


@pytest.mark.parametrize("cut", [1, 2, 40])
def test_a_torn_transcript_is_recovered_and_the_collection_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cut: int
) -> None:
    suite = write_suite(tmp_path / "suite", tasks=3)
    with serving(solve) as endpoint:
        assert collect(suite, endpoint, "--task", "t0") == 0
        (path,) = tmp_path.glob("b.bank.collect/*/transcript.jsonl")
        (ledger,) = tmp_path.glob("b.bank.collect/*/ledger.jsonl")
        path.write_bytes(path.read_bytes()[:-cut])
        with ledger.open("ab") as file:
            file.write(b'{"call":2,"na')
        capsys.readouterr()
        assert collect(suite, endpoint, "--task", "t0", "--task", "t1") == 0
        said = capsys.readouterr().err
        assert "ledger.jsonl.torn" in said
        assert ("transcript.jsonl.torn" in said) == (cut > 1)
        assert collect(suite, endpoint) == 0
        assert ".torn" not in capsys.readouterr().err
    rows = transcript(tmp_path)
    assert len(rows) == (6 if cut == 1 else 5)
    assert ledger.with_name("ledger.jsonl.torn").read_bytes() == b'{"call":2,"na\n'


def test_a_transcript_with_a_glued_line_does_not_stop_later_starts(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite", tasks=2)
    with serving(solve) as endpoint:
        assert collect(suite, endpoint, "--task", "t0") == 0
        (path,) = tmp_path.glob("b.bank.collect/*/transcript.jsonl")
        for log in path.parent.glob("*.eval"):
            log.unlink()
        first, second = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(first[:30] + second)
        assert collect(suite, endpoint) == 0
    logged = [json.loads(ZipFile(log).read("header.json"))["results"] for log in path.parent.glob("*.eval")]
    assert sum(one["total_samples"] for one in logged) == 3


@pytest.mark.parametrize(
    "answer",
    [
        (200, b"[" * 200_000),
        (200, b'{"choices": [{"message": {"content": ' + b'{"a":' * 100_000),
        (200, b"\xff\xfe"),
        (500, b"\x1b[2J" + b"x" * 100_000),
    ],
)
def test_a_hostile_answer_is_a_recorded_transport_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], answer: tuple[int, bytes]
) -> None:
    suite = write_suite(tmp_path / "suite", tasks=2)
    with serving(lambda request: answer if "Compute 1" in str(request) else solve(request)) as endpoint:
        assert collect(suite, endpoint) == 0
    with Bank.open(tmp_path / "b.bank") as bank:
        assert sorted(one.status for one in bank.executions()) == ["completed"] * 2 + ["transport_error"] * 2
    errors = capsys.readouterr().err
    assert "2 transport error" in errors
    assert "\x1b" not in errors
    assert max(map(len, errors.splitlines())) < 400


@pytest.mark.parametrize("digits", [20, 4_000, 5_000])
def test_a_huge_usage_is_unknown_and_the_answer_is_kept(tmp_path: Path, digits: int) -> None:
    suite = write_suite(tmp_path / "suite", tasks=1)

    def reply(request: dict[str, Any]) -> tuple[int, bytes]:
        body = completion(solve(request), model="m")
        return 200, body.replace(b'"prompt_tokens": 10', b'"prompt_tokens": ' + b"9" * digits)

    with serving(reply) as endpoint:
        assert collect(suite, endpoint, "--price", "1", "1", "--max-usd", "1") == 0
    with Bank.open(tmp_path / "b.bank") as bank:
        assert [(one.status, one.tokens, one.cost_usd) for one in bank.executions()] == [("completed", None, None)] * 2
