"""Who may ask: hosts, origins, tokens, rates."""

from __future__ import annotations

import json
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from serve.running_server import running
from skilldelta.errors import InputError
from skilldelta.serve.access_tokens import TokenFile
from skilldelta.serve.admission import Admission, AdmissionRules, RequestHead, is_loopback
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.http_answers import Problem
from skilldelta.serve.http_api import gate_app

ASKED = {"task": "convert four miles to metres", "skill": "units-skill"}
EVERY_ROUTE = [
    ("GET", "/v1/ready"),
    ("POST", "/v1/decide"),
    ("POST", "/v1/decide/batch"),
    ("POST", "/v1/choose"),
    ("POST", "/v1/hooks/claude-code"),
    ("GET", "/v1/decisions"),
    ("GET", "/v1/decisions/1"),
    ("POST", "/v1/outcomes"),
    ("GET", "/v1/bank"),
    ("GET", "/v1/skills"),
    ("GET", "/v1/skills/units-skill"),
    ("POST", "/v1/import"),
    ("POST", "/v1/jobs"),
    ("GET", "/v1/jobs"),
    ("GET", "/v1/jobs/0123456789abcdef0123456789abcdef"),
    ("GET", "/v1/jobs/0123456789abcdef0123456789abcdef/events"),
    ("GET", "/v1/jobs/0123456789abcdef0123456789abcdef/report"),
    ("DELETE", "/v1/jobs/0123456789abcdef0123456789abcdef"),
    ("GET", "/metrics"),
    ("GET", "/v1/openapi.json"),
]


@pytest.fixture
def tokens(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "private" / "tokens.json")


@pytest.fixture
def guarded(bank_path: Path, tokens: TokenFile) -> Iterator[TestClient]:
    """The API as it is on an address that others can reach."""
    app = gate_app(GateService.open(bank_path), AdmissionRules(tokens=tokens, any_address=True))
    with TestClient(app, base_url="http://192.0.2.7:7345") as client:
        yield client


def status_of(method: str, path: str, headers: dict[str, str], rules: AdmissionRules | None = None) -> int:
    """What a request is answered with before any route sees it; 200 stands for going on."""
    try:
        Admission(rules or AdmissionRules()).admit(RequestHead(method, path, "127.0.0.1", headers))
    except Problem as problem:
        return problem.status
    return 200


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def test_the_list_of_routes_is_complete(client: TestClient) -> None:
    paths: dict[str, Any] = client.get("/v1/openapi.json").json()["paths"]
    known = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    example = {
        "{decision_id}": "1",
        "{skill}": "units-skill",
        "{job_id}": "0123456789abcdef0123456789abcdef",
        "{harness}": "claude-code",
    }
    spelled = set()
    for method, path in known - {("GET", "/v1/health"), ("GET", "/v1/proof")}:
        for name, value in example.items():
            path = path.replace(name, value)
        spelled.add((method, path))
    assert {route for route in spelled if "/dashboard" not in route[1]} == set(EVERY_ROUTE) - {
        ("GET", "/v1/openapi.json")
    }


def test_without_a_token_nothing_is_read_or_written(guarded: TestClient, tokens: TokenFile) -> None:
    tokens.create("someone", "write", now=0)
    wrong = (None, "Bearer ", "Bearer skd_wrong", "Basic dXNlcjpwYXNz", "skd_wrong", "bearer \xff")
    for method, path in EVERY_ROUTE:
        for header in wrong:
            body = json.dumps(ASKED) if method == "POST" else None
            headers = {"Content-Type": "application/json"} | ({"Authorization": header} if header else {})
            raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
            answer = guarded.request(method, path, content=body, headers=raw)
            assert answer.status_code == 401, (method, path, header)
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert set(answer.json()) == {"type", "title", "status", "detail"}


def test_only_health_and_the_pages_own_files_are_open(guarded: TestClient) -> None:
    assert guarded.get("/v1/health").status_code == 200
    assert guarded.get("/").status_code in (200, 404)  # the page itself holds nothing of the bank
    assert guarded.get("/assets/../v1/bank").status_code == 401
    assert guarded.get("/assets/..%2fv1/bank").status_code in (401, 404)
    assert guarded.post("/v1/health").status_code == 401


