"""`/v1/hooks/{harness}`: hooks that a harness sends over HTTP by itself, so that no process is started at all.

The harness cannot check who answers, which is what is given up. Skills are named, and their texts come from the bank: a
path in a request would let anybody on this machine read files of the server's user.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query, Request
from fastapi.responses import Response

from skilldelta.errors import InputError
from skilldelta.harnesses import harness_named
from skilldelta.harnesses.offered_skill import OfferedSkill
from skilldelta.serve.bounded_body import BoundedRoute
from skilldelta.serve.hooks.adapter_event import ADAPTER, answer_adapter
from skilldelta.serve.hooks.bank_answer import answer_from
from skilldelta.serve.hooks.hook_run import HookSettings, answer
from skilldelta.serve.http_answers import PROBLEMS, check_may_write, gate_of, is_waiting, json_response

router = APIRouter(prefix="/v1", tags=["hooks"], responses=PROBLEMS, route_class=BoundedRoute)


@router.post("/hooks/{harness}", summary="Answer an event of a harness's own HTTP hook")
def hook(
    request: Request,
    harness: Annotated[str, Path(max_length=100)],
    event: Annotated[dict[str, Any], Body()],
    skill: Annotated[list[Annotated[str, Query(min_length=1, max_length=1_000)]], Query(max_length=500)] = [],  # noqa: B006
) -> Response:
    """The answer in the harness's dialect, or in that of the adapters, which name their skills in the event.

    An empty object leaves the agent as it was.
    """
    check_may_write(request)
    dialect = harness_named(harness).dialect
    if dialect is not None and not skill:
        raise InputError("no skill on offer; name one with ?skill=NAME")
    gate = gate_of(request)
    settings = HookSettings(
        harness,
        dialect or ADAPTER,
        tuple(OfferedSkill(name) for name in dict.fromkeys(skill)),
        ask="bank",
        fallback=gate.settings.fallback or "skip",
        state=request.app.state.hook_state,
    )
    content = json.dumps(event).encode()

    def ask_bank(path: str, document: dict[str, Any]) -> dict[str, Any]:
        return answer_from(gate, path, document, still_wanted=lambda: is_waiting(request))

    if dialect is None:
        return json_response(answer_adapter(settings, content, ask_bank=ask_bank).document)
    result = answer(settings, content, ask_bank=ask_bank)
    return json_response(json.loads(result.output) if result.output else {})
