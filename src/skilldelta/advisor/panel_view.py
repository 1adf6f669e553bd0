"""The evidence of one suite as an advisor sees it: rows in scope, scores, intervals, chances, familiarity.

What was learned from it is kept for the next question.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skilldelta import bounds, intervals
from skilldelta.advisor.advice import EstimatorName, Policy, Question, ScopeChoice
from skilldelta.arrays import Vectors
from skilldelta.bank.index import Index
from skilldelta.bank.store import Bank
from skilldelta.costs import Cost, TokenCosts
from skilldelta.encoders import Encoder
from skilldelta.errors import InputError
from skilldelta.estimators.base import Score, Target
from skilldelta.estimators.paper_rule import PaperRule
from skilldelta.estimators.stack import FittedStack, Stack
from skilldelta.estimators.stack.kept import KeptStack, NotKeptError, code_version, parts_of
from skilldelta.estimators.stack.stack import Scored, left_out_with, rows_without
from skilldelta.estimators.stack.stack_panel import Key
from skilldelta.gate import Interval
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

    def __init__(self, bank: Bank, encoder: Encoder, agent: Agent) -> None:
        self._bank = bank
        self._encoder = encoder
        self._agent = agent
        self._indexes: dict[str, Index] = {}
        self._views: dict[tuple[str, str, Settings | None], PanelView] = {}
        self._recorded: dict[tuple[str, ...], _Recorded] = {}

    def of(self, suite: str, policy: Policy) -> PanelView:
        """The view of one suite that a policy needs."""
        if suite not in self._indexes:
            self._indexes[suite] = Index(self._bank, self._encoder, self._agent, suite=suite)
        # The stack has no settings.
        name = (suite, policy.estimator, policy.settings if policy.estimator == "skilldelta" else None)
        if name not in self._views:
            if len(self._views) >= _MOST_VIEWS:  # each may hold a score per recorded task
                self._views.pop(next(iter(self._views)))
            self._views[name] = PanelView(self._indexes[suite], policy.estimator, policy.settings, self._recorded)
        return self._views[name]


class PanelView:
    """All pairs of the agent on one suite, and what was fitted to them; renewed when the evidence has moved on."""

    def __init__(
        self, index: Index, estimator: EstimatorName, settings: Settings, recorded: dict[tuple[str, ...], _Recorded]
    ) -> None:
        """`recorded` are the scopes whose tasks are known, shared with other views."""
        self.index = index
        self._estimator = estimator
        self._settings = settings
        self._stacks = Stacks(index)
        self._recorded = recorded
        self._revision: int | None = None
        self._probabilities: Probabilities | None = None

    def rows_in_scope(self, question: Question, choice: ScopeChoice) -> tuple[Scope, Support]:
        """The rows that a choice of scope leaves for a question."""
        scope = self.index.scope
        if choice == "paper":
            choice = "family" if question.family else "skill"
        if choice == "global":
            return "global", scope()
        if choice == "family":
            if not question.family:
                message = "scope family needs the target's family; give --family, or use scope skill"
                raise InputError(message, setting="scope")
            return "family", scope(family=question.family)
        if choice == "auto" and question.family:
            rows = scope(skill=question.skill, family=question.family)
            if len(rows.row_of_task) > (question.task_id in rows.row_of_task):
                return "family", rows
        return "skill", scope(skill=question.skill)

    def score(self, question: Question, query: Vectors, near: Prediction) -> Score:
        """The estimator's gain; without any evidence in scope every estimator falls back to 0."""
        if near.is_fallback:
            return Score(0.0)
        if self._estimator == "skilldelta":
            return Score.of_one("skilldelta", near.gain)
        return self._stacks.score(Target(query, question.text, question.family, question.skill, question.task_id))

    def chance(self, score: Score) -> Chance | None:
        """How likely one more pair shows help or harm at this predicted gain; None on a small panel.

        As far as the target is unlike the recorded tasks it is what families show on the whole.
        """
        revision = self.index.revision()
        if revision != self._revision or self._probabilities is None:
            known = self._scored()
            if len(known.gains) < _ENOUGH_FOR_CHANCES:
                return None
            self._probabilities, self._revision = fit_probabilities(known.scores, known.gains), revision
        found = self._probabilities.at(score.gain)
        if score.credit == 1:
            return found
        known = self._scored()
        return found.blended(new_family_chance(known.gains, known.families), score.credit)

    def familiarity(
        self, question: Question, scope: Scope, rows: Support, query: Vectors, score: Score
    ) -> float | None:
        """The stack's, else the scope's, without the task's own record; None where it has too few tasks to say."""
        if self._estimator == "stack":
            return score.familiarity
        name = (question.suite, scope, question.family if scope == "family" else "", question.skill)
        known = self._recorded.get(name)
        if known is None or known.rows is not rows:  # the evidence has changed
            known = self._recorded[name] = _Recorded.of(rows)
        if known.usual is None:
            return None
        own = known.place.get(question.task_id) if question.task_id else None
        return known.usual.at(nearness(known.vectors, query, excluded=None if own is None else np.array([own])))

    def cost(self, question: Question, rows: Support, near: Prediction, price: float | None) -> Cost | None:
        """The tokens that the skill is predicted to add."""
        names = {"family": question.family, "skill": question.skill, "task_id": question.task_id}
        return TokenCosts.of(rows).predict(near.rows, **names, price=price)

    def interval(self, policy: Policy, question: Question, rows: Support, near: Prediction, score: Score) -> Interval:
        """The stack's own interval, that of the nearest pairs' expected gain, or that of the estimator's errors."""
        level, method, at = policy.level, policy.interval_method, near.rows
        if method == intervals.STACK:
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
        if not policy.smoothness and not policy.residual:
            return interval
        # The whole B_delta of the paper: what neighbours at a distance may miss beside the noise of their executions.
        bound = bounds.error_bound(
            radius=bounds.radius(near.weights, near.similarities),
            noise=bounds.noise(near.weights, rows.r0[at], rows.r1[at]),
            delta=1 - level,
            smoothness=policy.smoothness,
            residual=policy.residual,
        )
        return Interval(max(-1.0, near.gain - bound), min(1.0, near.gain + bound), level, "b_delta")

    def _scored(self) -> Scored:
        if self._estimator == "stack":
            return self._stacks.scored()
        rows = self.index.scope()
        return Scored(PaperRule(self._settings).leave_one_out(rows).values, rows.gains, rows.families)


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


