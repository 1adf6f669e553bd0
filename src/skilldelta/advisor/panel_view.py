"""What an advisor learns from the whole panel, once a revision of the bank: the fitted stack, calibrated chances, errors."""

from __future__ import annotations

from typing import Literal

from skilldelta.bank.index import Index, ScopeRows
from skilldelta.estimators.base import Score, Target
from skilldelta.estimators.paper_rule import PaperRule
from skilldelta.estimators.stack import FittedStack, Stack
from skilldelta.estimators.stack.stack import Scored
from skilldelta.intervals import Residuals
from skilldelta.predictor import Settings
from skilldelta.probability import Chance, Probabilities, fit_probabilities

_ENOUGH_FOR_CHANCES = 20
"""Pairs below which a curve over scores would be a guess."""


class PanelView:
    """All pairs of the agent, and what was fitted to them; renewed when the index has a new snapshot."""

    def __init__(self, index: Index, estimator: Literal["skilldelta", "stack"], settings: Settings) -> None:
        self._index = index
        self._estimator = estimator
        self._settings = settings
        self._rows: ScopeRows | None = None
        self._stack: FittedStack | None = None
        self._probabilities: Probabilities | None = None

    def score(self, target: Target) -> Score:
        """The stack's score of a new target."""
        return self._fitted(self._current()).score(target)

    def chance(self, gain: float) -> Chance | None:
        """How likely one more pair shows help or harm at this predicted gain; None on a small panel."""
        rows = self._current()
        if len(rows) < _ENOUGH_FOR_CHANCES:
            return None
        if self._probabilities is None:
            known = self._scored(rows)
            self._probabilities = fit_probabilities(known.scores, known.gains)
        return self._probabilities.at(gain)

    def residuals(self) -> Residuals:
        """How wrong the estimator was on the recorded tasks, each predicted without its own outcome."""
        known = self._scored(self._current())
        return Residuals.of(known.scores, known.gains, known.families)

    def _current(self) -> ScopeRows:
        rows = self._index.scope()
        if rows is not self._rows:
            self._stack = None if self._stack is None else self._stack.grown(rows.support)
            self._rows, self._probabilities = rows, None
        return rows

    def _fitted(self, rows: ScopeRows) -> FittedStack:
        if self._stack is None:
            self._stack = Stack().fit(rows.support)
        return self._stack

    def _scored(self, rows: ScopeRows) -> Scored:
        if self._estimator == "stack":
            return self._fitted(rows).scored
        return Scored(PaperRule(self._settings).leave_one_out(rows.support).values, rows.gains, rows.families)
