"""Completes a question from the bank, encodes its text, and lets the fitted gate of its suite answer."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from skilldelta.advisor.carried_over import SkillVersion, edits_of, for_version
from skilldelta.advisor.learned_states import Learner
from skilldelta.advisor.panel_view import PanelViews
from skilldelta.bank.store import Bank
from skilldelta.encoders import Encoder, load_encoder
from skilldelta.errors import InputError
from skilldelta.estimators.base import Target
from skilldelta.gate import Answer, Gate, Question
from skilldelta.records import Agent


class Advisor:
    """Answers questions about one agent from one bank. Safe for concurrent readers; a grown bank is noticed.

    Parameters:
        bank: An open bank.
        encoder: Turns task texts into vectors; None is the bundled one.
        agent: Whose evidence counts, or its name; None is the default agent of the bank, or its only one.
        gate: How to decide; None is the default gate.
        learner: Learns new evidence behind the questions; without one, a question after new evidence waits until it
            is learned.

    Examples:
        >>> from skilldelta import Question
        >>> answer = Advisor(bank).ask(Question("convert four miles to feet", "units-skill"))
        >>> answer.decision.action, answer.eligible
        ('use', 4)
    """

    def __init__(
        self,
        bank: Bank,
        encoder: Encoder | None = None,
        *,
        agent: Agent | str | None = None,
        gate: Gate | None = None,
        learner: Learner | None = None,
    ) -> None:
        self._bank = bank
        self._agent = agent if isinstance(agent, Agent) else bank.resolve_agent(agent)
        self._encoder = encoder or load_encoder()
        self._gate = gate or Gate()
        self._panels = PanelViews(bank, self._encoder, self._agent, learner)

    def under(self, gate: Gate) -> Advisor:
        """An advisor that decides by another gate from the same evidence, which both keep warm together.

        Parameters:
            gate: The other gate.

        Returns:
            The other advisor.
        """
        other = copy(self)
        other._gate = gate
        return other

    def ask(self, question: Question, *, explain: bool = False) -> Answer:
        """Predict, decide and explain. No evidence in scope is an answer (skip), not an error.

        Parameters:
            question: The task, the skill and what else is known.
            explain: Also say what the gain is made of, the chances of help and harm, and the cost.

        Returns:
            The decision and everything that it rests on.

        Raises:
            InputError: The text is empty, or the bank does not know the skill or the suite.
        """
        if not question.text.strip():
            raise InputError("the task text is empty; give the question that the agent will see")
        question = self._completed(question)
        vector = self._encoder.encode([question.text])[0]
        target = Target(vector, question.text, question.family, question.skill, question.task_id)
        gate = question.gate or self._gate
        answer = self._panels.fitted(question.suite, gate).decide(target, explain=explain or question.explain)
        if answer.decision.is_fallback:
            answer = self._from_previous_version(question, target, gate) or answer
        return replace(answer, agent=self._agent.name, suite=question.suite)

    def _from_previous_version(self, question: Question, target: Target, gate: Gate) -> Answer | None:
        """What runs with earlier versions of the skill say, where the current one has none; never under the paper's rule."""
        agent, suite, skill_id = self._agent, question.suite or None, question.skill
        if gate.estimator == "paper":
            return None
        digests = {pair.skill_digest for pair in self._bank.pairing(agent=agent, suite=suite, skill_id=skill_id).stale}
        versions = [skill for skill in self._bank.skills() if skill.skill_id == skill_id]
        recorded = next((skill for skill in reversed(versions) if skill.digest in digests), None)
        if recorded is None:
            return None
        rows = self._bank.support(self._encoder, agent=agent, suite=suite, skill_id=skill_id, include_stale=True)
        answer = gate.fit(rows).decide(target, explain=question.explain)
        edits = edits_of(self._bank.skills(), self._bank.executions(agent=agent))
        return for_version(answer, gate, recorded, SkillVersion.of(versions[-1]), edits)

    def _completed(self, question: Question) -> Question:
        """The question with the suite that may answer it and, for a task that the suite has, the family it has there."""
        names = {"skill_id": question.skill, "task_id": question.task_id}
        suite = question.suite or self._bank.resolve_suite(self._agent, **names)
        family = question.family
        if question.task_id and not family:
            family = next((task.family for task in self._bank.tasks(suite, question.task_id)), "")
        return replace(question, suite=suite or "", family=family)
