"""`/v1/jobs`: evaluations, sweeps, calibrations and reports that take longer than a request should.

A job takes the options of the command of its kind, by the same names. What is left out is as the server itself decides.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Request
from fastapi.responses import FileResponse, Response, StreamingResponse
from pydantic import Field

from skilldelta.errors import InputError
from skilldelta.gate import Gate
from skilldelta.serve.bounded_body import BoundedRoute
from skilldelta.serve.http_answers import PROBLEMS, gate_of, json_response
from skilldelta.serve.study_jobs import FINISHED, StudyJob, StudyJobs
from skilldelta.serve.wire_formats import Finite, Name, WireModel
from skilldelta.support import Scope

router = APIRouter(prefix="/v1/jobs", tags=["jobs"], responses=PROBLEMS, route_class=BoundedRoute)

_JobId = Annotated[str, Path(pattern="^[0-9a-f]{32}$")]
# Seconds between two looks at a job, for every fifty streams that are open.
_LOOK_EVERY, _STREAMS_AT_THAT_PACE = 0.1, 50
# Seconds of silence after which a comment shows that the stream is alive.
_SIGN_OF_LIFE = 10.0

# A report is a page of its own: its scripts run in an origin that cannot ask this server anything.
_SANDBOXED = {"Content-Security-Policy": "sandbox allow-scripts allow-popups allow-downloads"}


_Draws = Annotated[int, Field(ge=0, le=100_000)]
_Estimator = Annotated[str, Field(min_length=1, max_length=100)]


class PanelOptions(WireModel):
    """Which panels, and by which gate: what is left out is as the server itself decides."""

    agent: Name | None = None
    suite: Name | None = None
    k: Annotated[int, Field(ge=1, le=1_000)] | None = None
    weighting: Literal["cosine", "uniform"] | None = None
    scope: Scope | None = None
    threshold: Finite | None = None
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0


class EvaluateOptions(PanelOptions):
    """Those of `evaluate`."""

    resamples: _Draws = 10_000
    margin: Annotated[float, Field(ge=0, le=1)] = 0.02
    shuffles: Annotated[int, Field(ge=0, le=10_000)] = 199
    holdout: Literal["task", "family"] = "task"
    refit_intervals: bool = False
    exclude: Annotated[tuple[Name, ...], Field(max_length=1_000, strict=False)] = ()


class SweepOptions(PanelOptions):
    """Those of `sweep threshold` and `sweep evidence`."""

    over: Literal["threshold", "evidence"] = "threshold"
    estimator: _Estimator | None = None
    at_least: Annotated[int, Field(ge=1, le=1_000_000)] = 1


class CalibrateOptions(PanelOptions):
    """Those of `calibrate`; exactly one goal."""

    estimator: _Estimator | None = None
    resamples: _Draws = 10_000
    use_rate: Finite | None = None
    token_budget: Finite | None = None
    margin: Finite | None = None
    best_value: bool = False
    success_worth: Finite | None = None
    price: Finite | None = None


class ReportOptions(EvaluateOptions):
    """Those of `report`."""

    gate: _Estimator | None = None


class EvaluateJob(WireModel):
    """What the gate would have bought."""

    kind: Literal["evaluate"]
    options: EvaluateOptions = EvaluateOptions()


class SweepJob(WireModel):
    """Success and tokens over thresholds, or error over the amount of evidence."""

    kind: Literal["sweep"]
    options: SweepOptions = SweepOptions()


class CalibrateJob(WireModel):
    """A threshold for a goal."""

    kind: Literal["calibrate"]
    options: CalibrateOptions


class ReportJob(WireModel):
    """One HTML file with all figures and tables."""

    kind: Literal["report"]
    options: ReportOptions = ReportOptions()


JobBody = Annotated[EvaluateJob | SweepJob | CalibrateJob | ReportJob, Field(discriminator="kind")]


@router.post("", status_code=202, summary="Start a job")
def start(request: Request, body: Annotated[JobBody, Body()]) -> Response:
    """The job waits for its turn; its id is for the other routes."""
    if isinstance(body, CalibrateJob):
        _check_goal(body.options)
    job = _jobs(request).start(body.kind, as_it_runs(body.options, gate_of(request).settings.gate))
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
    job = _jobs(request).get(job_id)
    return StreamingResponse(_stream(request, job), media_type="text/event-stream")


def as_it_runs(options: PanelOptions, gate: Gate) -> dict[str, Any]:
    """The options, with the settings of the gate that runs in place of what was left out."""
    running = {"k": gate.k, "weighting": gate.weighting, "threshold": gate.threshold, "estimator": gate.estimator}
    if isinstance(options, ReportOptions):
        running["gate"] = gate.estimator
    filled = {name: running.get(name) if value is None else value for name, value in options.model_dump().items()}
    return {**filled, "running_gate": asdict(gate)}


def _check_goal(options: CalibrateOptions) -> None:
    """Refuse a calibration without a goal, or with several, before it waits for its turn."""
    goals = [name for name in ("use_rate", "token_budget", "margin") if getattr(options, name) is not None]
    goals += ["best_value"] if options.best_value else []
    if len(goals) != 1:
        complaint = f"got {' and '.join(goals)}" if goals else "none was given"
        raise InputError(f"choose exactly one goal of use_rate, token_budget, margin and best_value; {complaint}")
    if (options.success_worth is None) != (options.price is None):
        raise InputError("success_worth and price weigh tokens only together; give both or none")
    if options.price is not None and not options.best_value:
        raise InputError(f"price belongs to best_value, not to {goals[0]}; leave it out")


async def _stream(request: Request, job: StudyJob) -> AsyncIterator[str]:
    last_version, silent = -1, 0.0
    jobs = _jobs(request)
    jobs.streams += 1
    try:
        while True:
            version, ended = job.version, job.status in FINISHED
            if version != last_version:
                last_version, silent = version, 0.0
                document = json.dumps(job.to_dict(with_result=False))
                yield f"event: {'end' if ended else 'progress'}\ndata: {document}\n\n"
            if ended or await request.is_disconnected():
                return
            pause = _LOOK_EVERY * (1 + jobs.streams // _STREAMS_AT_THAT_PACE)
            await asyncio.sleep(pause)
            silent += pause
            if silent >= _SIGN_OF_LIFE:
                silent = 0.0
                yield ": alive\n\n"
    finally:
        jobs.streams -= 1


def _jobs(request: Request) -> StudyJobs:
    jobs: StudyJobs = request.app.state.jobs
    return jobs
