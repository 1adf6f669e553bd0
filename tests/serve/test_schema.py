"""Every operation of the OpenAPI document against what schemathesis makes of its schema: no failure, nothing undocumented."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from skilldelta.serve.gate_service import GateService
from skilldelta.serve.http_api import gate_app

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
positive_data_acceptance = pytest.importorskip("schemathesis.specs.openapi.checks").positive_data_acceptance

_EXAMPLES = 6
_SKIPPED = "/events"
"""A stream that ends with its job; it has a test of its own."""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The schema of an app on a bank of its own, which is written to."""
    import json

    from cli.conftest import pair_rows
    from skilldelta.bank import Bank
    from skilldelta.bank.importers import read_source

    folder: Path = tmp_path_factory.mktemp("schema")
    rows = folder / "pairs.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in pair_rows()))
    with Bank.open(folder / "toy.bank", create=True) as bank:
        bank.add(read_source(rows))
    gate = GateService.open(folder / "toy.bank")
    gate.warm_up()
    app = gate_app(gate)
    yield schemathesis.openapi.from_asgi("/v1/openapi.json", app, headers={"Host": "127.0.0.1"})
    app.state.jobs.close()
    gate.close()


def test_every_operation_keeps_to_its_description(api: Any) -> None:
    tried = []
    for found in api.get_all_operations():
        operation = found.ok()
        if operation.path.endswith(_SKIPPED):
            continue
        tried.append(operation.path)
        _try(operation)
    assert {"/v1/decide", "/v1/outcomes", "/v1/import", "/v1/jobs", "/metrics"} <= set(tried)


def _try(operation: Any) -> None:
    @given(case=operation.as_strategy())
    @settings(
        max_examples=2 if "/dashboard/" in operation.path else _EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def keeps(case: Any) -> None:
        answer = case.call(headers={**(case.headers or {}), "Host": "127.0.0.1"}, timeout=60)
        assert answer.status_code < 500, answer.text
        case.validate_response(answer, excluded_checks=[positive_data_acceptance])  # unknown names are refused with 422

    keeps()
