"""Spans and metrics for an OpenTelemetry collector that the operator runs. Off unless an endpoint is given.

Names are those of the semantic conventions where they exist: `gen_ai.*` for the agent, the conversation and the result of
an evaluation, `http.*` for requests. No text of a task, no id of a conversation (its digest instead) and no token is sent.
"""

from __future__ import annotations

import time
from urllib.parse import urlsplit

from skilldelta.advisor.recording import conversation_digest
from skilldelta.bank.entries import RecordedOutcome
from skilldelta.errors import InputError, MissingExtraError
from skilldelta.gate import Answer
from skilldelta.serve.service_metrics import SECONDS
from skilldelta.version import __version__

try:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.trace import SpanKind
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ModuleNotFoundError as error:
    raise MissingExtraError("serve --otel", "otel") from error

_EXPORT_SECONDS = 2
_METRICS_EVERY_MS = 15_000


class Telemetry:
    """Sends to one collector until it is closed. A collector that does not answer costs nothing but its data."""

    def __init__(self, endpoint: str) -> None:
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"{endpoint!r} is no address of a collector; give one like http://127.0.0.1:4318")
        base = endpoint.rstrip("/")
        resource = Resource.create({"service.name": "skilldelta", "service.version": __version__})
        self._traces = TracerProvider(resource=resource)
        exporter = OTLPSpanExporter(endpoint=f"{base}/v1/traces", timeout=_EXPORT_SECONDS)
        self._traces.add_span_processor(BatchSpanProcessor(exporter))
        numbers = OTLPMetricExporter(endpoint=f"{base}/v1/metrics", timeout=_EXPORT_SECONDS)
        reader = PeriodicExportingMetricReader(numbers, export_interval_millis=_METRICS_EVERY_MS)
        self._meters = MeterProvider([reader], resource=resource)
        self._tracer = self._traces.get_tracer("skilldelta.serve", __version__)
        self._propagator = TraceContextTextMapPropagator()
        meter = self._meters.get_meter("skilldelta.serve", __version__)
        self._decisions = meter.create_counter("skilldelta.decisions", "{decision}", "Decisions by action")
        self._outcomes = meter.create_counter("skilldelta.outcomes", "{outcome}", "Outcomes recorded")
        self._requests = meter.create_histogram(
            "http.server.request.duration", "s", "Time to answer", explicit_bucket_boundaries_advisory=list(SECONDS)
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """One answered request."""
        attributes: dict[str, str | int] = {
            "http.request.method": method,
            "http.route": route,
            "http.response.status_code": status,
        }
        self._requests.record(seconds, attributes)

    def decision(
        self, answer: Answer, *, seconds: float, source: str = "", conversation: str = "", parent: str = ""
    ) -> None:
        """One decision; `parent` is the caller's traceparent, whose trace it becomes part of."""
        decision, repeated = answer.decision, bool(answer.repeated)
        attributes: dict[str, str | int | float | bool] = {
            "gen_ai.operation.name": "decide_skill",
            "gen_ai.agent.name": answer.agent,
            "skilldelta.skill": answer.skill,
            "skilldelta.action": decision.action,
            "skilldelta.gain": decision.gain,
            "skilldelta.threshold": decision.threshold,
            "skilldelta.fallback": decision.is_fallback,
            "skilldelta.repeated": repeated,
        }
        if answer.decision_id is not None:
            attributes["skilldelta.decision_id"] = answer.decision_id
        if conversation:
            attributes["gen_ai.conversation.id"] = conversation_digest(conversation)
        if source:
            attributes["skilldelta.source"] = source
        end = time.time_ns()
        context = self._propagator.extract({"traceparent": parent}) if parent else None
        begin = end - int(seconds * 1e9)
        span = self._tracer.start_span("decide_skill", context, SpanKind.SERVER, attributes, start_time=begin)
        span.end(end)
        self._decisions.add(1, {"skilldelta.action": decision.action, "skilldelta.repeated": repeated})

    def outcome(self, outcome: RecordedOutcome, *, is_new: bool, parent: str = "") -> None:
        """What happened after a decision: an evaluation result, where its success is known."""
        self._outcomes.add(1, {"skilldelta.new": is_new})
        if not is_new:
            return
        context = self._propagator.extract({"traceparent": parent}) if parent else None
        span = self._tracer.start_span("record_outcome", context, SpanKind.SERVER)
        span.set_attribute("skilldelta.decision_id", outcome.decision_id)
        if outcome.success is not None:
            result: dict[str, str | float] = {
                "gen_ai.evaluation.name": "success",
                "gen_ai.evaluation.score.value": float(outcome.success),
            }
            span.add_event("gen_ai.evaluation.result", result)
        span.end()

    def close(self) -> None:
        """Send what is waiting, and end."""
        self._traces.shutdown()
        self._meters.shutdown(timeout_millis=3_000)
