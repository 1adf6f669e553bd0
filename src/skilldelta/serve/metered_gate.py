"""The gate with its answers counted: documents in and out, metrics and, where a collector is configured, spans.

The routes of the HTTP API answer through it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skilldelta.bank.entries import Logged, RecordedOutcome
from skilldelta.gate import Answer
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.service_metrics import ServiceMetrics
from skilldelta.serve.wire_formats import AskedBody, BatchBody, ChooseBody, DecideBody, OutcomeBody

if TYPE_CHECKING:
    from skilldelta.serve.telemetry import Telemetry


@dataclass(frozen=True, slots=True)
class MeteredGate:
    """One gate and where its answers are counted. `parent` is the trace of whoever asks."""

    gate: GateService
    metrics: ServiceMetrics
    telemetry: Telemetry | None = None

    def decide(
        self, body: DecideBody, parent: str = "", still_wanted: Callable[[], bool] = lambda: True
    ) -> dict[str, Any]:
        """The decision about one skill."""
        began = time.perf_counter()
        answer = self.gate.decide(body.question(self.gate.settings.gate), still_wanted)
        self._count([(answer, body)], began, parent)
        return answer.to_dict()

    def decide_batch(self, body: BatchBody, parent: str = "") -> dict[str, Any]:
        """One decision per question, all or none."""
        began = time.perf_counter()
        answers = self.gate.decide_batch([question.question(self.gate.settings.gate) for question in body.questions])
        self._count(list(zip(answers, body.questions, strict=True)), began, parent)
        return {"decisions": [answer.to_dict() for answer in answers]}

    def choose(
        self, body: ChooseBody, parent: str = "", still_wanted: Callable[[], bool] = lambda: True
    ) -> dict[str, Any]:
        """The skill with the largest gain among those that the gate would use."""
        began = time.perf_counter()
        choice = self.gate.choose(body.questions(self.gate.settings.gate), still_wanted)
        self._count([(answer, body) for answer in choice.answers], began, parent)
        return choice.to_dict()

    def record(self, body: OutcomeBody, parent: str = "") -> Logged:
        """What happened after a decision."""
        outcome = RecordedOutcome(**body.model_dump(), time=time.time())
        logged = self.gate.record_outcome(outcome)
        self.metrics.outcome(logged.is_new)
        if self.telemetry is not None:
            self.telemetry.outcome(outcome, is_new=logged.is_new, parent=parent)
        return logged

    def _count(self, answers: Sequence[tuple[Answer, AskedBody]], began: float, parent: str) -> None:
        for answer, body in answers:
            self.metrics.decision(answer)
            if self.telemetry is not None:
                caller = {"source": body.source, "conversation": body.conversation, "parent": parent}
                self.telemetry.decision(answer, seconds=time.perf_counter() - began, **caller)
