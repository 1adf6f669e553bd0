"""Learning behind the decisions: a process of its own reads the bank, learns a state, and keeps it there.

It takes no time from decisions but the processor's, which it leaves to them where both want it. Run as
`python -m skilldelta.serve.learning`, the process reads what to learn from standard input.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from skilldelta.advisor.learned_states import learn_state
from skilldelta.bank.index import Index
from skilldelta.bank.store import Bank
from skilldelta.errors import BankError, SkillDeltaError
from skilldelta.packing import pack, unpack
from skilldelta.records import Agent
from skilldelta.redaction import redacted
from skilldelta.studies import bank_encoder

# While evidence keeps arriving, a panel rests this many times as long as it was last learned: a fifth of a processor goes
# into learning at most.
REST = 4.0
_LAST_WORDS = 2_000

_log = logging.getLogger("skilldelta.serve")

_Panel = tuple[str, str, str, str]  # agent, fingerprint, suite, and what the state must not see


@dataclass(slots=True)
class _Job:
    panel: _Panel
    due: float
    future: Future[Mapping[str, bytes] | None] = field(default_factory=Future)


class LearningProcess:
    """Learns the states of one bank, one at a time, each in a new process. Threads may share it.

    `encoder` are the arguments of `bank_encoder`; its key goes to the process over its standard input alone.
    """

    def __init__(self, bank: str, encoder: Mapping[str, Any]) -> None:
        self._ground = {"bank": bank, "encoder": dict(encoder)}
        self._waiting: dict[_Panel, _Job] = {}
        self._running: _Job | None = None
        self._rest_until: dict[_Panel, float] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._changed = threading.Condition()
        self._worker: threading.Thread | None = None
        self._is_closed = False

    def learn(self, index: Index, name: str, *, at_once: bool) -> Future[Mapping[str, bytes] | None]:
        """The parts of a state, or None where they are kept in the bank; the same future while it is being learned."""
        panel = (index.agent.name, index.agent.fingerprint, index.suite or "", name)
        with self._changed:
            if self._is_closed:
                raise BankError("nothing is learned any more: the service is shutting down")
            if self._running is not None and self._running.panel == panel:
                return self._running.future
            job = self._waiting.setdefault(panel, _Job(panel, self._rest_until.get(panel, 0.0)))
            if at_once:
                job.due = 0.0
            if self._worker is None:
                self._worker = threading.Thread(target=self._work, name="skilldelta-learning", daemon=True)
                self._worker.start()
            self._changed.notify()
            return job.future

    def close(self) -> None:
        """Stop what is under way, and answer whoever waits that nothing comes."""
        with self._changed:
            self._is_closed = True
            if self._process is not None:
                self._process.kill()
            self._changed.notify()
        if self._worker is not None:
            self._worker.join()
        for job in self._waiting.values():
            job.future.cancel()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            began = time.monotonic()
            parts, failure = None, None
            try:
                parts = self._run(job)
            except Exception as error:
                failure = error
            with self._changed:
                now = time.monotonic()
                self._rest_until[job.panel] = now + REST * (now - began)
                self._running = None
            if failure is None:
                job.future.set_result(parts)
            elif self._is_closed:
                job.future.cancel()
            else:
                _log.error("learning failed: %s", redacted(str(failure) or type(failure).__name__))
                job.future.set_exception(failure)

    def _next(self) -> _Job | None:
        """Wait for the job that is due first; None when there will be no other."""
        with self._changed:
            while not self._is_closed:
                first = min(self._waiting.values(), key=lambda job: job.due, default=None)
                rest = None if first is None else first.due - time.monotonic()
                if first is not None and rest is not None and rest <= 0:
                    self._running = self._waiting.pop(first.panel)
                    return first
                self._changed.wait(rest)
            return None

    def _run(self, job: _Job) -> Mapping[str, bytes] | None:
        agent, fingerprint, suite, name = job.panel
        with tempfile.TemporaryDirectory(prefix="skilldelta-learning-") as folder:
            file = Path(folder) / "state"
            request = {"agent": agent, "fingerprint": fingerprint, "suite": suite, "name": name, "file": str(file)}
            with self._changed:
                if self._is_closed:
                    raise BankError("the service is shutting down")
                process = self._process = subprocess.Popen(
                    [sys.executable, "-m", "skilldelta.serve.learning"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                )
            _, words = process.communicate(json.dumps({**request, **self._ground}).encode())
            self._process = None
            if process.returncode:
                raise BankError(words[-_LAST_WORDS:].decode("utf-8", "replace").strip() or "it was stopped")
            if not file.exists():
                return None
            arrays: dict[str, Any] = unpack(file.read_bytes(), dict)
            return {part: array.tobytes() for part, array in arrays.items()}


def main() -> None:
    """Learn the one state that standard input describes. Parts that the bank cannot keep go into a file."""
    request = json.loads(sys.stdin.buffer.read())
    if hasattr(os, "nice"):
        os.nice(10)
    try:
        with Bank.open(request["bank"], create=False) as bank:
            agent = Agent(request["agent"], request["fingerprint"])
            index = Index(bank, bank_encoder(bank, **request["encoder"]), agent, suite=request["suite"])
            parts = learn_state(index, request["name"])
    except SkillDeltaError as error:
        print(redacted(str(error)), file=sys.stderr)
        sys.exit(2)
    if parts is not None:
        packed = pack({part: np.frombuffer(data, np.uint8) for part, data in parts.items()})
        Path(request["file"]).write_bytes(packed)


if __name__ == "__main__":
    main()
