"""A decision is answered though the log cannot be written; what is missing there is counted."""

from __future__ import annotations

import io
import sqlite3
import time
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from skilldelta.bank import Bank
from skilldelta.errors import UnwritableBankError
from skilldelta.gate import Question
from skilldelta.serve.gate_service import NOT_LOGGED, GateService

QUESTION = {"task": "convert 3 miles", "skill": "units-skill", "conversation": "c"}


def fail(*_: object, **__: object) -> None:
    raise UnwritableBankError("/somewhere/toy.bank cannot be written: database or disk is full")


def test_a_full_disk_costs_the_entry_and_not_the_answer(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, service_log: io.StringIO
) -> None:
    first = client.post("/v1/decide", json=QUESTION).json()
    assert "warning" not in first
    with monkeypatch.context() as patched:
        patched.setattr(Bank, "record_decisions", fail)
        answer = client.post("/v1/decide", json={**QUESTION, "conversation": "d"})
        batch = client.post("/v1/decide/batch", json={"questions": [{**QUESTION, "conversation": ""}] * 2}).json()
        chosen = client.post("/v1/choose", json={"task": "convert 3 miles", "skills": ["units-skill"]}).json()
        again = client.post("/v1/decide", json=QUESTION).json()  # what the log has is read as ever
    assert answer.status_code == 200
    document = answer.json()
    assert document["warning"] == NOT_LOGGED
    assert "decision_id" not in document
    assert (document["action"], document["gain"]) == (first["action"], first["gain"])
    assert [one["warning"] for one in (*batch["decisions"], *chosen["decisions"])] == [NOT_LOGGED] * 3
    assert again["decision_id"] == first["decision_id"]
    assert client.get("/v1/health").json()["not_logged"] == 4
    assert "skilldelta_decisions_not_logged 4.0" in client.get("/metrics").text
    assert "disk is full" in service_log.getvalue()
    later = client.post("/v1/decide", json={**QUESTION, "conversation": "e"}).json()
    assert later["decision_id"] > first["decision_id"]
    assert "warning" not in later


def test_a_bank_that_another_process_is_writing_to_does_not_hold_a_decision(bank_path: Path) -> None:
    with GateService.open(bank_path) as gate:
        question = Question("convert 3 miles", "units-skill")
        gate.decide(question)
        other = sqlite3.connect(bank_path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        answer = gate.decide(question)
        waited = time.monotonic() - began
        other.execute("ROLLBACK")
        other.close()
        assert answer.warning == NOT_LOGGED
        assert waited < 4, "the writer itself waits five seconds"
        assert gate.not_logged == 1
