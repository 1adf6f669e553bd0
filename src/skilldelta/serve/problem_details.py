"""Errors as RFC 9457 problem details. What is the caller's is said in words; what is ours is said in the server's log.

No path, no secret and no text of a task goes into a problem: a message of the bank may name files, one of an encoder an
address, so that these two reach the log only.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from skilldelta.encoders import EncoderError
from skilldelta.endpoint import NoAnswerError
from skilldelta.errors import BankError, ConflictError, InputError, MissingExtraError, NotRecordedError, SkillDeltaError
from skilldelta.redaction import redacted

MEDIA_TYPE = "application/problem+json"
_MOST_ERRORS = 10

_log = logging.getLogger("skilldelta.serve")


class Problem(Exception):  # noqa: N818 - the word of the standard
    """An answer that is a problem: its status and one line for whoever asked."""

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
    """What an exception means to whoever asked."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, HTTPException):
        return Problem(error.status_code, str(error.detail), headers=error.headers)
    if isinstance(error, NotRecordedError):
        return Problem(404, str(error))
    if isinstance(error, ConflictError):
        return Problem(409, str(error))
    if isinstance(error, InputError):
        return Problem(422, redacted(str(error)))
    if isinstance(error, MissingExtraError):
        return Problem(501, str(error))
    return _ours(error)


def _ours(error: Exception) -> Problem:
    """What went wrong here, in the log; and hardly anything of it for whoever asked."""
    retry = {"Retry-After": "1"}
    if isinstance(error, BankError):
        _log.error("bank: %s", redacted(str(error)))
        return Problem(503, "the bank cannot be used at the moment; the server's log says why", headers=retry)
    if isinstance(error, EncoderError | NoAnswerError):
        _log.error("encoder: %s", redacted(str(error)))
        return Problem(503, "the encoder does not answer; the server's log says why", headers=retry)
    if isinstance(error, SkillDeltaError):
        return Problem(422, redacted(str(error)))
    _log.error("failed: %s", type(error).__name__, exc_info=error)
    return Problem(500, "the server failed; its log says why")


def answer_with_problems(app: FastAPI) -> None:
    """Make every error of the app a problem."""

    async def respond(request: Request, error: Exception) -> JSONResponse:
        problem = problem_of(error)
        return problem_response(problem.status, problem.detail, headers=problem.headers)

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        return _invalid(error)

    for kind in (Problem, HTTPException, SkillDeltaError):
        app.add_exception_handler(kind, respond)
    app.add_exception_handler(RequestValidationError, invalid)


def _invalid(error: RequestValidationError) -> JSONResponse:
    """Where the body is wrong, without the values themselves, which may be a private text."""
    found = [
        {"at": ".".join(str(part) for part in one["loc"])[:200], "reason": _printable(one["msg"])}
        for one in error.errors()[:_MOST_ERRORS]
    ]
    is_json = all(one["type"] != "json_invalid" for one in error.errors())
    detail = "; ".join(f"{one['at']}: {one['reason']}" for one in found)
    return problem_response(422 if is_json else 400, detail, errors=found)


def _printable(text: str) -> str:
    return text[:300].encode("utf-8", "replace").decode()
