"""Attacks on the HTTP API of a real server: doors without a token, torn requests, floods and slow clients."""

from __future__ import annotations

import itertools
import json
import random
import re
import socket
import time
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import quote

import psutil

from attacks.arena import CANARY, Client, Watch, exchanged, in_threads, port_of, server, status_of
from attacks.attack import Tries, attack
from fuzz.mutations import hostile_bytes, hostile_documents
from skilldelta.serve.access_tokens import TokenFile

QUESTION = {"task": "convert 3 miles", "skill": "units-skill", "record": False}
BODIES: dict[str, object] = {
    "/v1/decide": QUESTION,
    "/v1/decide/batch": {"questions": [QUESTION]},
    "/v1/choose": {"task": "convert 3 miles", "skills": ["units-skill", "dates-skill"]},
    "/v1/outcomes": {"decision_id": 1, "success": 1, "tokens": 5, "key": "k"},
    "/v1/dashboard/try": QUESTION,
    "/v1/jobs": {"kind": "calibrate", "options": {"use_rate": 0.5, "resamples": 2}},
    "/v1/import": [{"task_id": "t", "text": "x", "skill": "s", "agent": "toy", "y0": [0], "y1": [1]}],
    "/v1/hooks/claude-code": {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "convert 3 miles"},
}
READ = ["/v1/ready", "/metrics", "/v1/bank", "/v1/skills", "/v1/skills/units-skill", "/v1/decisions", "/v1/decisions/1",
        "/v1/dashboard/overview", "/v1/dashboard/skill", "/v1/dashboard/sweep", "/v1/dashboard/map",
        "/v1/dashboard/policies", "/v1/jobs", f"/v1/jobs/{'0' * 32}", f"/v1/jobs/{'0' * 32}/report",
        f"/v1/jobs/{'0' * 32}/events", "/openapi.json", "/v1/nothing"]  # fmt: skip
HEAD = "POST /v1/decide HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


def _spellings(path: str, rng: random.Random) -> str:
    """The same path as a filter may read it otherwise."""
    kind = rng.randrange(10)
    parts = path.split("/")
    return [
        path,
        path + "/",
        path.replace("/v1", "//v1", 1),
        path.upper(),
        "/v1/health/.." + path.removeprefix("/v1"),
        "/v1/health/%2e%2e/" + "/".join(parts[2:]),
        "/assets/.." + path,
        "/assets/%2e%2e%2f" + path.lstrip("/"),
        quote(path, safe="").replace("%2F", "/", 1),
        path + rng.choice([";x=1", "%00", "?token=x", "#x", "%20", "/./", "?access_token=skd_x"]),
    ][kind]


def _credentials(secret: str, rng: random.Random) -> dict[str, str]:
    """What is almost a token, or stands in another place."""
    wrong = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    choices: list[dict[str, str]] = [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {wrong}"},
        {"Authorization": f"Bearer {secret[:-1]}"},
        {"Authorization": f"Bearer {secret}x"},
        {"Authorization": f"Basic {secret}"},
        {"Authorization": f"Bearer {secret.upper()}"},
        {"Authorization": f"Bearer{secret}"},
        {"Authorization": f"{secret}"},
        {"Authorization": f"Bearer {secret}, Bearer {secret}"},
        {"Cookie": f"token={secret}"},
        {"X-Api-Key": secret},
        {"Authorization": "Bearer null"},
        {"Authorization": "Bearer \x00"},
        {"X-Forwarded-For": "127.0.0.1", "X-Real-IP": "127.0.0.1", "Forwarded": "for=127.0.0.1"},
        {"X-Original-URL": "/v1/health", "X-Rewrite-URL": "/v1/health"},
        {"X-HTTP-Method-Override": "GET", "X-Method-Override": "GET"},
    ]
    return rng.choice(choices)


@attack(
    "HTTP", "requests without a token, with almost a token or with another spelling of the path", tries=4_000, few=0
)
def without_token(folder: Path, tries: int) -> Tries:
    """No answer but a refusal, except for the open paths."""
    tokens = TokenFile(folder / "tokens.json")
    secret, rng = tokens.create("owner", "write", now=time.time()), random.Random(1)
    with server(folder, "--require-token", "--tokens", folder / "tokens.json") as serving:
        client = Client(port_of(serving))
        assert client.ask("GET", "/v1/bank", Authorization=f"Bearer {secret}")[0] == 200
        for _ in range(tries):
            path = rng.choice([*READ, *BODIES])
            method = rng.choice(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "get", "X"])
            body = json.dumps(BODIES.get(path, {})).encode() if method != "GET" else None
            spelling = _spellings(path, rng)
            status, content = client.ask(method, spelling, body, **_credentials(secret, rng))
            refused = status in (0, 400, 401, 403, 404, 405, 413, 415, 429) and b"units-skill" not in content
            yield "" if refused else f"{method} {spelling}: {status} {content[:80]!r}"
    return ""


