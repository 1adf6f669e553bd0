"""JSON bodies with bounds that hold before anything is validated, read outside of the loop that answers everybody.

Every unknown field is an error of its own to a validator: a body of four megabytes has room for 300,000 of them.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

# A batch of 1,000 questions with all their fields has fewer keys.
MOST_KEYS, MOST_DEPTH = 20_000, 32
# A question has about twenty fields, and digests of at most 500 skills.
MOST_KEYS_OF_ONE = 500
# Larger bodies are parsed in a thread, one at a time: the parser holds the interpreter's lock, so that sixteen bodies at once
# would keep the loop that answers everybody waiting for all of them.
_SMALL = 16_384
_PARSER = ThreadPoolExecutor(1, thread_name_prefix="large-bodies")
# The end of a key. A key that ends in a backslash is not counted, so this finds too few and never too many.
_KEY = re.compile(rb'(?<!\\)"\s*:')


class BoundedRoute(APIRoute):
    """A route whose JSON body is bounded."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's own handler, given a request that parses its body here."""
        handler = super().get_route_handler()

        async def handle(request: Request) -> Response:
            return await handler(_BoundedRequest(request.scope, request.receive))

        return handle


class _BoundedRequest(Request):
    async def json(self) -> Any:
        body = await self.body()
        if len(body) <= _SMALL:
            return bounded_json(body)
        return await asyncio.get_running_loop().run_in_executor(_PARSER, bounded_json, body)


def bounded_json(body: bytes) -> Any:
    """A document with at most so many keys, and so many levels; HTTPException where it has more."""
    keys = 0

    def counted(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal keys
        keys += len(pairs)
        if keys > MOST_KEYS or len(pairs) > MOST_KEYS_OF_ONE:
            raise _too_wide()
        return dict(pairs)

    if next(islice(_KEY.finditer(body), MOST_KEYS, None), None):  # before time and memory are spent on them
        raise _too_wide()
    try:
        document = json.loads(body, object_pairs_hook=counted)
    except RecursionError:
        raise _too_deep() from None
    level = [document]
    for _ in range(MOST_DEPTH):
        level = [inner for value in level for inner in _containers(value)]
    if level:
        raise _too_deep()
    return document


def _containers(value: Any) -> list[Any]:
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [inner for inner in values if isinstance(inner, dict | list)]


def _too_wide() -> HTTPException:
    return HTTPException(413, f"a body may have {MOST_KEYS:,} keys at most, and {MOST_KEYS_OF_ONE} in one object")


def _too_deep() -> HTTPException:
    return HTTPException(413, f"a body may have {MOST_DEPTH} levels at most")
