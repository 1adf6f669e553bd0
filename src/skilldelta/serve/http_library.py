"""`/v1/dashboard/library`: the skills that the harnesses on this machine have, as `skilldelta library` shows them.

A server that other machines can reach shows none: what lies in the folders of its user is nobody else's business.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from skilldelta.evaluation.skill_verdicts import SkillVerdict
from skilldelta.serve.bounded_body import BoundedRoute
from skilldelta.serve.http_answers import PROBLEMS, json_response
from skilldelta.serve.http_dashboard import views_of

# From the verdicts on skills to one document per harness.
LibraryReader = Callable[[Iterable[SkillVerdict]], list[dict[str, Any]]]

router = APIRouter(prefix="/v1/dashboard", tags=["dashboard"], responses=PROBLEMS, route_class=BoundedRoute)

_reading = threading.Lock()


@router.get("/library", summary="The skills of the harnesses on this machine, with proposals")
def library(request: Request) -> Response:
    """One document per harness; one reader at a time, because folders and sessions are read anew."""
    read: LibraryReader | None = request.app.state.libraries
    if read is None:
        return json_response({"is_shown": False, "libraries": []})
    panel = views_of(request).panel(None, None)
    with _reading:
        return json_response({"is_shown": True, "libraries": read(panel.verdicts.values() if panel else ())})
