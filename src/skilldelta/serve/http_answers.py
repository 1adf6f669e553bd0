"""What the routes of the HTTP API share: the gate behind a request, and JSON as the command line prints it."""

from __future__ import annotations

import json
from typing import Any

from fastapi import Request
from fastapi.responses import Response

from skilldelta.files import jsonable
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.problem_details import MEDIA_TYPE, Problem
from skilldelta.serve.service_metrics import ServiceMetrics
from skilldelta.serve.wire_formats import ProblemBody

_SAID = {
    400: "Malformed request",
    401: "A token is needed",
    403: "The token, the Host or the Origin does not allow it",
    404: "Not there",
    409: "It contradicts what is recorded",
    413: "The body is too large",
    415: "The body has another type",
    422: "A value cannot be taken",
    429: "Too many requests",
    503: "The bank or the encoder cannot be used at the moment",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": said, "content": {MEDIA_TYPE: {"schema": ProblemBody.model_json_schema()}}}
    for status, said in _SAID.items()
}


def gate_of(request: Request) -> GateService:
    """The service that this app was made for."""
    gate: GateService = request.app.state.gate
    return gate


def metrics_of(request: Request) -> ServiceMetrics:
    """What this app counts."""
    metrics: ServiceMetrics = request.app.state.metrics
    return metrics


def check_may_write(request: Request) -> None:
    """Refuse what would write on behalf of a token that may only read."""
    if not request.scope.get("may_write", True):
        raise Problem(403, 'the token may read only: ask with "record": false, or create a token with --scope write')


def json_response(document: Any, *, status: int = 200) -> Response:
    """A JSON document. What is not a number is unknown: null."""
    try:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        body = text.encode("utf-8")
    except (ValueError, TypeError):  # rare: not a number, an array, or half a surrogate pair
        body = json.dumps(jsonable(document), allow_nan=False).encode()
    return Response(body, status_code=status, media_type="application/json")