@attack("HTTP", "names in Host and Origin that are not the server's", tries=1_000, few=0)
def foreign_names(folder: Path, tries: int) -> Tries:
    """A page of another origin gets nothing."""
    rng = random.Random(2)
    hosts = ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "localhost:80@evil.example", "",
             "127.0.0.1, evil.example", "evil.example:7345", "0x7f.1.evil", "[::1].evil", "10.0.0.1",
             "xn--localhost-", "127.0.0.1:99999999", "127.1", "2130706433", "*", "localhost/..", "[::ffff:10.0.0.1]"]  # fmt: skip
    origins = ["null", "http://evil.example", "file://", "http://127.0.0.1:1", "https://localhost", "http://localhost.evil",
               "chrome-extension://x", "http://127.0.0.1@evil.example", "data:", "http://[::1]"]  # fmt: skip
    with server(folder) as serving:
        port = port_of(serving)
        for number in range(tries):
            path = rng.choice([*READ[:12], *BODIES])
            body = json.dumps(BODIES[path]).encode() if path in BODIES else b""
            if number % 2:
                host, origin = rng.choice(hosts), ""
            else:
                host, origin = f"127.0.0.1:{port}", f"Origin: {rng.choice(origins)}\r\n"
            extra = rng.choice(["", "Sec-Fetch-Site: cross-site\r\n"])
            lines = f"{'POST' if body else 'GET'} {path} HTTP/1.1\r\nHost: {host}\r\n{origin}{extra}"
            lines += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            answer = exchanged(port, lines.encode() + body)
            status = status_of(answer)
            bad = status not in (0, 400, 403, 404, 421) or b"access-control-allow" in answer.lower()
            yield f"{path} Host {host!r} {origin.strip()}: {answer[:90]!r}" if bad else ""
    return ""


@attack("HTTP", "torn, doubled and smuggled raw requests", tries=3_000, few=0)
def raw_requests(folder: Path, tries: int) -> Tries:
    """Each ends with a refusal or a closed connection, and never with a failure of the server."""
    body = json.dumps(QUESTION).encode()
    good = [
        f"{HEAD}Content-Length: {len(body)}\r\n\r\n".encode() + body,
        f"{HEAD}Transfer-Encoding: chunked\r\n\r\n{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n",
        f"{HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".encode()
        + b"GET /v1/bank HTTP/1.1\r\n\r\n",
        b"GET /v1/skills/units-skill HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nRange: bytes=0-,5-\r\n\r\n",
    ]
    variants = itertools.chain.from_iterable(
        zip(*(hostile_bytes(one, seed) for seed, one in enumerate(good)), strict=True)
    )
    with server(folder) as serving:
        for content in itertools.islice(variants, tries):
            answer = exchanged(port_of(serving), content)
            statuses = [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3})", answer)]
            yield f"{content[:200]!r}: {answer[:200]!r}" if [s for s in statuses if s >= 500] else ""
        yield _traceback(serving.log) if "Traceback" in serving.log else ""
        yield "" if Client(port_of(serving)).ask("GET", "/v1/health")[0] == 200 else "the server is gone"
    return ""


@attack(
    "HTTP", "documents with wrong, missing, huge and odd values, on every route that takes one", tries=4_000, few=80
)
def odd_documents(folder: Path, tries: int) -> Tries:
    """Each is answered or refused in words; none is a failure."""
    variants = {path: hostile_documents(body, seed) for seed, (path, body) in enumerate(BODIES.items())}
    with server(folder) as serving:
        client = Client(port_of(serving))
        for path in itertools.islice(itertools.cycle(variants), tries):
            body = json.dumps(next(variants[path])).encode("utf-8", "surrogatepass")
            status, content = client.ask("POST", path, body)
            yield "" if 200 <= status < 500 or status == 503 else f"{path} {body[:200]!r}: {status} {content[:200]!r}"
        yield _traceback(serving.log) if "Traceback" in serving.log else ""
    return ""


