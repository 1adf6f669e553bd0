"""The outermost layer of the HTTP API: admission, the bound on bodies, security headers, the access log, the numbers.

What is logged of a request is its method, its path without the query, the status and the time it took.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from h11 import LocalProtocolError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skilldelta.redaction import redacted
from skilldelta.serve.admission import Admission, RequestHead
from skilldelta.serve.http_answers import problem_of, problem_response

_log = logging.getLogger("skilldelta.serve.access")

# Told of every answer: the method, the route's pattern, the status, the seconds.
Observer = Callable[[str, str, int, float], None]

_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
)


class HttpGuard:
    """Wraps an application; nothing reaches it that was not admitted."""

    def __init__(self, app: ASGIApp, admission: Admission, observe: Observer) -> None:
        self._app = app
        self._admission = admission
        self._observe = observe

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            with suppress(ClientDisconnect):
                await self._answer(scope, receive, send)
        else:  # websockets: there are none
            await send({"type": "websocket.close", "code": 1008})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        began, status = time.perf_counter(), 0

        async def send_noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = list(message.get("headers", ()))
                names = {name.lower() for name, _ in headers}
                message["headers"] = headers + [header for header in _HEADERS if header[0] not in names]
            try:
                await send(message)
            except (
                LocalProtocolError
            ):  # the rest of the request was torn, and the server below has closed the connection
                raise ClientDisconnect from None

        try:
            admitted = self._admission.admit(_head(scope))
            scope["may_write"] = admitted.may_write
            await self._app(scope, _bounded(receive, admitted.most_bytes), send_noting)
        except ClientDisconnect:  # gone, or too slow: there is nobody to answer
            status = status or 499
        except Exception as error:
            problem = problem_of(error)
            if not status:  # else the answer has begun, and can only end here
                response = problem_response(problem.status, problem.detail, headers=problem.headers)
                await response(scope, receive, send_noting)
        finally:
            seconds = time.perf_counter() - began
            self._observe(scope["method"], _route(scope), status, seconds)
            if _log.isEnabledFor(logging.INFO):
                _log.info(
                    "%s %s %d %.1f ms", scope["method"], redacted(scope["path"][:2_000])[:200], status, 1_000 * seconds
                )


def _head(scope: Scope) -> RequestHead:
    headers: dict[str, str] = {}
    for raw, value in scope["headers"]:  # a header that comes twice is neither of its values
        name = raw.decode("latin-1").lower()
        headers[name] = f"{headers[name]}, {value.decode('latin-1')}" if name in headers else value.decode("latin-1")
    client = scope.get("client")
    return RequestHead(scope["method"], scope["path"], client[0] if client else "", headers)


def _bounded(receive: Receive, most: int) -> Receive:
    """A body that grows beyond its bound ends the request, whatever length it declared."""
    received = 0

    async def receive_bounded() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most:
            raise HTTPException(413, f"the body may have {most:,} bytes at most")
        return message

    return receive_bounded


def _route(scope: Scope) -> str:
    """The pattern of the route, so that there is one number per route, whatever paths are requested."""
    route: Any = scope.get("route")
    return getattr(route, "path", "") or "(none)"
