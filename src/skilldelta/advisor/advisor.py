"""Finds the rows in scope, lets the estimator score the target, bounds the error, lets the gate decide, and says why."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from skilldelta import bounds, intervals
from skilldelta.advisor.advice import Advice, Explanation, Neighbor, Policy, Question
from skilldelta.advisor.panel_view import PanelView, ScopeFamiliarity
from skilldelta.arrays import Vectors
from skilldelta.bank.index import Index
from skilldelta.bank.store import Bank
from skilldelta.costs import Cost, TokenCosts
from skilldelta.encoders import Encoder, load_encoder
from skilldelta.errors import InputError
from skilldelta.estimators.base import Score, Target
from skilldelta.gate import Decision, Interval, decide, unlike
from skilldelta.predictor import Prediction, Settings, predict
from skilldelta.records import Agent
from skilldelta.support import Scope, Support

_MOST_PANELS = 16
"""Views of panels that are kept warm, by suite and settings."""


class Advisor:
    """Answers questions about one agent from one bank. Safe for concurrent readers; a grown bank is noticed."""

    def __init__(
        self,
        bank: Bank,
        encoder: Encoder | None = None,
        *,
        agent: Agent | str | None = None,
        policy: Policy | None = None,
    ) -> None:
        """`agent` may be a name, or nothing where the bank has one agent; `encoder` is the default unless given."""
        agent = agent if isinstance(agent, Agent) else bank.resolve_agent(agent)
        encoder = encoder or load_encoder()
        self._policy = policy or Policy()
        self._bank = bank
        self._encoder = encoder
        self._indexes: dict[str, Index] = {}
        self._panels: dict[tuple[str, str, Settings | None], PanelView] = {}
        self._agent = agent
        self._familiarity = ScopeFamiliarity()

    def under(self, policy: Policy) -> Advisor:
        """An advisor that decides by another policy from the same evidence, which both keep warm together."""
        other = copy(self)
        other._policy = policy
        return other

    def ask(self, question: Question, *, explain: bool = False) -> Advice:
        """Predict, decide and explain. No evidence in scope is an answer (skip), not an error."""
        if not question.text.strip():
            raise InputError("the task text is empty; give the question that the agent will see")
        query = self._encoder.encode([question.text])[0]
        question = self._completed(question)
        index, panel = self._view(question.suite)
        scope, rows = self._rows_in_scope(question, index)
        own = rows.row_of_task.get(question.task_id) if question.task_id else None
        near = predict(query, rows.vectors, rows.gains, settings=self._policy.settings, excluded=own)
        score = self._score(question, query, near, panel)
        familiarity = self._familiarity_of(question, scope, rows, query, score)
        cost = self._cost(question, rows, near) if explain or self._policy.cost_rule else None
        interval = None if near.is_fallback else self._interval(question, rows, near, score, panel)
        decision = self._decide(score.gain, near, interval, cost, familiarity)
        return self._advice(
            question,
            scope,
            rows,
            near,
            decision,
            familiarity,
            interval,
            Explanation(score.components, score.shares, panel.chance(score), cost) if explain else None,
        )

    def _completed(self, question: Question) -> Question:
        """The question with the suite that may answer it and, for a task that the suite has, the family it has there."""
        suite = question.suite or self._bank.resolve_suite(
            self._agent, skill_id=question.skill, task_id=question.task_id
        )
        family = question.family
        if question.task_id and not family:
            family = next((task.family for task in self._bank.tasks(suite, question.task_id)), "")
        return replace(question, suite=suite or "", family=family)

    def _view(self, suite: str) -> tuple[Index, PanelView]:
        """The evidence of one suite, kept for the next question."""
        if suite not in self._indexes:
            self._indexes[suite] = Index(self._bank, self._encoder, self._agent, suite=suite)
        index, estimator, settings = self._indexes[suite], self._policy.estimator, self._policy.settings
        name = (suite, estimator, settings if estimator == "skilldelta" else None)  # the stack has none of them
        if name not in self._panels:
            if len(self._panels) >= _MOST_PANELS:  # each may hold a score per recorded task
                self._panels.pop(next(iter(self._panels)))
            self._panels[name] = PanelView(index, estimator, settings)
        return index, self._panels[name]

    def _rows_in_scope(self, question: Question, index: Index) -> tuple[Scope, Support]:
        """The rows that the policy's choice of scope leaves for this question."""
        choice = self._policy.scope
        if choice == "paper":
            choice = "family" if question.family else "skill"
        if choice == "global":
            return "global", index.scope(skill=None, family=None)
        if choice == "family":
            if not question.family:
                raise InputError(
                    "scope family needs the target's family; give --family, or use scope skill", setting="scope"
                )
            return "family", index.scope(skill=None, family=question.family)
        if choice == "auto" and question.family:
            rows = index.scope(skill=question.skill, family=question.family)
            if len(rows.row_of_task) > (question.task_id in rows.row_of_task):
                return "family", rows
        return "skill", index.scope(skill=question.skill, family=None)

    def _score(self, question: Question, query: Vectors, near: Prediction, panel: PanelView) -> Score:
        """The estimator's gain; without any evidence in scope every estimator falls back to 0."""
        if near.is_fallback:
            return Score(0.0)
        if self._policy.estimator == "skilldelta":
            return Score(near.gain, {"skilldelta": near.gain}, {"skilldelta": 1.0})
        target = Target(query, question.text, question.family, question.skill, question.task_id)
        return panel.score(target)

    def _familiarity_of(
        self, question: Question, scope: Scope, rows: Support, query: Vectors, score: Score
    ) -> float | None:
        """The familiarity that the estimator found, else that of the scope."""
        if self._policy.estimator == "stack":
            return score.familiarity
        name = (question.suite, scope, question.family if scope == "family" else "", question.skill)
        return self._familiarity.of(name, rows, query, question.task_id)

    def _interval(
        self, question: Question, rows: Support, near: Prediction, score: Score, panel: PanelView
    ) -> Interval:
        """The stack's own interval, that of the nearest pairs' expected gain, or that of the estimator's errors."""
        level, method, at = self._policy.level, self._policy.interval_method, near.rows
        if method == intervals.STACK:
            if score.spread is None:
                return Interval(-1.0, 1.0, level, method)
            deviation, freedom = score.spread.deviation, score.spread.freedom
            return intervals.posterior(score.gain, deviation=deviation, freedom=freedom, level=level)
        if method == intervals.CONFORMAL:
            return intervals.conformal(score.gain, panel.residuals(), family=question.family, level=level)
        found = intervals.Neighborhood(near.weights, rows.y0[at], rows.y1[at], rows.r0[at], rows.r1[at])
        interval = intervals.interval(method, found, level=level)
        return self._with_bias(interval, rows, near) if self._policy.smoothness or self._policy.residual else interval

    def _with_bias(self, interval: Interval, rows: Support, near: Prediction) -> Interval:
        """The whole B_delta of the paper: what neighbours at a distance may miss beside the noise of their executions."""
        evidence = bounds.evidence(near.weights, near.similarities, rows.r0[near.rows], rows.r1[near.rows])
        half_width = bounds.error_bound(
            radius=evidence.radius,
            noise=evidence.noise,
            delta=1 - interval.level,
            smoothness=self._policy.smoothness,
            residual=self._policy.residual,
        )
        return Interval(max(-1.0, near.gain - half_width), min(1.0, near.gain + half_width), interval.level, "b_delta")

    def _cost(self, question: Question, rows: Support, near: Prediction) -> Cost | None:
        names = {"family": question.family, "skill": question.skill, "task_id": question.task_id}
        return TokenCosts.of(rows).predict(near.rows, **names, price=self._policy.price)

    def _decide(
        self,
        gain: float,
        near: Prediction,
        interval: Interval | None,
        cost: Cost | None,
        familiarity: float | None,
    ) -> Decision:
        """The gate, with the tokens' weight on the threshold's side: gain > threshold + lambda * tokens."""
        policy = self._policy
        threshold = policy.cost_rule.for_plain_gain(policy.threshold, cost) if policy.cost_rule else policy.threshold
        decision = decide(
            gain,
            threshold=threshold,
            eligible=near.eligible,
            rule=policy.rule,
            interval=interval,
            used=len(near.rows) if policy.estimator == "skilldelta" else None,
        )
        return decision if decision.is_fallback else unlike(decision, familiarity, policy.limit, policy.rule)

    def _advice(
        self,
        question: Question,
        scope: Scope,
        rows: Support,
        near: Prediction,
        decision: Decision,
        familiarity: float | None,
        interval: Interval | None,
        explanation: Explanation | None,
    ) -> Advice:
        evidence = None
        if not near.is_fallback:
            evidence = bounds.evidence(near.weights, near.similarities, rows.r0[near.rows], rows.r1[near.rows])
        return Advice(
            decision=decision,
            agent=self._agent.name,
            skill=question.skill,
            suite=question.suite,
            family=question.family,
            estimator=self._policy.estimator,
            settings=self._policy.settings,
            scope=scope,
            eligible=near.eligible,
            neighbors=tuple(Neighbor.of(rows, near, i) for i in range(len(near.rows))),
            effective=None if evidence is None else evidence.effective,
            radius=None if evidence is None else evidence.radius,
            familiarity=familiarity,
            interval=interval,
            explanation=explanation,
        )
