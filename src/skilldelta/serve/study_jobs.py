"""Long studies beside the requests: one at a time, the others in turn, each in a process that can be stopped.

Jobs live in memory: a restart forgets them. The bank is not changed by any of them.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any, Literal

from skilldelta.redaction import redacted
from skilldelta.serve.http_answers import Problem

JobStatus = Literal["queued", "running", "done", "failed", "cancelled"]
FINISHED: tuple[JobStatus, ...] = ("done", "failed", "cancelled")

# Jobs that may wait, and finished ones that are remembered; bytes of a line, which holds a whole result.
MOST_WAITING = 8
MOST_KEPT = 50
_LONGEST_LINE = 256 << 20
_WORDS_OF_A_FAILURE = 4_000

_log = logging.getLogger("skilldelta.serve")


@dataclass(slots=True)
class StudyJob:
    """A job and its progress. `version` changes with every update."""

    kind: str
    options: Mapping[str, Any]
    job_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    status: JobStatus = "queued"
    created: float = field(default_factory=time.time)
    started: float | None = None
    ended: float | None = None
    step: str = "waiting"
    done: int | None = None
    total: int | None = None
    result: Any = None
    error: Mapping[str, Any] | None = None
    version: int = 0

    def to_dict(self, *, with_result: bool = True) -> dict[str, Any]:
        """The document of `/v1/jobs/{id}`; an event has no result."""
        names = ("job_id", "kind", "options", "status", "created", "started", "ended", "step", "done", "total", "error")
        document = {name: getattr(self, name) for name in names}
        return {**document, "result": self.result} if with_result else document


# Not concurrent.futures: a future that runs can be neither stopped nor asked how far it is.
class StudyJobs:
    """The jobs of one server, all on its bank. Threads may share it.

    `encoder` are the arguments of `bank_encoder`; its key goes to the process over its standard input alone.
    """

    def __init__(self, bank: str, encoder: Mapping[str, Any]) -> None:
        self._ground = {"bank": bank, "encoder": dict(encoder)}
        self._jobs: OrderedDict[str, StudyJob] = OrderedDict()
        self._waiting: SimpleQueue[StudyJob | None] = SimpleQueue()
        self._lock = threading.RLock()
        self._worker: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._is_closed = False
        self.streams = 0  # of events that are open, which only the loop of the server counts

    def start(self, kind: str, options: Mapping[str, Any]) -> StudyJob:
        """Queue a job; refused when too many wait already."""
        job = StudyJob(kind, options)
        with self._lock:
            if self._is_closed:
                raise Problem(503, "the server is shutting down")
            if sum(other.status == "queued" for other in self._jobs.values()) >= MOST_WAITING:
                raise Problem(429, f"{MOST_WAITING} jobs are waiting already; cancel one, or try later")
            self._jobs[job.job_id] = job
            self._forget_oldest()
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="skilldelta-jobs", daemon=True)
                self._worker.start()
            self._waiting.put(job)
        return job

    def get(self, job_id: str) -> StudyJob:
        """A job by its id."""
        job = self._jobs.get(job_id)
        if job is None:
            raise Problem(404, "there is no such job; a restart forgets them, and so do many newer ones")
        return job

    def all(self) -> list[StudyJob]:
        """Every job that is still known, the newest first."""
        with self._lock:
            return list(reversed(self._jobs.values()))

    def cancel(self, job_id: str) -> StudyJob:
        """Stop a job, or keep it from starting; one that has ended stays as it is."""
        job = self.get(job_id)
        with self._lock:
            if job.status not in FINISHED:
                running = job.status == "running"
                self._end(job, "cancelled")
                if running and self._process is not None:
                    self._process.kill()
        return job

    def report(self, job_id: str) -> Path:
        """The file that a report job wrote."""
        job = self.get(job_id)
        if job.kind != "report" or job.status != "done":
            raise Problem(404, "this job has no report")
        return self._report_file(job)

    def close(self) -> None:
        """Stop everything."""
        with self._lock:
            self._is_closed = True
            for job in self._jobs.values():
                if job.status not in FINISHED:
                    self._end(job, "cancelled")
            if self._process is not None:
                self._process.kill()
            worker = self._worker
            self._waiting.put(None)
        if worker is not None:
            worker.join()
        if self._folder is not None:
            self._folder.cleanup()

    def _work(self) -> None:
        while (job := self._waiting.get()) is not None:
            try:
                self._run(job)
            except Exception as error:
                _log.error("job failed: %s", type(error).__name__, exc_info=error)
                self._fail(job, {"status": 500, "detail": "the job failed; the server's log says why"})

    def _run(self, job: StudyJob) -> None:
        with self._lock:
            if job.status != "queued":
                return
            job.status, job.started, job.step = "running", time.time(), "starting"
            job.version += 1
            process = self._process = subprocess.Popen(
                [sys.executable, "-m", "skilldelta.serve.job_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
        words = _Tail(process.stderr)
        try:
            self._tell(process, job)
            self._follow(process, job)
        finally:
            process.kill()
            process.wait()
            self._process = None
        if job.status == "running":
            _log.error("job ended without a result: %s", redacted(words.text()))
            self._fail(job, {"status": 500, "detail": "the job ended without a result; the server's log says why"})

    def _tell(self, process: subprocess.Popen[bytes], job: StudyJob) -> None:
        request = {"kind": job.kind, "options": dict(job.options), "report_file": str(self._report_file(job))}
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps({**request, **self._ground}).encode())
            process.stdin.close()
        except BrokenPipeError:  # stopped before it began
            return

    def _follow(self, process: subprocess.Popen[bytes], job: StudyJob) -> None:
        assert process.stdout is not None
        while line := process.stdout.readline(_LONGEST_LINE):
            message = json.loads(line)
            with self._lock:
                if job.status != "running":
                    return
                if "result" in message:
                    job.result = message["result"]
                    self._end(job, "done")
                elif "error" in message:
                    self._fail(job, message["error"])
                else:
                    job.step, job.done, job.total = message["step"], message["done"], message["total"]
                    job.version += 1

    def _fail(self, job: StudyJob, error: Mapping[str, Any]) -> None:
        with self._lock:
            if job.status not in FINISHED:
                job.error = error
                self._end(job, "failed")

    def _end(self, job: StudyJob, status: JobStatus) -> None:
        job.status, job.ended, job.step = status, time.time(), status
        job.version += 1

    def _forget_oldest(self) -> None:
        ended = [job for job in self._jobs.values() if job.status in FINISHED]
        for job in ended[: max(0, len(self._jobs) - MOST_KEPT)]:
            self._report_file(job).unlink(missing_ok=True)
            del self._jobs[job.job_id]

    def _report_file(self, job: StudyJob) -> Path:
        with self._lock:
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="skilldelta-jobs-")
            return Path(self._folder.name) / f"{job.job_id}.html"


class _Tail:
    """The last lines that a process prints, read while it runs so that it never waits for a reader."""

    def __init__(self, stream: IO[bytes] | None) -> None:
        self._lines: deque[bytes] = deque(maxlen=50)
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def _read(self, stream: IO[bytes] | None) -> None:
        self._lines.extend(line[:_WORDS_OF_A_FAILURE] for line in stream or ())

    def text(self) -> str:
        self._thread.join(timeout=1)
        return b"".join(self._lines.copy())[-_WORDS_OF_A_FAILURE:].decode("utf-8", "replace")