def test_a_reader_reads_and_asks_and_a_writer_records(guarded: TestClient, tokens: TokenFile) -> None:
    reader, writer = bearer(tokens.create("r", "read", now=0)), bearer(tokens.create("w", "write", now=0))
    assert guarded.get("/v1/bank", headers=reader).status_code == 200
    assert guarded.post("/v1/decide", json={**ASKED, "record": False}, headers=reader).status_code == 200
    refused = [
        guarded.post("/v1/decide", json=ASKED, headers=reader),
        guarded.post("/v1/decide/batch", json={"questions": [ASKED]}, headers=reader),
        guarded.post("/v1/choose", json={"task": "x", "skills": ["units-skill"]}, headers=reader),
        guarded.post("/v1/outcomes", json={"decision_id": 1, "success": 1}, headers=reader),
        guarded.post("/v1/import", json=[], headers=reader),
        guarded.post("/v1/jobs", json={"kind": "evaluate"}, headers=reader),
        guarded.delete("/v1/jobs/0123456789abcdef0123456789abcdef", headers=reader),
    ]
    assert [answer.status_code for answer in refused] == [403] * 7
    assert guarded.get("/v1/decisions", headers=reader).json()["decisions"] == []
    assert guarded.post("/v1/decide", json=ASKED, headers=writer).json()["decision_id"] == 1


def test_a_token_expires_and_is_revoked_under_a_running_server(bank_path: Path, tokens: TokenFile) -> None:
    short = bearer(tokens.create("short", "read", now=time.time() - 10 * 86_400, days=9))
    long = bearer(tokens.create("long", "read", now=time.time(), days=9))
    app = gate_app(GateService.open(bank_path), AdmissionRules(tokens=tokens))
    with TestClient(app, base_url="http://localhost") as client:
        expired = client.get("/v1/bank", headers=short)
        assert (expired.status_code, "expired" in expired.json()["detail"]) == (401, True)
        assert client.get("/v1/bank", headers=long).status_code == 200
        TokenFile(tokens.path).revoke("long")
        assert client.get("/v1/bank", headers=long).status_code == 401


def test_the_file_of_tokens_is_private_and_holds_no_secret(tokens: TokenFile) -> None:
    secret = tokens.create("a", "write", now=0)
    assert stat.S_IMODE(tokens.path.stat().st_mode) == 0o600
    assert secret not in tokens.path.read_text()
    assert len(secret) > 40
    with pytest.raises(InputError, match="there is a token 'a' already"):
        tokens.create("a", "read", now=0)
    with pytest.raises(InputError, match="unknown token 'b'"):
        tokens.revoke("b")
    assert [token.name for token in tokens.tokens()] == ["a"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"tokens": 1}',
        '{"tokens": [{}]}',
        '{"tokens": [{"name": 1, "digest": "x", "scope": "all", "created": 1}]}',
    ],
)
def test_a_damaged_file_of_tokens_is_refused_and_lets_nobody_in(tokens: TokenFile, content: str) -> None:
    secret = tokens.create("a", "write", now=0)
    admission = Admission(AdmissionRules(tokens=tokens))
    head = RequestHead("GET", "/v1/bank", "", {"host": "localhost", "authorization": f"Bearer {secret}"})
    assert admission.admit(head).may_write
    tokens.path.write_text(content)
    with pytest.raises(InputError, match=r"tokens\.json"):
        admission.admit(head)


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:7345", 200),
        ("localhost", 200),
        ("localhost:99", 200),
        ("[::1]:7345", 200),
        ("LOCALHOST", 200),
        ("evil.example", 403),
        ("evil.example:7345", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example", 403),
        ("192.0.2.1", 403),
        ("", 403),
        ("127.0.0.1:7345@evil.example", 403),
        ("evil.example#127.0.0.1", 403),
    ],
)
def test_a_rebound_name_does_not_reach_the_server(host: str, status: int) -> None:
    assert status_of("GET", "/v1/skills", {"host": host}) == status


