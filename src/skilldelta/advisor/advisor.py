"""Finds the rows in scope, lets the estimator score the target, bounds the error, lets the gate decide, and says why."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from skilldelta.advisor.advice import Advice, Explanation, Question
from skilldelta.advisor.basis import basis_of
from skilldelta.advisor.learned_states import Learner
from skilldelta.advisor.panel_view import PanelViews
from skilldelta.bank.store import Bank
from skilldelta.encoders import Encoder, load_encoder
from skilldelta.errors import InputError
from skilldelta.estimators.blend.fitted import pulled_to
from skilldelta.gate import Gate, decide
from skilldelta.predictor import predict
from skilldelta.records import Agent


class Advisor:
    """Answers questions about one agent from one bank. Safe for concurrent readers; a grown bank is noticed."""

    def __init__(
        self,
        bank: Bank,
        encoder: Encoder | None = None,
        *,
        agent: Agent | str | None = None,
        gate: Gate | None = None,
        learner: Learner | None = None,
    ) -> None:
        """`agent` may be a name, or nothing where the bank has one agent; `encoder` is the default unless given.

        A `learner` learns behind the questions; without one a question after new evidence waits until it is learned.
        """
        self._bank = bank
        self._agent = agent if isinstance(agent, Agent) else bank.resolve_agent(agent)
        self._encoder = encoder or load_encoder()
        self._gate = gate or Gate()
        self._panels = PanelViews(bank, self._encoder, self._agent, learner)

    def under(self, gate: Gate) -> Advisor:
        """An advisor that decides by another gate from the same evidence, which both keep warm together."""
        other = copy(self)
        other._gate = gate
        return other

    def ask(self, question: Question, *, explain: bool = False) -> Advice:
        """Predict, decide and explain. No evidence in scope is an answer (skip), not an error."""
        if not question.text.strip():
            raise InputError("the task text is empty; give the question that the agent will see")
        gate = self._gate
        query = self._encoder.encode([question.text])[0]
        question = self._completed(question)
        panel = self._panels.of(question.suite, gate)
        scope, rows = panel.rows_in_scope(question, gate.scope)
        own = rows.row_of_task.get(question.task_id) if question.task_id else None
        near = predict(query, rows.vectors, rows.gains, settings=gate.settings, excluded=own)
        score = pulled_to(panel.score(question, query, near), gate.prior_gain)
        familiarity = panel.familiarity(question, scope, rows, query, score)
        cost = panel.cost(question, rows, near, gate.price) if explain or gate.cost_rule else None
        interval = None if near.is_fallback else panel.interval(gate, question, rows, near, score)
        decision = decide(
            score.gain,
            threshold=gate.threshold_at(cost),
            eligible=near.eligible,
            rule=gate.rule,
            interval=interval,
            used=len(near.rows) if gate.estimator == "paper" else None,
        )
        advice = Advice(
            decision=gate.unless_unlike(decision, familiarity),
            agent=self._agent.name,
            skill=question.skill,
            suite=question.suite,
            family=question.family,
            estimator=gate.estimator,
            settings=gate.settings,
            scope=scope,
            familiarity=familiarity,
            interval=interval,
            of_previous_revision=score.of_previous_revision,
            basis=None if near.is_fallback else basis_of(score),
            explanation=Explanation(score.components, score.shares, panel.chance(score), panel.usual_chance(), cost)
            if explain
            else None,
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
