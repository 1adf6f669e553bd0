"""`/v1/jobs`: evaluations, sweeps, calibrations and reports that take longer than a request should."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Body, Path, Request
from fastapi.responses import FileResponse, Response, StreamingResponse

from skilldelta.serve.http_answers import PROBLEMS, json_response
from skilldelta.serve.job_options import CalibrateJob, JobBody, check_goal
from skilldelta.serve.study_jobs import FINISHED, StudyJob, StudyJobs

router = APIRouter(prefix="/v1/jobs", tags=["jobs"], responses=PROBLEMS)

_JobId = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]
_LOOK_EVERY = 0.1
_SIGN_OF_LIFE = 10.0
"""Seconds of silence after which a comment shows that the stream is alive."""

_SANDBOXED = {"Content-Security-Policy": "sandbox allow-scripts allow-popups allow-downloads"}
"""A report is a page of its own: its scripts run in an origin that cannot ask this server anything."""


@router.post("", status_code=202, summary="Start a job")
def start(request: Request, body: Annotated[JobBody, Body()]) -> Response:
    """The job waits for its turn; its id is for the other routes."""
    if isinstance(body, CalibrateJob):
        check_goal(body.options)
    job = _jobs(request).start(body.kind, body.options.model_dump())
    return json_response({"job_id": job.job_id, "status": job.status}, status=202)


@router.get("", summary="The jobs, newest first")
def listed(request: Request) -> Response:
    """Without their results."""
    return json_response({"jobs": [job.to_dict(with_result=False) for job in _jobs(request).all()]})


@router.get("/{job_id}", summary="A job and its result")
def job(request: Request, job_id: _JobId) -> Response:
    """`result` is what the command of the same name prints with `--json`."""
    return json_response(_jobs(request).get(job_id).to_dict())


@router.delete("/{job_id}", summary="Cancel a job")
def cancel(request: Request, job_id: _JobId) -> Response:
    """One that has ended stays as it is."""
    return json_response(_jobs(request).cancel(job_id).to_dict(with_result=False))


@router.get("/{job_id}/report", summary="The page that a report job wrote", response_class=FileResponse)
def report(request: Request, job_id: _JobId) -> Response:
    """One HTML file that loads nothing from anywhere."""
    return FileResponse(_jobs(request).report(job_id), media_type="text/html", headers=_SANDBOXED)


@router.get("/{job_id}/events", summary="A job's progress as server-sent events", response_class=StreamingResponse)
async def events(request: Request, job_id: _JobId) -> Response:
    """An event `progress` for every change, then one `end`; the result is at the job itself."""
    found = _jobs(request).get(job_id)
    return StreamingResponse(_stream(request, found), media_type="text/event-stream")


async def _stream(request: Request, job: StudyJob) -> AsyncIterator[str]:
    seen, silent = -1, 0.0
    while True:
        version, ended = job.version, job.status in FINISHED
        if version != seen:
            seen, silent = version, 0.0
            document = json.dumps(job.to_dict(with_result=False))
            yield f"event: {'end' if ended else 'progress'}\ndata: {document}\n\n"
        if ended or await request.is_disconnected():
            return
        await asyncio.sleep(_LOOK_EVERY)
        silent += _LOOK_EVERY
        if silent >= _SIGN_OF_LIFE:
            silent = 0.0
            yield ": alive\n\n"


def _jobs(request: Request) -> StudyJobs:
    jobs: StudyJobs = request.app.state.jobs
    return jobs