_WHOLE = "all"


class Stacks:
    """The stacks of one agent on one suite under one encoder, by what they have not seen.

    A stack is read from the bank where another process has learned it, else fitted and kept there. A kept one is good for
    one revision of the evidence and one version of the code; one that this process has fitted grows with the evidence. A
    recorded task is scored by a stack that never saw it: in a large panel there is one per fold, kept like the whole
    one; in a small panel it is fitted anew, which takes less time than reading it would save.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._revision: int | None = None
        self._fitted: dict[str, FittedStack] = {}
        self._kept: dict[str, KeptStack] = {}

    def score(self, target: Target) -> Score:
        """The score of a target by a stack that never saw its task."""
        self._refresh()
        name = self._left_out_for(target)
        if name not in self._fitted:
            try:
                return self._from_bank(name, target.task_id).score(target)
            except NotKeptError:
                pass
        known = name in self._fitted
        score = self._fit(name, target.task_id).score(target)
        if not known:  # after the score, which may have made parts that only some targets need
            self._keep(name)
        return score

    def scored(self) -> Scored:
        """The scores of recorded rows, each made without its own outcome."""
        self._refresh()
        if _WHOLE not in self._fitted:
            try:
                return self._from_bank(_WHOLE, "").scored
            except NotKeptError:
                self._fit(_WHOLE, "")
                self._keep(_WHOLE)
        return self._fitted[_WHOLE].scored

    def _refresh(self) -> None:
        """Let go of what belongs to an earlier revision; a whole stack of this process grows."""
        revision = self._index.revision()
        if revision == self._revision:
            return
        whole = self._fitted.get(_WHOLE)
        self._fitted = {} if whole is None else {_WHOLE: whole.grown(self._index.scope())}
        self._kept, self._revision = {}, revision

    def _left_out_for(self, target: Target) -> str:
        if not target.task_id:
            return _WHOLE
        tasks = self._tasks()
        return left_out_with(target.task_id, len(tasks)) if target.task_id in tasks else _WHOLE

    def _tasks(self) -> frozenset[str]:
        try:
            return frozenset(self._from_bank(_WHOLE, "").names.tasks.tolist())
        except NotKeptError:
            return frozenset(self._index.scope().row_of_task)

    def _from_bank(self, name: str, task_id: str) -> KeptStack:
        if name not in self._kept:
            place = self._place(name)
            self._kept[name] = KeptStack(
                lambda part: self._index.learned(place, part), lambda key: self._rows_of(key, name, task_id)
            )
        return self._kept[name]

    def _rows_of(self, key: Key, name: str, task_id: str) -> Support:
        family, skill = key
        return _seen(self._index.scope(skill=skill, family=family or None), name, task_id)

    def _fit(self, name: str, task_id: str) -> FittedStack:
        if name not in self._fitted:
            self._fitted[name] = Stack().fit(_seen(self._index.scope(), name, task_id))
        return self._fitted[name]

    def _keep(self, name: str) -> None:
        """Keep a stack, if it is of the revision that the bank still has; that it cannot be kept is no one's problem."""
        if not name.startswith("task ") and self._revision is not None:
            self._index.keep_learned(self._place(name), parts_of(self._fitted[name]), revision=self._revision)

    def _place(self, name: str) -> str:
        """A name that another agent, suite, encoder or version of the code does not share."""
        told = json.dumps([name, *self._index.identity])
        return f"stack:{hashlib.blake2b(told.encode(), digest_size=16).hexdigest()} {code_version()}"


def _seen(support: Support, name: str, task_id: str) -> Support:
    """The rows that a stack of this name may see."""
    return support if name == _WHOLE else support.rows(np.flatnonzero(rows_without(support.task_ids, task_id, name)))
