"""`/v1/bank` and `/v1/skills`: what the gate knows."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import Response

from skilldelta.errors import InputError
from skilldelta.serve.http_answers import PROBLEMS, gate_of, json_response
from skilldelta.serve.problem_details import Problem

router = APIRouter(prefix="/v1", tags=["bank"], responses=PROBLEMS)


@router.get("/bank", summary="What is in the bank")
def bank(request: Request) -> Response:
    """The document of `skilldelta bank status --json`, without the place of the bank's file."""
    return json_response({**gate_of(request).status(), "location": None})


@router.get("/skills", summary="The skills that can be asked about")
def skills(request: Request) -> Response:
    """Names in order of arrival, each with its current version."""
    gate = gate_of(request)
    return json_response({"skills": [_described(gate.skill(name), text=False) for name in gate.skill_names()]})


@router.get("/skills/{skill:path}", summary="One skill, with its text")
def skill(request: Request, skill: str) -> Response:
    """The current version of a skill; its text is null where the bank does not have it."""
    try:
        found = gate_of(request).skill(skill)
    except InputError as error:
        raise Problem(404, str(error)) from None
    return json_response(_described(found, text=True))


def _described(skill: Any, *, text: bool) -> dict[str, Any]:
    described = {"skill": skill.skill_id, "digest": skill.digest or None, "characters": len(skill.text)}
    return {**described, "text": skill.text or None} if text else described
