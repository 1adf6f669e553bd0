"""The HTTP API: the gate's routes under `/v1`, health, readiness, and errors as problem details.

`gate_app` makes the application for one gate. Nothing is read from the environment and nothing is sent anywhere.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import Response

from skilldelta.redaction import redacted
from skilldelta.serve import (
    dashboard_files,
    http_bank,
    http_dashboard,
    http_decisions,
    http_hooks,
    http_jobs,
    http_library,
)
from skilldelta.serve.admission import Admission, AdmissionRules
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.http_answers import answer_with_problems, gate_of, json_response, metrics_of
from skilldelta.serve.http_guard import HttpGuard
from skilldelta.serve.http_library import LibraryReader
from skilldelta.serve.metered_gate import MeteredGate
from skilldelta.serve.service_metrics import ServiceMetrics
from skilldelta.serve.study_jobs import StudyJobs
from skilldelta.server_proof import PROOF_PATH, proof
from skilldelta.version import __version__

if TYPE_CHECKING:
    from skilldelta.serve.telemetry import Telemetry

# How often expired decisions are removed.
RETENTION_SECONDS = 3_600.0

_log = logging.getLogger("skilldelta.serve")
router = APIRouter(tags=["server"])


def gate_app(
    gate: GateService,
    rules: AdmissionRules | None = None,
    *,
    encoder: Mapping[str, Any] | None = None,
    telemetry: Telemetry | None = None,
    server_key: str = "",
    hook_state: Path | None = None,
    libraries: LibraryReader | None = None,
) -> FastAPI:
    """The application; the gate is warmed up, and closed, with it.

    Without rules it answers to loopback names only and asks for no token. `encoder` are the arguments of `bank_encoder`
    with which jobs make theirs. Without `telemetry` nothing is sent anywhere. With `server_key` the server proves to
    hooks that it belongs to their user. `hook_state` is where hooks that
    come over HTTP keep what was decided in a conversation; None keeps nothing. `libraries` reads the skills that the harnesses
    on this machine have, for the dashboard.
    """
    jobs, upkeep, metrics = StudyJobs(gate.opened_at, encoder or {}), Upkeep(gate), ServiceMetrics()
    metered_gate = MeteredGate(gate, metrics, telemetry)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        upkeep.start()
        try:
            yield
        finally:
            jobs.close()
            upkeep.stop()
            gate.close()
            if telemetry is not None:
                telemetry.close()

    def observe(method: str, route: str, status: int, seconds: float) -> None:
        metrics.request(method, route, status, seconds)
        if telemetry is not None:
            telemetry.request(method, route, status, seconds)

    app = FastAPI(
        title="SkillDelta",
        version=__version__,
        summary="Will this skill make the agent more likely to succeed at this task?",
        openapi_url="/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.gate, app.state.jobs, app.state.upkeep, app.state.metrics = gate, jobs, upkeep, metrics
    app.state.libraries = libraries
    app.state.metered_gate, app.state.server_key, app.state.hook_state = metered_gate, server_key, hook_state
    answer_with_problems(app)
    pages = (http_dashboard.router, http_library.router, dashboard_files.router)
    for routes in (router, http_decisions.router, http_hooks.router, http_bank.router, http_jobs.router, *pages):
        app.include_router(routes)
    app.add_middleware(HttpGuard, admission=Admission(rules or AdmissionRules()), observe=observe)
    return app


class Upkeep:
    """What goes on beside the requests: the warm-up, then the removal of expired decisions."""

    def __init__(self, gate: GateService) -> None:
        self._gate = gate
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="skilldelta-upkeep", daemon=True)
        self.reason = "warming up"

    @property
    def is_ready(self) -> bool:
        """Whether the first question would be answered at once."""
        return not self.reason

    def start(self) -> None:
        """Start, in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Stop, after waiting for what is under way."""
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._gate.warm_up()
        except Exception as error:
            _log.error("warm-up failed: %s", redacted(str(error)))
        self.reason = ""
        while not self._end.is_set():
            try:
                self._gate.forget_expired()
            except Exception as error:
                _log.error("expired decisions were not removed: %s", redacted(str(error)))
            self._end.wait(RETENTION_SECONDS)


@router.get("/v1/health", summary="Whether the server runs")
async def health(request: Request) -> Response:
    """200 as long as requests are answered; it takes no worker thread, so that it is answered under any load."""
    service = gate_of(request)
    state = {"status": "ok", "version": __version__, "not_logged": service.not_logged}
    return json_response({**state, "gate": asdict(service.settings.gate)})


@router.get(PROOF_PATH, summary="Proof that the server is the user's own")
async def proof_of_owner(
    request: Request,
    challenge: Annotated[str, Query(pattern="^[0-9a-f]{32,128}$", description="Random, in hexadecimal")],
) -> Response:
    """A keyed digest of the challenge and of the address that was asked; the key is in the user's state folder."""
    key: str = request.app.state.server_key
    host, port = request.scope["server"]
    address = f"{host}:{port}"
    return json_response({"address": address, "proof": proof(key, address, challenge) if key else ""})


@router.get("/v1/ready", summary="Whether the server is warm", responses={503: {"description": "Not yet"}})
async def ready(request: Request) -> Response:
    """503 while bank, encoder and estimator are being loaded."""
    upkeep: Upkeep = request.app.state.upkeep
    reason = upkeep.reason or None
    return json_response({"ready": upkeep.is_ready, "reason": reason}, status=200 if upkeep.is_ready else 503)


@router.get("/metrics", summary="Numbers for Prometheus", response_class=Response)
def metrics(request: Request) -> Response:
    """Requests, decisions and outcomes since the server started."""
    upkeep: Upkeep = request.app.state.upkeep
    metrics = metrics_of(request)
    numbers = metrics.exposition(ready=upkeep.is_ready, not_logged=gate_of(request).not_logged)
    return Response(numbers, media_type=metrics.content_type)
