"""`/v1/dashboard/library`: the skills that the harnesses on this machine have, as `skilldelta library` shows them.

A server that other machines can reach shows none: what lies in the folders of its user is nobody else's business.
"""

from __future__ import annotations

import threading
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from skilldelta.serve.bounded_body import BoundedRoute
from skilldelta.serve.http_answers import PROBLEMS, json_response

router = APIRouter(prefix="/v1/dashboard", tags=["dashboard"], responses=PROBLEMS, route_class=BoundedRoute)

_reading = threading.Lock()


@router.get("/library", summary="The skills of the harnesses on this machine, with proposals")
def library(request: Request) -> Response:
    """One document per harness; one reader at a time, because folders and sessions are read anew."""
    read = request.app.state.libraries
    with _reading:
        libraries: list[dict[str, Any]] = [] if read is None else read()
    return json_response({"is_shown": read is not None, "libraries": libraries})
