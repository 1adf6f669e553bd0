"""Long studies as jobs: the command line's documents, progress, cancellation."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from cli.conftest import Skilldelta, skilldelta  # noqa: F401
from skilldelta.files import jsonable
from skilldelta.gate import Gate
from skilldelta.serve.http_jobs import CalibrateOptions, EvaluateOptions, SweepOptions, as_it_runs
from skilldelta.serve.job_process import run_job
from skilldelta.serve.study_jobs import MOST_WAITING


def finished(client: TestClient, job_id: str, *, within: float = 120) -> dict[str, Any]:
    end = time.monotonic() + within
    while time.monotonic() < end:
        job: dict[str, Any] = client.get(f"/v1/jobs/{job_id}").json()
        if job["status"] in ("done", "failed", "cancelled"):
            return job
        time.sleep(0.05)
    raise AssertionError(job)


def started(client: TestClient, kind: str, **options: Any) -> str:
    answer = client.post("/v1/jobs", json={"kind": kind, "options": options})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["job_id"])


DEFAULTS: dict[str, Any] = {
    "evaluate": EvaluateOptions(resamples=0, shuffles=0),
    "sweep": SweepOptions(estimator="paper"),
    "calibrate": CalibrateOptions(use_rate=0.5, estimator="family_mean", resamples=0),
}
COMMANDS = {
    "evaluate": ("evaluate", "--resamples", 0, "--shuffles", 0),
    "sweep": ("sweep", "threshold", "--estimator", "paper"),
    "calibrate": ("calibrate", "--use-rate", 0.5, "--estimator", "family_mean", "--resamples", 0),
}


@pytest.mark.parametrize("kind", list(COMMANDS))
def test_jobs_give_the_documents_of_the_commands(
    bank_path: Path,
    skilldelta: Skilldelta,  # noqa: F811
    kind: str,
) -> None:
    said = {
        "kind": kind,
        "options": as_it_runs(DEFAULTS[kind], Gate()),
        "bank": str(bank_path),
        "encoder": {},
        "report_file": "",
    }
    steps: list[str] = []
    found = run_job(said, lambda step, done, total: steps.append(step))
    assert (
        json.loads(json.dumps(jsonable(found))) == skilldelta(*COMMANDS[kind], "--bank", bank_path, "--json").document
    )
    assert steps


def test_progress_comes_as_events_until_the_end(client: TestClient) -> None:
    job_id = started(client, "sweep", estimator="paper")
    with client.stream("GET", f"/v1/jobs/{job_id}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        lines = [line for line in stream.iter_lines() if line]
    names = [line.removeprefix("event: ") for line in lines if line.startswith("event")]
    told = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data")]
    assert (names[-1], told[-1]["status"]) == ("end", "done")
    assert "progress" in names
    assert all("result" not in one for one in told)
    assert [sweep["suite"] for sweep in finished(client, job_id)["result"]["sweeps"]] == ["default"]
    assert [job["kind"] for job in client.get("/v1/jobs").json()["jobs"]] == ["sweep"]


def test_a_job_is_cancelled_while_it_runs_and_while_it_waits(client: TestClient) -> None:
    running = started(client, "evaluate", resamples=100_000, shuffles=10_000, refit_intervals=True)
    waiting = started(client, "evaluate", resamples=0)
    for job_id in (waiting, running):
        assert client.delete(f"/v1/jobs/{job_id}").json()["status"] == "cancelled"
    assert finished(client, waiting, within=1)["result"] is None
    assert finished(client, running, within=1)["status"] == "cancelled"


def test_what_cannot_be_done_is_refused_at_once_or_said_by_the_job(client: TestClient) -> None:
    def refused(body: Any) -> str:
        answer = client.post("/v1/jobs", json=body)
        assert answer.status_code == 422
        return str(answer.json()["detail"])

    assert "kind" in refused({"kind": "format-disk"})
    assert "exactly one goal" in refused({"kind": "calibrate", "options": {}})
    assert "resamples" in refused({"kind": "evaluate", "options": {"resamples": 10**9}})
    assert "path" in refused({"kind": "report", "options": {"path": "/etc/passwd"}})
    failed = finished(client, started(client, "sweep", suite="none", estimator="paper"))
    assert (failed["status"], failed["error"]["status"]) == ("failed", 422)
    assert "unknown suite 'none'" in failed["error"]["detail"]
    assert client.get("/v1/jobs/" + "0" * 32).status_code == 404


def test_only_so_many_jobs_wait(client: TestClient) -> None:
    first = [started(client, "evaluate", refit_intervals=True)]
    for _ in range(200):
        if client.get(f"/v1/jobs/{first[0]}").json()["status"] == "running":
            break
        time.sleep(0.02)
    waiting = [started(client, "evaluate") for _ in range(MOST_WAITING)]
    assert client.post("/v1/jobs", json={"kind": "evaluate"}).status_code == 429
    for job_id in [*waiting, *first]:
        client.delete(f"/v1/jobs/{job_id}")


@pytest.mark.slow
def test_a_report_is_a_page_that_cannot_ask_the_server(client: TestClient) -> None:
    job_id = started(client, "report", resamples=0, shuffles=0)
    assert client.get(f"/v1/jobs/{job_id}/report").status_code == 404
    assert finished(client, job_id)["status"] == "done"
    page = client.get(f"/v1/jobs/{job_id}/report")
    assert page.text.lower().startswith("<!doctype html>")
    assert page.headers["content-security-policy"].startswith("sandbox")
