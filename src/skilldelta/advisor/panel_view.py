"""The evidence of one suite as an advisor sees it: rows in scope, scores, intervals, chances, familiarity.

What was learned from it is kept for the next question.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skilldelta import bounds, intervals
from skilldelta.advisor.advice import Question
from skilldelta.advisor.learned_states import LearnedPanel, Learner
from skilldelta.arrays import Vectors
from skilldelta.bank.index import Index
from skilldelta.bank.store import Bank
from skilldelta.costs import Cost, TokenCosts
from skilldelta.encoders import Encoder
from skilldelta.estimators.base import Score, Target
from skilldelta.estimators.blend.blend import Scored
from skilldelta.estimators.paper_rule import PaperRule
from skilldelta.gate import Gate
from skilldelta.intervals import Interval
from skilldelta.predictor import Prediction, Settings
from skilldelta.probability import Chance, Probabilities, fit_probabilities, new_family_chance
from skilldelta.records import Agent
from skilldelta.resemblance import Familiarity, nearness
from skilldelta.support import Scope, Support

_MOST_VIEWS = 16
"""Views that are kept warm."""
_ENOUGH_FOR_CHANCES = 20
"""Pairs below which a curve over scores would be a guess."""


class PanelViews:
    """The evidence of one agent, a view per suite, estimator and settings, kept for the next question."""

    def __init__(self, bank: Bank, encoder: Encoder, agent: Agent, learner: Learner | None = None) -> None:
        self._learner = learner
        self._bank = bank
        self._encoder = encoder
        self._agent = agent
        self._indexes: dict[str, Index] = {}
        self._views: dict[tuple[str, str, Settings | None], PanelView] = {}
        self._recorded: dict[tuple[str, ...], _Recorded] = {}

    def of(self, suite: str, gate: Gate) -> PanelView:
        """The view of one suite that a gate needs."""
        if suite not in self._indexes:
            self._indexes[suite] = Index(self._bank, self._encoder, self._agent, suite=suite)
        # The blend has no settings.
        name = (suite, gate.estimator, gate.settings if gate.estimator == "paper" else None)
        if name not in self._views:
            if len(self._views) >= _MOST_VIEWS:  # each may hold a score per recorded task
                self._views.pop(next(iter(self._views)))
            self._views[name] = PanelView(
                self._indexes[suite], gate.estimator, gate.settings, self._recorded, self._learner
            )
        return self._views[name]


class PanelView:
    """All pairs of the agent on one suite, and what was fitted to them; renewed when the evidence has moved on."""

    def __init__(
        self,
        index: Index,
        estimator: str,
        settings: Settings,
        recorded: dict[tuple[str, ...], _Recorded],
        learner: Learner | None = None,
    ) -> None:
        """`recorded` are the scopes whose tasks are known, shared with other views."""
        self.index = index
        self._estimator = estimator
        self._settings = settings
        self._learned = LearnedPanel(index, learner)
        self._recorded = recorded
        self._scored_rows: tuple[Support, Scored] | None = None
        self._probabilities: tuple[Scored, Probabilities] | None = None

    def rows_in_scope(self, question: Question, choice: Scope) -> tuple[Scope, Support]:
        """The rows that a choice of scope leaves for a question, and the scope that they make up.

        A family of the skill without any other task gives way to the skill, and so does a family that is not known.
        """
        scope = self.index.scope
        if choice == "global":
            return "global", scope()
        if choice == "family" and question.family:
            return "family", scope(family=question.family)
        if choice == "skill-family" and question.family:
            rows = scope(skill=question.skill, family=question.family)
            if len(rows.row_of_task) > (question.task_id in rows.row_of_task):
                return "skill-family", rows
        return "skill", scope(skill=question.skill)

    def score(self, question: Question, query: Vectors, near: Prediction) -> Score:
        """The estimator's gain; without any evidence in scope every estimator falls back to 0."""
        if near.is_fallback:
            return Score(0.0)
        if self._estimator == "paper":
            return Score.of_one("paper", near.gain)
        return self._learned.score(Target(query, question.text, question.family, question.skill, question.task_id))

    def chance(self, score: Score) -> Chance | None:
        """How likely one more pair shows help or harm at this predicted gain; None on a small panel.

        As far as the target is unlike the recorded tasks it is what families show on the whole.
        """
        scored = self._scored()
        if len(scored.gains) < _ENOUGH_FOR_CHANCES:
            return None
        if self._probabilities is None or self._probabilities[0] is not scored:
            self._probabilities = scored, fit_probabilities(scored.scores, scored.gains)
        chance = self._probabilities[1].at(score.gain)
        if score.credit == 1:
            return chance
        return chance.blended(new_family_chance(scored.gains, scored.families), score.credit)

    def usual_chance(self) -> Chance | None:
        """How often pairs of this panel showed help and harm, whatever the task; None on a small panel."""
        gains = self._scored().gains
        if len(gains) < _ENOUGH_FOR_CHANCES:
            return None
        return Chance(float((gains > 0).mean()), float((gains < 0).mean()))

    def familiarity(
        self, question: Question, scope: Scope, rows: Support, query: Vectors, score: Score
    ) -> float | None:
        """The blend's, else the scope's, without the task's own record; None where it has too few tasks to say."""
        if self._estimator == "blend":
            return score.familiarity
        name = (question.suite, scope, question.family if "family" in scope else "", question.skill)
        recorded = self._recorded.get(name)
        if recorded is None or recorded.rows is not rows:  # the evidence has changed
            recorded = _Recorded.of(rows)
            if len(rows):  # families that nobody recorded are as many as anybody likes to name
                self._recorded[name] = recorded
        if recorded.usual is None:
            return None
        own = recorded.place.get(question.task_id) if question.task_id else None
        return recorded.usual.at(nearness(recorded.vectors, query, excluded=None if own is None else np.array([own])))

    def cost(self, question: Question, rows: Support, near: Prediction, price: float | None) -> Cost | None:
        """The tokens that the skill is predicted to add."""
        names = {"family": question.family, "skill": question.skill, "task_id": question.task_id}
        return TokenCosts.of(rows).predict(near.rows, **names, price=price)

    def interval(self, gate: Gate, question: Question, rows: Support, near: Prediction, score: Score) -> Interval:
        """The blend's own interval, that of the nearest pairs' expected gain, or that of the estimator's errors."""
        level, method, at = gate.level, gate.interval_method, near.rows
        if method == intervals.BLEND:
            if score.spread is None:
                return Interval(-1.0, 1.0, level, method)
            deviation, freedom = score.spread.deviation, score.spread.freedom
            return intervals.posterior(score.gain, deviation=deviation, freedom=freedom, level=level)
        if method == intervals.CONFORMAL:
            known = self._scored()
            residuals = intervals.Residuals.of(known.scores, known.gains, known.families)
            return intervals.conformal(score.gain, residuals, family=question.family, level=level)
        found = intervals.Neighborhood(near.weights, rows.y0[at], rows.y1[at], rows.r0[at], rows.r1[at])
        interval = intervals.interval(method, found, level=level)
        if not gate.lipschitz and not gate.epsilon:
            return interval
        # The whole B_delta of the paper: what neighbours at a distance may miss beside the noise of their executions.
        bound = bounds.error_bound(
            radius=bounds.radius(near.weights, near.similarities),
            noise=bounds.noise(near.weights, rows.r0[at], rows.r1[at]),
            delta=1 - level,
            smoothness=gate.lipschitz,
            residual=gate.epsilon,
        )
        return Interval(max(-1.0, near.gain - bound), min(1.0, near.gain + bound), level, "b_delta")

    def _scored(self) -> Scored:
        if self._estimator == "blend":
            return self._learned.scored()
        rows = self.index.scope()
        if self._scored_rows is None or self._scored_rows[0] is not rows:
            scores = PaperRule(self._settings).leave_one_out(rows).values
            self._scored_rows = rows, Scored(scores, rows.gains, rows.families)
        return self._scored_rows[1]


@dataclass(frozen=True, slots=True, eq=False)
class _Recorded:
    """The distinct tasks of a scope, and what is usual among them."""

    rows: Support
    vectors: Vectors  # (tasks, dim)
    place: Mapping[str, int]
    usual: Familiarity | None

    @classmethod
    def of(cls, rows: Support) -> _Recorded:
        first = np.array([at[0] for at in rows.row_of_task.values()], np.int64)
        vectors = rows.vectors if len(first) == len(rows) else rows.vectors[first]
        return cls(rows, vectors, {task: i for i, task in enumerate(rows.row_of_task)}, Familiarity.of(vectors))
