"""The evidence of one suite in a bank, as a gate asks for it: pairs in scope, scores, chances, what is usual.

What was learned from it is kept for the next question.
"""

from __future__ import annotations

from skilldelta.advisor.learned_states import LearnedPanel, Learner
from skilldelta.bank.index import Index
from skilldelta.bank.store import Bank
from skilldelta.encoders import Encoder
from skilldelta.estimators.base import Estimator, FittedEstimator, Needs, Score, Scored, Target
from skilldelta.estimators.registry import deciding_entry
from skilldelta.gate import FittedGate, Gate
from skilldelta.gate.fitted_gate import (
    ChanceCurve,
    ScopeTasks,
    estimator_of,
    left_out_for,
    score_without_own,
    scored_without,
)
from skilldelta.records import Agent
from skilldelta.support import Scope, Support

# Views that are kept warm; each may hold a score per recorded task.
_MOST_VIEWS = 16
# The estimator whose fitted states are kept in the bank.
_LEARNS = "blend"


class PanelViews:
    """The evidence of one agent, a view per suite and estimator, kept for the next question."""

    def __init__(self, bank: Bank, encoder: Encoder, agent: Agent, learner: Learner | None = None) -> None:
        self._learner = learner
        self._bank = bank
        self._encoder = encoder
        self._agent = agent
        self._indexes: dict[str, Index] = {}
        self._views: dict[tuple[object, ...], PanelView] = {}
        self._recorded: dict[tuple[str, ...], ScopeTasks] = {}

    def fitted(self, suite: str, gate: Gate) -> FittedGate:
        """A gate over the evidence of one suite."""
        if suite not in self._indexes:
            self._indexes[suite] = Index(self._bank, self._encoder, self._agent, suite=suite)
        takes = deciding_entry(gate.estimator).takes
        name = (suite, gate.estimator, *(getattr(gate, setting) for setting in takes))
        if name not in self._views:
            if len(self._views) >= _MOST_VIEWS:
                self._views.pop(next(iter(self._views)))
            texts = {skill.skill_id: skill.text for skill in self._bank.skills() if skill.text}
            needs = Needs(skill_texts=texts)
            self._views[name] = PanelView(self._indexes[suite], gate, needs, self._recorded, self._learner)
        return FittedGate(gate, self._views[name])


class PanelView:
    """All pairs of the agent on one suite, and what was fitted to them; renewed when the evidence has moved on."""

    def __init__(
        self,
        index: Index,
        gate: Gate,
        needs: Needs,
        recorded: dict[tuple[str, ...], ScopeTasks],
        learner: Learner | None = None,
    ) -> None:
        """`recorded` are the scopes whose tasks are known, shared with other views."""
        self.index = index
        self._entry = deciding_entry(gate.estimator)
        self._estimator: Estimator = estimator_of(gate, needs)
        self._learned = LearnedPanel(index, learner) if self._entry.name == _LEARNS else None
        self._recorded = recorded
        self._fitted: tuple[Support, FittedEstimator] | None = None
        self._scored: tuple[Support, dict[str, Scored]] | None = None
        self._curve: tuple[Scored, ChanceCurve | None] | None = None

    def in_scope(self, scope: Scope, target: Target) -> tuple[Scope, Support]:
        """As `Support.scope_of` has it, from rows that the index keeps by scope."""
        if scope == "global":
            return "global", self.index.scope()
        if scope == "family" and target.family:
            return "family", self.index.scope(family=target.family)
        if scope == "skill-family" and target.family:
            rows = self.index.scope(skill=target.skill, family=target.family)
            if len(rows.row_of_task) > (target.task_id in rows.row_of_task):
                return "skill-family", rows
        return "skill", self.index.scope(skill=target.skill)

    def score(self, target: Target) -> Score:
        """By the learned states of the bank, or by the estimator as it is fitted to the evidence of now."""
        if self._learned is not None:
            return self._learned.score(target)
        rows = self.index.scope()
        if self._fitted is None or self._fitted[0] is not rows:
            self._fitted = rows, self._estimator.fit(rows)
        return score_without_own(self._entry, self._estimator, self._fitted[1], rows, target)

    def scored(self, target: Target) -> Scored:
        """Those of the learned states, else from `leave_one_out`, once for the evidence of now."""
        if self._learned is not None:
            return self._learned.scored(target)
        rows = self.index.scope()
        if self._scored is None or self._scored[0] is not rows:
            self._scored = rows, {}
        name, by_name = left_out_for(rows, target), self._scored[1]
        if name not in by_name:
            by_name[name] = scored_without(self._estimator, rows, name)
        return by_name[name]

    def recorded_tasks(self, scope: Scope, target: Target, rows: Support) -> ScopeTasks:
        """Kept by scope until the evidence changes."""
        name = (*map(str, self.index.identity), scope, target.family if "family" in scope else "", target.skill)
        recorded = self._recorded.get(name)
        if recorded is None or recorded.rows is not rows:  # the evidence has changed
            recorded = ScopeTasks.of(rows)
            if len(rows):  # families that nobody recorded are as many as anybody likes to name
                self._recorded[name] = recorded
        return recorded

    def chance_curve(self, target: Target) -> ChanceCurve | None:
        """Kept until other scores are asked for; None on a small panel."""
        scored = self.scored(target)
        if self._curve is None or self._curve[0] is not scored:
            self._curve = scored, ChanceCurve.of(scored)
        return self._curve[1]
