"""What the service counts about itself, for Prometheus: requests, decisions, outcomes. No name of a task or a person."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from skilldelta.gate import Answer

# Bounds of the histograms of the time to answer.
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class ServiceMetrics:
    """The numbers of one service, in a registry of its own."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        own = self._registry
        self._requests = Counter(
            "skilldelta_http_requests", "Requests by route and status.", ("method", "route", "status"), registry=own
        )
        self._seconds = Histogram(
            "skilldelta_http_request_seconds", "Time to answer.", ("route",), buckets=SECONDS, registry=own
        )
        self._decisions = Counter(
            "skilldelta_decisions", "Decisions by action; repeated ones apart.", ("action", "repeated"), registry=own
        )
        self._outcomes = Counter(
            "skilldelta_outcomes", "Outcomes recorded, by whether they were new.", ("new",), registry=own
        )
        self._not_logged = Gauge(
            "skilldelta_decisions_not_logged", "Decisions that could not be recorded in time.", registry=own
        )
        self._ready = Gauge("skilldelta_ready", "1 when bank, encoder and estimator are warm.", registry=own)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """One answered request."""
        label = method if method in ("GET", "HEAD", "POST", "DELETE") else "other"
        self._requests.labels(label, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def decision(self, answer: Answer) -> None:
        """One decision."""
        self._decisions.labels(answer.decision.action, "true" if answer.repeated else "false").inc()

    def outcome(self, is_new: bool) -> None:
        """One outcome."""
        self._outcomes.labels("true" if is_new else "false").inc()

    def exposition(self, *, ready: bool, not_logged: int = 0) -> bytes:
        """Everything as Prometheus reads it."""
        self._not_logged.set(not_logged)
        self._ready.set(1 if ready else 0)
        return generate_latest(self._registry)
