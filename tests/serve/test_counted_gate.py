"""What hooks get from the gate of their own server: the documents of the HTTP API, counted like its answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient

from skilldelta.errors import InputError
from skilldelta.serve.counted_gate import CountedGate
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.http_api import gate_app
from skilldelta.serve.service_metrics import ServiceMetrics

QUESTION: dict[str, Any] = {"task": "convert seven miles to feet", "record": False}


@pytest.mark.parametrize(
    ("path", "asked"),
    [("/v1/decide", {"skill": "units-skill"}), ("/v1/choose", {"skills": ["units-skill", "dates-skill"]})],
)
def test_a_hook_gets_the_document_of_the_http_api_and_both_are_counted(
    bank_path: Path, path: str, asked: dict[str, Any]
) -> None:
    app = gate_app(GateService.open(bank_path))
    with TestClient(app, base_url="http://127.0.0.1:7345") as client:
        over_http = client.post(path, json=QUESTION | asked).json()
        once = _decisions(client)
        assert app.state.counted.answer(path, QUESTION | asked) == over_http
        assert _decisions(client) == 2 * once > 0


def _decisions(client: TestClient) -> float:
    lines = client.get("/metrics").text.splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith("skilldelta_decisions_total{"))


def test_an_outcome_is_recorded_once(gate: GateService) -> None:
    counted = CountedGate(gate, ServiceMetrics())
    decided = counted.answer("/v1/decide", {"task": "convert seven miles", "skill": "units-skill"})["decision_id"]
    outcome = {"decision_id": decided, "tokens": 30}
    assert counted.answer("/v1/outcomes", outcome) == counted.answer("/v1/outcomes", outcome) == {"outcome_id": 1}


def test_what_the_http_api_refuses_is_an_exception(gate: GateService) -> None:
    counted = CountedGate(gate, ServiceMetrics())
    with pytest.raises(InputError):
        counted.answer("/v1/decide", QUESTION | {"skill": "nobody-knows"})
    for wrong in ({}, {"skill": 3}, {"skill": "units-skill", "task": "x" * 500_000}):
        with pytest.raises(ValidationError):
            counted.answer("/v1/decide", QUESTION | wrong)