def test_two_host_headers_are_neither(client: TestClient) -> None:
    for second in ("evil.example", "localhost"):
        headers = [("Host", "localhost"), ("Host", second)]
        assert client.get("/v1/health", headers=headers).status_code == 403


def test_a_name_can_be_allowed() -> None:
    rules = AdmissionRules(hosts=frozenset({"gate.example"}))
    found = [status_of("GET", "/v1/bank", {"host": host}, rules) for host in ("gate.example:80", "other.example")]
    assert found == [200, 403]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://127.0.0.1:7345", "Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_no_page_of_another_origin_reads_or_writes(headers: dict[str, str], status: int) -> None:
    given = {"host": "127.0.0.1:7345"} | {name.lower(): value for name, value in headers.items()}
    for method, path in EVERY_ROUTE:
        assert status_of(method, path, given) == status


def test_no_answer_invites_other_origins(client: TestClient) -> None:
    preflight = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    for answer in (client.options("/v1/decide", headers=preflight), client.get("/v1/bank")):
        assert not [name for name in answer.headers if name.startswith("access-control")]
    assert client.options("/v1/decide", headers=preflight).status_code == 403


def test_what_a_form_can_send_is_not_taken(client: TestClient) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
        for path in ("/v1/decide", "/v1/import", "/v1/outcomes", "/v1/jobs"):
            answer = client.post(path, content=json.dumps(ASKED), headers={"Content-Type": kind})
            assert answer.status_code == 415, (kind, path)


def test_a_client_that_asks_too_often_waits(bank_path: Path) -> None:
    app = gate_app(GateService.open(bank_path), AdmissionRules(per_second=5))
    with TestClient(app, base_url="http://localhost") as client:
        answers = [client.get("/v1/health") for _ in range(30)]
    statuses = [answer.status_code for answer in answers]
    assert statuses[:5] == [200] * 5
    assert 429 in statuses
    assert answers[statuses.index(429)].headers["retry-after"] == "1"


def test_loopback_is_what_no_other_machine_reaches() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.8.9.1", "::1", "localhost", "[::1]")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.1.2", "gate.example", "")))


def test_a_reachable_address_needs_tokens_and_leaks_none_of_them(bank_path: Path, tokens: TokenFile) -> None:
    """The real command, bound to every address; the test itself stays on loopback."""
    secret = tokens.create("ann", "write", now=0)
    words = ("--host", "0.0.0.0", "--tokens", tokens.path, "--access-log", "--keep", "whole")
    private = "convert my private four miles"
    with running(bank_path, *words) as server:
        for method, path in EVERY_ROUTE:
            assert httpx.request(method, f"{server.url}{path}").status_code == 401
        wrong = httpx.get(f"{server.url}/v1/bank?token={secret}", headers=bearer("skd_" + "x" * 43))
        asked = httpx.post(f"{server.url}/v1/decide", json={**ASKED, "task": private}, headers=bearer(secret))
        found = httpx.get(f"{server.url}/v1/decisions?q=private", headers=bearer(secret))
        assert (wrong.status_code, asked.status_code, len(found.json()["decisions"])) == (401, 200, 1)
        assert server.end() in (0, -15)
    assert "POST /v1/decide 200" in server.log
    for hidden in (secret, secret[4:], "skd_", "private", "Bearer"):
        assert hidden not in server.log


def test_an_encoder_that_fails_leaks_neither_its_key_nor_the_text(bank_path: Path) -> None:
    key, private = "sk-0123456789abcdefghij", "convert my private four miles"
    with socket.create_server(("127.0.0.1", 0)) as free:
        dead = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    words = ("--encoder", "openai", "--encoder-url", dead, "--encoder-model", "any", "--access-log")
    with running(bank_path, *words, env={"SKILLDELTA_ENCODER_KEY": key}) as server:
        answer = httpx.post(f"{server.url}/v1/decide", json={**ASKED, "task": private}, timeout=60)
        assert server.end() in (0, -15)
    assert (answer.status_code, answer.json()["title"]) == (503, "Service Unavailable")
    assert "encoder" in server.log
    for hidden in (key, private, dead):
        assert hidden not in answer.text
    for hidden in (key, private):
        assert hidden not in server.log
