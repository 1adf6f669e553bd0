"""`/v1/bank`, `/v1/skills` and `/v1/import`: what the gate knows, and how it learns more."""

from __future__ import annotations

import json
from pathlib import Path as FilePath
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import Response

from skilldelta.bank.importers import Defaults, Source, parse_arms, parse_mapping, read_any
from skilldelta.errors import InputError
from skilldelta.json_text import decode_json
from skilldelta.records import Skill
from skilldelta.serve.http_answers import PROBLEMS, Problem, gate_of, json_response
from skilldelta.studies.importing import import_readings

router = APIRouter(prefix="/v1", tags=["bank"], responses=PROBLEMS)

_Said = Annotated[str | None, Query(max_length=1_000, description="For what the file does not say")]
_UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/octet-stream": {"schema": {"type": "string", "format": "binary"}},
            "application/json": {"schema": {"type": "array", "items": {"type": "object"}}},
        },
    }
}


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
        skill_record = gate_of(request).skill(skill)
    except InputError as error:
        raise Problem(404, str(error)) from None
    return json_response(_described(skill_record, text=True))


@router.post("/import", summary="Add executions from a file", openapi_extra=_UPLOAD)
async def import_file(
    request: Request,
    name: Annotated[str, Query(max_length=200, description="The file's name; its ending says what it is")] = "upload",
    format: Annotated[str, Query(max_length=50)] = "auto",
    agent: _Said = None,
    skill: _Said = None,
    suite: _Said = None,
    condition: Literal["use", "skip"] | None = None,
    repetitions: Annotated[int | None, Query(ge=1, le=1_000)] = None,
    map: Annotated[list[str] | None, Query(max_length=50, description="FIELD=COLUMN")] = None,
    arm: Annotated[list[str] | None, Query(max_length=50, description="NAME=use, NAME=skip or NAME=leave-out")] = None,
    score: _Said = None,
    preview: Annotated[bool, Query(description="Say what would be imported, and add nothing")] = False,
) -> Response:
    """The file as the body (also an archive, or a log of another tool), or rows as JSON; added whole or not at all.

    What is there already is not added twice. The answer is the document of `skilldelta import --json`.
    """
    body = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()

    def imported() -> dict[str, Any]:
        source = _json_rows(body) if kind == "application/json" else Source(FilePath(_base(name)), body)
        defaults = Defaults(
            agent or "",
            skill or "",
            suite or "",
            condition,
            repetitions,
            parse_mapping(map or ()),
            parse_arms(arm or ()),
            score=score or "",
        )
        if preview:
            from skilldelta.serve.import_preview import import_preview

            return import_preview(source, defaults, body, format=format)
        reading = read_any(source, defaults, format=format)
        return gate_of(request).read(lambda bank: import_readings(bank, [reading])).document(None)

    return json_response(await run_in_threadpool(imported))


def _json_rows(body: bytes) -> Source:
    """Rows of pairs.jsonl or runs.jsonl as a JSON list, alone or under `rows`."""
    try:
        document = decode_json(body)
    except ValueError:
        raise Problem(400, "the body is not JSON") from None
    rows = document.get("rows") if isinstance(document, dict) and set(document) == {"rows"} else document
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError('the body must be a list of rows, or {"rows": […]}')
    return Source(FilePath("rows.jsonl"), "".join(json.dumps(row) + "\n" for row in rows).encode())


def _base(name: str) -> str:
    """A file's name without any folder, whatever system it comes from."""
    base = PureWindowsPath(PurePosixPath(name).name).name
    return "".join(character for character in base if character.isprintable()).strip(". ") or "upload"


def _described(skill: Skill, *, text: bool) -> dict[str, Any]:
    described = {"skill": skill.skill_id, "digest": skill.digest or None, "characters": len(skill.text)}
    return {**described, "text": skill.text or None} if text else described