@attack("HTTP", "paths and queries that lead elsewhere", tries=2_000, few=0)
def odd_paths(folder: Path, tries: int) -> Tries:
    """No file but the package's own, and no failure."""
    rng = random.Random(4)
    pieces = ["..", "%2e%2e", "..%2f", "%252e%252e", "..\\", "%5c..", "etc/passwd", "assets", "app.js", "%00", "~", ".",
              "C:", "%c0%ae", "proc/self/environ", "reports", "\u202e", "a" * 3_000, "%ff", "toy.bank", "tokens.json"]  # fmt: skip
    (folder / "secret").write_text(CANARY)
    with server(folder) as serving:
        client = Client(port_of(serving))
        for _ in range(tries):
            start = rng.choice(["/assets", "/v1/skills", "/v1/jobs", "/v1/decisions", "", "/v1/dashboard/skill?skill="])
            path = "/".join([start, *rng.choices(pieces, k=rng.randrange(1, 5))])
            path += rng.choice(["", "?" + "&".join(f"limit={value}" for value in ("-1", "9" * 30, "nan"))])
            status, content = client.ask(rng.choice(["GET", "DELETE", "HEAD"]), quote(path, safe="/%?=&\\:~"))
            leaked = b"root:" in content or CANARY.encode() in content or b"SQLite format" in content
            yield f"{path[:100]}: {status} {content[:100]!r}" if leaked or status >= 500 else ""
        yield _traceback(serving.log) if "Traceback" in serving.log else ""
    return ""


@attack("HTTP", "connections whose header never ends, all open at once", tries=1_100, few=0)
def slow_headers(folder: Path, tries: int) -> Tries:
    """Questions are answered meanwhile."""
    with server(folder) as serving, ExitStack() as opened:
        port = port_of(serving)
        with Watch(port) as watch:
            for number in range(tries):
                client = opened.enter_context(closing(socket.create_connection(("127.0.0.1", port), timeout=20)))
                client.sendall(HEAD.encode())
                if number % 20 == 19:
                    yield from [""] * 19
                    status, _ = Client(port).ask("POST", "/v1/decide", json.dumps(QUESTION).encode())
                    yield "" if status == 200 else f"with {number + 1} connections a question got {status}"
        yield "" if not watch.refused else f"{watch.refused} health checks were refused"
    return watch.in_words()


@attack("HTTP", "bodies of which a byte arrives now and then", tries=300, few=0)
def slow_bodies(folder: Path, tries: int) -> Tries:
    """Questions are answered meanwhile; the limits of a body itself are in tests/serve/test_listening.py."""
    with server(folder) as serving, ExitStack() as opened:
        port = port_of(serving)
        slow = []
        with Watch(port) as watch:
            for _ in range(tries):
                client = opened.enter_context(closing(socket.create_connection(("127.0.0.1", port), timeout=20)))
                client.sendall(f"{HEAD}Content-Length: 1000000\r\n\r\n{{".encode())
                slow.append(client)
            for client in slow:
                client.sendall(b" ")
                status, _ = Client(port).ask("POST", "/v1/decide", json.dumps(QUESTION).encode())
                yield "" if status == 200 else f"a question got {status}"
    return watch.in_words()


@attack("HTTP", "16 bodies at once, each with 330,000 unknown fields", tries=16, few=0)
def wide_bodies(folder: Path, tries: int) -> Tries:
    """They are refused, and /v1/health is answered meanwhile."""
    body = json.dumps({f"u{i}": 1 for i in range(330_000)}).encode()[: 4 << 20]
    statuses: list[int] = []
    with server(folder) as serving:
        port = port_of(serving)
        with Watch(port) as watch:
            in_threads(lambda _: statuses.append(Client(port).ask("POST", "/v1/decide", body)[0]), tries)
        for status in statuses:
            yield "" if status in (400, 413, 422) else f"a body of {len(body):,} bytes got {status}"
        yield "" if watch.slowest < 2 else f"a health check took {watch.slowest:.1f} s"
    return watch.in_words()


