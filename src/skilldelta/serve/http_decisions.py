"""`/v1/decide`, `/v1/choose`, `/v1/decisions`, `/v1/outcomes`: the gate over HTTP."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from skilldelta.bank.entries import DecisionFilter
from skilldelta.serve.bounded_body import BoundedRoute
from skilldelta.serve.http_answers import PROBLEMS, check_may_write, gate_of, is_waiting, json_response
from skilldelta.serve.metered_gate import MeteredGate
from skilldelta.serve.wire_formats import BatchBody, ChooseBody, DecideBody, OutcomeBody

router = APIRouter(prefix="/v1", tags=["decisions"], responses=PROBLEMS, route_class=BoundedRoute)

_DecisionId = Annotated[int, Path(ge=1, le=2**62)]
_Filter = Annotated[str | None, Query(max_length=1_000)]
_SAME_AGAIN: dict[int | str, dict[str, Any]] = {200: {"description": "The outcome was recorded before"}}


@router.post("/decide", summary="Use the skill for this task, skip it, or abstain")
def decide(request: Request, body: DecideBody) -> Response:
    """The document of `skilldelta predict --json`, with `decision_id` where the decision was recorded."""
    gate = _metered_gate(request, writes=body.record)
    return json_response(gate.decide(body, _parent(request), lambda: is_waiting(request)))


@router.post("/decide/batch", summary="Answer several questions, all or none")
def decide_batch(request: Request, body: BatchBody) -> Response:
    """One decision per question, in order."""
    gate = _metered_gate(request, writes=any(question.record for question in body.questions))
    return json_response(gate.decide_batch(body, _parent(request)))


@router.post("/choose", summary="Choose among several skills")
def choose(request: Request, body: ChooseBody) -> Response:
    """The skill with the largest gain among those the gate would use, or null."""
    gate = _metered_gate(request, writes=body.record)
    return json_response(gate.choose(body, _parent(request), lambda: is_waiting(request)))


@router.get("/decisions", summary="The decision log, newest first")
def decisions(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    skill: _Filter = None,
    action: Literal["use", "skip", "abstain"] | None = None,
    agent: _Filter = None,
    source: _Filter = None,
    q: _Filter = None,
    since: Annotated[float | None, Query(allow_inf_nan=False, description="Seconds since 1970")] = None,
) -> Response:
    """A page of decisions; `next` is the `before` of the following page."""
    chosen = DecisionFilter(
        before=before, since=since, skill_id=skill, action=action, agent=agent, source=source, search=q
    )
    return json_response(gate_of(request).decisions(limit, chosen))


@router.get("/decisions/{decision_id}", summary="A past decision, explained")
def decision(request: Request, decision_id: _DecisionId) -> Response:
    """The decision with the evidence it rested on, and its outcomes."""
    return json_response(gate_of(request).explain(decision_id))


@router.post("/outcomes", summary="Record what happened after a decision", status_code=201, responses=_SAME_AGAIN)
def outcomes(request: Request, body: OutcomeBody) -> Response:
    """201 when the outcome is new and durable; 200 when it was there already."""
    logged = _metered_gate(request).record(body, _parent(request))
    answer: dict[str, Any] = {"outcome_id": logged.id, "decision_id": body.decision_id, "new": logged.is_new}
    return json_response(answer, status=201 if logged.is_new else 200)


def _metered_gate(request: Request, *, writes: bool = False) -> MeteredGate:
    if writes:
        check_may_write(request)
    gate: MeteredGate = request.app.state.metered_gate
    return gate


def _parent(request: Request) -> str:
    return request.headers.get("traceparent", "")
