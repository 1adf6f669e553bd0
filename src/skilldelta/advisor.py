"""The one implementation of the decision: a question in, advice with all its evidence out.

The command line, the server and every plugin ask an `Advisor`; none of them predicts by itself. It finds the rows in
scope, lets the estimator score the target, bounds the error, lets the gate decide, and says in words what it did.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from skilldelta import bounds, intervals
from skilldelta.bank.index import Index, ScopeRows
from skilldelta.bank.store import Bank
from skilldelta.encoders.base import Encoder
from skilldelta.errors import InputError
from skilldelta.gate import Decision, Interval, Rule, check_threshold, decide
from skilldelta.predictor import PAPER, Prediction, Settings, predict
from skilldelta.records import Agent
from skilldelta.support import Scope

ScopeChoice = Literal["auto", "family", "skill", "global"]


@dataclass(frozen=True, slots=True)
class Question:
    """A task, the skill on offer, and what else is known before the first step."""

    text: str
    skill: str
    family: str = ""
    task_id: str = ""


@dataclass(frozen=True, slots=True)
class Neighbor:
    """One pair behind a prediction."""

    task_id: str
    similarity: float
    weight: float
    gain: float
    y0: float
    y1: float
    r0: int
    r1: int
    text: str


@dataclass(frozen=True, slots=True)
class Advice:
    """A decision and everything it rests on."""

    decision: Decision
    agent: str
    skill: str
    family: str
    estimator: str
    k: int
    scope: Scope
    eligible: int
    neighbors: tuple[Neighbor, ...]
    effective: float | None
    radius: float | None
    interval: Interval | None
    components: Mapping[str, float] = field(default_factory=dict)
    shares: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The document of `predict --json`."""
        decision, interval = self.decision, self.interval
        return {
            "action": decision.action,
            "gain": decision.gain,
            "threshold": decision.threshold,
            "reason": decision.reason,
            "agent": self.agent,
            "skill": self.skill,
            "family": self.family or None,
            "estimator": self.estimator,
            "k": self.k,
            "support": {
                "eligible": self.eligible,
                "used": len(self.neighbors),
                "effective": self.effective,
                "radius": self.radius,
            },
            "interval": None
            if interval is None
            else {"low": interval.low, "high": interval.high, "level": interval.level, "method": interval.method},
            "neighbors": [
                {
                    "task_id": n.task_id,
                    "similarity": n.similarity,
                    "weight": n.weight,
                    "gain": n.gain,
                    "y0": n.y0,
                    "y1": n.y1,
                    "r0": n.r0,
                    "r1": n.r1,
                    "text": n.text,
                }
                for n in self.neighbors
            ],
        }


@dataclass(frozen=True, slots=True)
class Policy:
    """How to decide: the estimator's settings, the gate's rule, the interval's method."""

    estimator: str = "skilldelta"
    settings: Settings = PAPER
    scope: ScopeChoice = "auto"
    threshold: float = 0.0
    rule: Rule = "plain"
    level: float = 0.95
    method: str = intervals.DEFAULT


class Advisor:
    """Answers questions about one agent from one bank. Safe for concurrent readers; a grown bank is noticed."""

    def __init__(self, bank: Bank, encoder: Encoder, *, agent: Agent, policy: Policy | None = None) -> None:
        policy = policy or Policy()
        check_threshold(policy.threshold)
        self._index = Index(bank, encoder, agent)
        self._encoder = encoder
        self._agent = agent
        self._policy = policy

    def ask(self, question: Question) -> Advice:
        """Predict, decide and explain. No evidence in scope is an answer (skip), not an error."""
        if not question.text.strip():
            raise InputError("the task text is empty; give the question that the agent will see")
        query = self._encoder.encode([question.text])[0]
        scope, rows = self._rows_in_scope(question)
        own = rows.row_of_task.get(question.task_id) if question.task_id else None
        prediction = predict(query, rows.vectors, rows.gains, settings=self._policy.settings, excluded=own)
        return self._advice(question, scope, rows, prediction)

    def _rows_in_scope(self, question: Question) -> tuple[Scope, ScopeRows]:
        """The family of the supplied skill where it is known and has evidence, else the skill; more only if asked."""
        choice = self._policy.scope
        if choice == "global":
            return "global", self._index.scope(skill=None, family=None)
        if choice == "family":
            if not question.family:
                raise InputError("scope family needs the target's family; give --family, or use scope skill")
            return "family", self._index.scope(skill=None, family=question.family)
        if choice == "auto" and question.family:
            rows = self._index.scope(skill=question.skill, family=question.family)
            if set(rows.row_of_task) - {question.task_id}:
                return "family", rows
        return "skill", self._index.scope(skill=question.skill, family=None)

    def _advice(self, question: Question, scope: Scope, rows: ScopeRows, prediction: Prediction) -> Advice:
        at, policy = prediction.rows, self._policy
        evidence = None if prediction.is_fallback else self._evidence(rows, prediction)
        interval = None if evidence is None else self._interval(rows, prediction)
        decision = decide(
            prediction.gain,
            threshold=policy.threshold,
            eligible=prediction.eligible,
            rule=policy.rule,
            interval=interval,
            used=len(at),
        )
        return Advice(
            decision=decision,
            agent=self._agent.name,
            skill=question.skill,
            family=question.family,
            estimator=policy.estimator,
            k=policy.settings.k,
            scope=scope,
            eligible=prediction.eligible,
            neighbors=tuple(_neighbor(rows, prediction, i) for i in range(len(at))),
            effective=None if evidence is None else evidence.effective,
            radius=None if evidence is None else evidence.radius,
            interval=interval,
        )

    def _evidence(self, rows: ScopeRows, prediction: Prediction) -> bounds.Evidence:
        at = prediction.rows
        return bounds.evidence(prediction.weights, prediction.similarities, rows.r0[at], rows.r1[at])

    def _interval(self, rows: ScopeRows, prediction: Prediction) -> Interval:
        at = prediction.rows
        found = intervals.Neighborhood(prediction.weights, rows.y0[at], rows.y1[at], rows.r0[at], rows.r1[at])
        return intervals.interval(self._policy.method, found, level=self._policy.level)


def _neighbor(rows: ScopeRows, prediction: Prediction, i: int) -> Neighbor:
    at = int(prediction.rows[i])
    return Neighbor(
        task_id=str(rows.task_ids[at]),
        similarity=float(prediction.similarities[i]),
        weight=float(prediction.weights[i]),
        gain=float(rows.gains[at]),
        y0=float(rows.y0[at]),
        y1=float(rows.y1[at]),
        r0=int(rows.r0[at]),
        r1=int(rows.r1[at]),
        text=rows.texts[at],
    )
