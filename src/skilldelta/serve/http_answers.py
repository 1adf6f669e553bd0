"""The answers of the HTTP API: documents as JSON, as the command line prints them, and errors as RFC 9457 problem details.

What is the caller's is said in words; what is ours is said in the server's log. No path, no secret and no text of a task
goes into a problem: a message of the bank may name files, one of an encoder an address, so that these two reach the log
only.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from anyio import from_thread
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException

from skilldelta.advisor.learned_states import NotLearnedYetError
from skilldelta.encoders import EncoderError
from skilldelta.endpoint import NoAnswerError
from skilldelta.errors import BankError, ConflictError, MissingExtraError, NotRecordedError, SkillDeltaError
from skilldelta.files import jsonable
from skilldelta.redaction import redacted
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.service_metrics import ServiceMetrics
from skilldelta.serve.wire_formats import ProblemBody

MEDIA_TYPE = "application/problem+json"
# Faults of one request that are named.
_MOST_ERRORS = 10

_log = logging.getLogger("skilldelta.serve")

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
    status: {"description": words, "content": {MEDIA_TYPE: {"schema": ProblemBody.model_json_schema()}}}
    for status, words in _SAID.items()
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
    """A JSON document in which NaN and infinity are null."""
    try:
        text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        body = text.encode("utf-8")
    except (ValueError, TypeError):  # rare: not a number, an array, or half a surrogate pair
        body = json.dumps(jsonable(document), allow_nan=False).encode()
    return Response(body, status_code=status, media_type="application/json")


class Problem(Exception):  # noqa: N818 - the word of the standard
    """An answer that is a problem: its status and one line for the caller."""

    def __init__(self, status: int, detail: str, *, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers


def problem_response(
    status: int, detail: str, *, headers: Mapping[str, str] | None = None, errors: list[dict[str, Any]] | None = None
) -> JSONResponse:
    """The response to something that went wrong."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    if errors:
        body["errors"] = errors
    return JSONResponse(body, status_code=status, media_type=MEDIA_TYPE, headers=dict(headers or {}))


def problem_of(error: Exception) -> Problem:
    """What an exception means to the caller; what went wrong in the server itself goes to its log."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, HTTPException):
        return Problem(error.status_code, str(error.detail), headers=error.headers)
    for kind, status in ((NotRecordedError, 404), (ConflictError, 409), (MissingExtraError, 501)):
        if isinstance(error, kind):
            return Problem(status, str(error))
    retry = {"Retry-After": "1"}
    if isinstance(error, BankError):
        _log.error("bank: %s", redacted(str(error)))
        return Problem(503, "the bank cannot be used at the moment; the server's log says why", headers=retry)
    if isinstance(error, EncoderError | NoAnswerError):
        _log.error("encoder: %s", redacted(str(error)))
        return Problem(503, "the encoder does not answer; the server's log says why", headers=retry)
    if isinstance(error, NotLearnedYetError):
        return Problem(503, str(error), headers=retry)
    if isinstance(error, SkillDeltaError):
        return Problem(422, redacted(str(error)))
    _log.error("failed: %s", type(error).__name__, exc_info=error)
    return Problem(500, "the server failed; its log says why")


def answer_with_problems(app: FastAPI) -> None:
    """Make every error of the app a problem."""

    async def respond(request: Request, error: Exception) -> JSONResponse:
        problem = problem_of(error)
        return problem_response(problem.status, problem.detail, headers=problem.headers)

    for kind in (Problem, HTTPException, SkillDeltaError):
        app.add_exception_handler(kind, respond)
    app.add_exception_handler(RequestValidationError, _invalid)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    """Where the body is wrong, without the values themselves, which may be a private text."""
    assert isinstance(error, RequestValidationError)
    errors = [
        {
            "at": ".".join(str(part) for part in problem["loc"])[:200],
            "reason": problem["msg"][:300].encode("utf-8", "replace").decode(),
        }
        for problem in error.errors()[:_MOST_ERRORS]
    ]
    is_json = all(problem["type"] != "json_invalid" for problem in error.errors())
    detail = "; ".join(f"{problem['at']}: {problem['reason']}" for problem in errors)
    return problem_response(422 if is_json else 400, detail, errors=errors)


def is_waiting(request: Request) -> bool:
    """Whether the client is still there. A hook whose time is up has gone, and its agent has not used the answer."""
    return not from_thread.run(request.is_disconnected)