@attack("HTTP", "event streams of one job, all open at once", tries=1_000, few=0)
def event_streams(folder: Path, tries: int) -> Tries:
    """Questions are answered meanwhile, and the server's memory stays bounded."""
    with server(folder) as serving, ExitStack() as opened:
        port = port_of(serving)
        before = _megabytes(serving.process.pid)
        body = json.dumps({"kind": "evaluate", "options": {"resamples": 100_000, "shuffles": 10_000}}).encode()
        jobs = [json.loads(Client(port).ask("POST", "/v1/jobs", body)[1]).get("job_id") for _ in range(3)]
        request = f"GET /v1/jobs/{jobs[-1]}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        with Watch(port) as watch:
            for number in range(tries):
                client = opened.enter_context(closing(socket.create_connection(("127.0.0.1", port), timeout=20)))
                client.sendall(request)
                if number % 20 == 19:
                    yield from [""] * 19
                    status, _ = Client(port).ask("POST", "/v1/decide", json.dumps(QUESTION).encode())
                    yield "" if status == 200 else f"with {number + 1} streams a question got {status}"
            time.sleep(2)
        grown = _megabytes(serving.process.pid) - before
        yield "" if grown < 300 else f"the server grew by {grown:.0f} MB"
        yield "" if not watch.refused else f"{watch.refused} health checks were refused"
    return f"{watch.in_words()}; {grown:.0f} MB more memory"


@attack("HTTP", "control characters, line breaks and secrets in paths, with --access-log", tries=1_000, few=0)
def forged_log_lines(folder: Path, tries: int) -> Tries:
    """The log has no raw control character and no line that the server did not write."""
    rng = random.Random(5)
    evil = ["%0a", "%0d%0a2026-01-01 00:00:00,000 INFO forged", "%1b[2J", "%1b]0;title%07", "%9b31m", "%e2%80%ae", "%00",
            "%08%08", "%e2%80%a8", "%c2%85", "/sk-ant-" + "a" * 40, "%7f", "\u001b%5b1A"]  # fmt: skip
    with server(folder, "--access-log") as serving:
        client = Client(port_of(serving))
        for number in range(tries):
            path = f"/v1/skills/{number}-" + "".join(rng.choices(evil, k=3))
            client.ask("GET", quote(path, safe="/%[];-:,"))
            yield ""
        time.sleep(0.5)
        lines = serving.log.splitlines()[1:]
        yield f"{lines[0]!r}" if any(re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", line) for line in lines) else ""
        strange = [line for line in lines if not re.match(r"\d{4}-\d\d-\d\d [\d:,]+ INFO (GET|POST|HEAD) ", line)]
        yield f"{strange[0]!r}" if strange else ""
        yield "a secret is in the log" if "a" * 40 in serving.log else ""
    return f"{len(lines):,} lines of log"


@attack("HTTP", "mixed requests, for what they leave in memory", tries=6_000, few=0)
def memory_of_mixed_requests(folder: Path, tries: int) -> Tries:
    """New texts, skills, agents, conversations and settings with every request do not stay."""
    rng = random.Random(6)
    variants = {
        path: hostile_documents(body, seed) for seed, (path, body) in enumerate(BODIES.items()) if "jobs" not in path
    }
    with server(folder) as serving:
        client, pid = Client(port_of(serving)), serving.process.pid
        sizes = []
        for number in range(tries):
            kind = rng.randrange(4)
            if kind == 0:
                path = rng.choice(list(variants))
                client.ask("POST", path, json.dumps(next(variants[path])).encode("utf-8", "surrogatepass"))
            elif kind == 1:
                gate = {"k": rng.randrange(1, 50), "threshold": rng.random(), "estimator": "paper"}
                body = {"task": f"convert {number} miles", "skill": "units-skill", "gate": gate, "record": False}
                client.ask("POST", "/v1/decide", json.dumps(body).encode())
            elif kind == 2:
                body = {"task": f"word{number} " * rng.randrange(1, 200), "skill": "dates-skill", "agent": f"a{number}"}
                client.ask("POST", "/v1/decide", json.dumps({**body, "conversation": f"c{number}"}).encode())
            else:
                client.ask("GET", rng.choice(READ) + f"?limit={number}&agent=a{number}")
            if number % 200 == 0:
                sizes.append(_megabytes(pid))
            yield ""
        late = sizes[-1] / sizes[len(sizes) // 2]
        yield "" if late < 1.2 else f"the second half of the requests made it grow {late:.2f} times"
    return f"{sizes[0]:.0f} MB at first, {sizes[len(sizes) // 2]:.0f} half way, {sizes[-1]:.0f} at the end"


def _traceback(log: str) -> str:
    return "in the log: " + re.split(r"\n\d{4}-\d\d-\d\d ", log[log.index("Traceback") :])[0][-1_000:]


def _megabytes(pid: int) -> float:
    return float(psutil.Process(pid).memory_info().rss) / 1e6
