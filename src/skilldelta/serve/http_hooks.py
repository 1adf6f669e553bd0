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
from skilldelta.serve.hooks.bank_answer import answer_from
from skilldelta.serve.hooks.hook_run import HookSettings, answer
from skilldelta.serve.http_answers import PROBLEMS, check_may_write, gate_of, json_response

router = APIRouter(prefix="/v1", tags=["hooks"], responses=PROBLEMS)


@router.post("/hooks/{harness}", summary="Answer an event of a harness's own HTTP hook")
def hook(
    request: Request,
    harness: Annotated[str, Path(max_length=100)],
    event: Annotated[dict[str, Any], Body()],
    skill: Annotated[list[Annotated[str, Query(min_length=1, max_length=1_000)]], Query(min_length=1, max_length=200)],
) -> Response:
    """The answer in the harness's dialect; an empty object leaves the agent as it was."""
    check_may_write(request)
    dialect = harness_named(harness).dialect
    if dialect is None:
        raise InputError(f"{harness} runs an adapter, not hooks")
    gate = gate_of(request)
    settings = HookSettings(
        harness,
        dialect,
        tuple(OfferedSkill(name) for name in dict.fromkeys(skill)),
        ask="bank",
        fallback=gate.settings.fallback or "skip",
        state=request.app.state.hook_state,
    )
    result = answer(settings, json.dumps(event).encode(), ask_bank=lambda path, body: answer_from(gate, path, body))
    return json_response(json.loads(result.output) if result.output else {})
