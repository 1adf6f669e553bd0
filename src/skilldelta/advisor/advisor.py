"""Finds the rows in scope, lets the estimator score the target, bounds the error, lets the gate decide, and says why."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from skilldelta.advisor.advice import Advice, Explanation, Policy, Question
from skilldelta.advisor.panel_view import PanelView, PanelViews
from skilldelta.arrays import Vectors
from skilldelta.bank.index import Index
from skilldelta.bank.store import Bank
from skilldelta.costs import Cost, TokenCosts
from skilldelta.encoders import Encoder, load_encoder
from skilldelta.errors import InputError
from skilldelta.estimators.base import Score, Target
from skilldelta.gate import Decision, Interval, decide
from skilldelta.predictor import Prediction, predict
from skilldelta.records import Agent
from skilldelta.support import Scope, Support


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
        self._bank = bank
        self._agent = agent if isinstance(agent, Agent) else bank.resolve_agent(agent)
        self._encoder = encoder or load_encoder()
        self._policy = policy or Policy()
        self._panels = PanelViews(bank, self._encoder, self._agent)

    def under(self, policy: Policy) -> Advisor:
        """An advisor that decides by another policy from the same evidence, which both keep warm together."""
        other = copy(self)
        other._policy = policy
        return other

    def ask(self, question: Question, *, explain: bool = False) -> Advice:
        """Predict, decide and explain. No evidence in scope is an answer (skip), not an error."""
        if not question.text.strip():
            raise InputError("the task text is empty; give the question that the agent will see")
        policy = self._policy
        query = self._encoder.encode([question.text])[0]
        question = self._completed(question)
        panel = self._panels.of(question.suite, policy)
        scope, rows = self._rows_in_scope(question, panel.index)
        own = rows.row_of_task.get(question.task_id) if question.task_id else None
        near = predict(query, rows.vectors, rows.gains, settings=policy.settings, excluded=own)
        score = self._score(question, query, near, panel)
        familiarity = score.familiarity
        if policy.estimator != "stack":
            familiarity = panel.familiarity(question, scope, rows, query)
        cost = self._cost(question, rows, near) if explain or policy.cost_rule else None
        interval = None if near.is_fallback else panel.interval(policy, question, rows, near, score)
        advice = Advice(
            decision=policy.unless_unlike(self._decide(score.gain, near, interval, cost), familiarity),
            agent=self._agent.name,
            skill=question.skill,
            suite=question.suite,
            family=question.family,
            estimator=policy.estimator,
            settings=policy.settings,
            scope=scope,
            familiarity=familiarity,
            interval=interval,
            explanation=Explanation(score.components, score.shares, panel.chance(score), cost) if explain else None,
        )
        return advice if near.is_fallback else advice.resting_on(rows, near)

    def _completed(self, question: Question) -> Question:
        """The question with the suite that may answer it and, for a task that the suite has, the family it has there."""
        known = {"skill_id": question.skill, "task_id": question.task_id}
        suite = question.suite or self._bank.resolve_suite(self._agent, **known)
        family = question.family
        if question.task_id and not family:
            family = next((task.family for task in self._bank.tasks(suite, question.task_id)), "")
        return replace(question, suite=suite or "", family=family)

    def _rows_in_scope(self, question: Question, index: Index) -> tuple[Scope, Support]:
        """The rows that the policy's choice of scope leaves for this question."""
        choice = self._policy.scope
        if choice == "paper":
            choice = "family" if question.family else "skill"
        if choice == "global":
            return "global", index.scope()
        if choice == "family":
            if not question.family:
                message = "scope family needs the target's family; give --family, or use scope skill"
                raise InputError(message, setting="scope")
            return "family", index.scope(family=question.family)
        if choice == "auto" and question.family:
            rows = index.scope(skill=question.skill, family=question.family)
            if len(rows.row_of_task) > (question.task_id in rows.row_of_task):
                return "family", rows
        return "skill", index.scope(skill=question.skill)

    def _score(self, question: Question, query: Vectors, near: Prediction, panel: PanelView) -> Score:
        """The estimator's gain; without any evidence in scope every estimator falls back to 0."""
        if near.is_fallback:
            return Score(0.0)
        if self._policy.estimator == "skilldelta":
            return Score.of_one("skilldelta", near.gain)
        return panel.score(Target(query, question.text, question.family, question.skill, question.task_id))

    def _cost(self, question: Question, rows: Support, near: Prediction) -> Cost | None:
        names = {"family": question.family, "skill": question.skill, "task_id": question.task_id}
        return TokenCosts.of(rows).predict(near.rows, **names, price=self._policy.price)

    def _decide(self, gain: float, near: Prediction, interval: Interval | None, cost: Cost | None) -> Decision:
        """The gate, with the tokens' weight on the threshold's side: gain > threshold + lambda * tokens."""
        policy = self._policy
        return decide(
            gain,
            threshold=policy.cost_rule.for_plain_gain(policy.threshold, cost) if policy.cost_rule else policy.threshold,
            eligible=near.eligible,
            rule=policy.rule,
            interval=interval,
            used=len(near.rows) if policy.estimator == "skilldelta" else None,
        )
