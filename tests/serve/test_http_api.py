"""The gate over HTTP: the command line's documents, problem details for everything else, nothing half-written."""

from __future__ import annotations

import io
import json
import sqlite3
import time
import zipfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from bank.importers.layouts import workspace
from cli.conftest import Skilldelta, pair_rows, skilldelta  # noqa: F401
from skilldelta.bank.sqlite_files import write_lock
from skilldelta.gate import Gate
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.http_api import gate_app
from skilldelta.version import __version__

ASKED = {"task": "convert four miles to metres", "skill": "units-skill"}


def problem(response: Any, status: int) -> str:
    """The words of a problem; the shape is checked on the way."""
    assert response.headers["content-type"] == "application/problem+json"
    document = response.json()
    assert (response.status_code, document["status"], document["type"]) == (status, status, "about:blank")
    assert document["title"]
    assert isinstance(document["detail"], str)
    assert "Traceback" not in response.text
    return str(document["detail"])


def test_health_and_readiness(client: TestClient) -> None:
    health = client.get("/v1/health").json()
    assert health.pop("gate") == asdict(Gate())
    assert health == {"status": "ok", "version": __version__, "not_logged": 0}
    for _ in range(200):
        ready = client.get("/v1/ready")
        if ready.status_code == 200:
            break
        assert (ready.status_code, ready.json()) == (503, {"ready": False, "reason": "warming up"})
        time.sleep(0.05)
    assert ready.json() == {"ready": True, "reason": None}


def test_a_decision_is_the_document_of_the_command(
    client: TestClient,
    bank_path: Path,
    skilldelta: Skilldelta,  # noqa: F811
) -> None:
    asked = ("predict", "--bank", bank_path, "--skill", ASKED["skill"], "--json", ASKED["task"])
    found = client.post("/v1/decide", json=ASKED).json()
    assert found == {**skilldelta(*asked).document, "repeated": False, "decision_id": 1}
    words = ("--paper", "--k", 3, "--threshold", 0.2, "--explain")
    policy = {"paper": True, "k": 3, "threshold": 0.2}
    found = client.post("/v1/decide", json={**ASKED, "policy": policy, "explain": True, "record": False}).json()
    assert found == {**skilldelta(*asked, *words).document, "repeated": False}


def test_batch_choice_log_and_outcome(client: TestClient) -> None:
    batch = client.post("/v1/decide/batch", json={"questions": [ASKED, {**ASKED, "conversation": "c"}]}).json()
    assert [one["decision_id"] for one in batch["decisions"]] == [1, 2]
    again = client.post("/v1/decide", json={**ASKED, "conversation": "c", "include_skill_text": True}).json()
    assert (again["decision_id"], again["repeated"], again["skill_text"]) == (2, True, None)
    chosen = client.post("/v1/choose", json={"task": ASKED["task"], "skills": ["units-skill", "dates-skill"]}).json()
    assert (chosen["choice"], len(chosen["decisions"])) == ("units-skill", 2)
    assert [one["action"] for one in chosen["decisions"]] == ["use", "abstain"]
    assert client.post("/v1/decide", json={**ASKED, "skill": "dates-skill"}).status_code == 200
    outcome = {"decision_id": 2, "success": 1, "tokens": 12, "key": "k"}
    answers = [client.post("/v1/outcomes", json=outcome) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert [answer.json()["new"] for answer in answers] == [True, False]
    assert "has the key 'k'" in problem(client.post("/v1/outcomes", json={**outcome, "success": 0}), 409)
    assert "no decision 99" in problem(client.post("/v1/outcomes", json={**outcome, "decision_id": 99}), 404)
    assert "at least one" in problem(client.post("/v1/outcomes", json={"decision_id": 2}), 422)
    entry = client.get("/v1/decisions/2").json()
    assert (entry["outcomes"][0]["success"], entry["neighbors"][0]["text"][:7]) == (1.0, "convert")
    page = client.get("/v1/decisions", params={"skill": "dates-skill"}).json()
    assert [one["skill"] for one in page["decisions"]] == ["dates-skill"]
    assert "no decision 77" in problem(client.get("/v1/decisions/77"), 404)


def test_what_the_bank_holds(client: TestClient) -> None:
    status = client.get("/v1/bank").json()
    assert (status["tasks"], status["location"]) == (8, None)
    assert [one["skill"] for one in client.get("/v1/skills").json()["skills"]] == ["units-skill", "dates-skill"]
    assert client.get("/v1/skills/units-skill").json()["text"] is None
    assert "did you mean units-skill" in problem(client.get("/v1/skills/unit-skill"), 404)


def test_imports_are_whole_and_seen_by_the_next_question(client: TestClient) -> None:
    row = {**pair_rows()[0], "task_id": "more", "text": "convert six miles to yards"}
    raw = {"Content-Type": "application/octet-stream"}
    before = client.post("/v1/decide", json=ASKED).json()["support"]["eligible"]
    added = client.post("/v1/import?name=../../etc/more.jsonl", content=json.dumps(row), headers=raw).json()
    assert (added["sources"][0]["path"], added["sources"][0]["tasks"]) == ("more.jsonl", 1)
    again = client.post("/v1/import", json={"rows": [row]}).json()
    assert (again["sources"][0]["tasks"], again["sources"][0]["executions"]) == (0, 0)
    assert client.post("/v1/decide", json=ASKED).json()["support"]["eligible"] == before + 1
    bad = json.dumps(row) + "\n" + json.dumps({**row, "task_id": "other", "y0": [7]})
    assert "y0" in problem(client.post("/v1/import?name=bad.jsonl", content=bad, headers=raw), 422)
    assert client.get("/v1/bank").json()["tasks"] == 9
    assert "must be a list of rows" in problem(client.post("/v1/import", json={"a": 1}), 422)


def test_an_archive_of_another_tools_results_is_imported_as_the_command_line_does(
    client: TestClient, tmp_path: Path
) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, document in workspace().items():
            archive.writestr(name, document if isinstance(document, str) else json.dumps(document))
    raw = {"Content-Type": "application/octet-stream"}
    path = "/v1/import?name=results.zip&agent=me"
    (source,) = client.post(path, content=content.getvalue(), headers=raw).json()["sources"]
    assert (source["format"], source["tasks"], source["executions"]) == ("skill-creator", 2, 8)
    unsaid = client.post("/v1/import?name=results.zip", content=content.getvalue(), headers=raw)
    assert "the files do not say the agent" in problem(unsaid, 422)
    left = client.post(f"{path}2&suite=other&arm=with_skill%3Dleave-out", content=content.getvalue(), headers=raw)
    assert {one["missing"] for one in left.json()["unpaired"]} == {"use"}


REFUSED = [
    ("{", 400, "JSON"),
    ("[" * 100_000, 413, "levels"),
    ("[]", 422, "body"),
    ('{"task": "x"}', 422, "body.skill"),
    ('{"task": "x", "skill": "units-skill", "extra": 1}', 422, "body.extra"),
    ('{"task": 7, "skill": "units-skill"}', 422, "body.task"),
    ('{"task": "", "skill": "units-skill"}', 422, "body.task"),
    ('{"task": "  ", "skill": "units-skill"}', 422, "task text is empty"),
    ('{"task": "x\\ud800", "skill": "units-skill"}', 422, ""),
    ('{"task": "x", "skill": "no-such"}', 422, "unknown skill 'no-such'"),
    ('{"task": "x", "skill": "units-skill", "agent": "nobody"}', 422, "unknown agent"),
    ('{"task": "x", "skill": "units-skill", "suite": "none"}', 422, "unknown suite"),
    ('{"task": "x", "skill": "units-skill", "policy": {"k": 0}}', 422, "k"),
    ('{"task": "x", "skill": "units-skill", "policy": {"threshold": NaN}}', 422, "threshold"),
    ('{"task": "x", "skill": "units-skill", "policy": {"interval": "wide"}}', 422, "unknown interval 'wide'"),
    (
        '{"task": "x", "skill": "units-skill", "policy": {"paper": true, "estimator": "blend"}}',
        422,
        "paper already",
    ),
    ('{"task": "x", "skill": "units-skill", "record": "yes"}', 422, "record"),
]


def test_a_question_that_cannot_be_taken_is_refused_in_one_line(client: TestClient) -> None:
    for body, status, words in REFUSED:
        answer = client.post("/v1/decide", content=body, headers={"Content-Type": "application/json"})
        assert words in problem(answer, status), body[:80]
    assert client.get("/v1/decisions").json()["decisions"] == []


def test_a_private_text_is_not_repeated_in_a_problem(client: TestClient) -> None:
    answer = client.post("/v1/decide", json={"task": ["my private text"], "skill": "my-private-skill" * 100})
    assert "private" not in problem(answer, 422)


def test_bodies_are_bounded_in_type_and_length(client: TestClient) -> None:
    text = {"Content-Type": "text/plain"}
    assert "application/json" in problem(client.post("/v1/decide", content=json.dumps(ASKED), headers=text), 415)
    large = {"task": "x" * (5 << 20), "skill": "units-skill"}
    assert "bytes at most" in problem(client.post("/v1/decide", json=large), 413)

    def endless() -> Any:
        for _ in range(6):
            yield b"x" * (1 << 20)

    kind = {"Content-Type": "application/json"}
    assert "bytes at most" in problem(client.post("/v1/decide", content=endless(), headers=kind), 413)


def test_unknown_routes_and_methods_are_problems(client: TestClient) -> None:
    problem(client.get("/v1/nothing"), 404)
    problem(client.get("/v1/decide"), 405)
    problem(client.put("/v1/decisions/1", json={}), 405)
    problem(client.get("/v1/decisions/none"), 422)
    problem(client.get("/v1/decisions?limit=0"), 422)


def test_a_locked_bank_costs_the_log_entry_and_names_no_path(bank_path: Path) -> None:
    gate = GateService.open(bank_path, timeout=0.1)
    with TestClient(gate_app(gate), base_url="http://127.0.0.1") as client:
        assert client.post("/v1/decide", json={**ASKED, "record": False}).status_code == 200
        with write_lock(Path(f"{bank_path}.lock"), 5):
            answer = client.post("/v1/decide", json=ASKED)
            unrecorded = client.post("/v1/decide", json={**ASKED, "record": False})
        assert answer.status_code == 200
        assert "not in the log" in answer.json()["warning"]
        assert str(bank_path.parent) not in answer.text
        assert unrecorded.status_code == 200
        assert client.post("/v1/decide", json=ASKED).json()["decision_id"] == 1


def test_a_bank_damaged_under_the_server_is_a_problem_without_its_words(bank_path: Path) -> None:
    with TestClient(gate_app(GateService.open(bank_path)), base_url="http://127.0.0.1") as client:
        client.post("/v1/decide", json=ASKED)
        with sqlite3.connect(bank_path) as other:
            other.execute("DROP TABLE outcomes")
        answer = client.get("/v1/decisions")
        assert "the bank cannot be used" in problem(answer, 503)
        assert "outcomes" not in answer.text


def test_metrics_count_requests_decisions_and_outcomes(client: TestClient) -> None:
    client.post("/v1/decide", json=ASKED)
    client.post("/v1/outcomes", json={"decision_id": 1, "success": 1})
    client.get("/v1/skills/whoever-asks-for-anything")
    text = client.get("/metrics").text
    assert 'skilldelta_decisions_total{action="use",repeated="false"} 1.0' in text
    assert 'skilldelta_outcomes_total{new="true"} 1.0' in text
    assert 'skilldelta_http_requests_total{method="POST",route="/v1/decide",status="200"} 1.0' in text
    assert "whoever" not in text


def test_an_empty_bank_says_what_it_lacks(tmp_path: Path) -> None:
    gate = GateService.open(tmp_path / "new.bank", create=True)
    with TestClient(gate_app(gate), base_url="http://127.0.0.1") as client:
        assert client.get("/v1/skills").json() == {"skills": []}
        assert "no agent yet; import" in problem(client.post("/v1/decide", json=ASKED), 422)
