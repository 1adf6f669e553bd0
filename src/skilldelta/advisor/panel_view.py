"""What an advisor learns from the whole panel, once a revision of the bank: the fitted stack, and calibrated chances."""

from __future__ import annotations

from typing import Literal

from skilldelta.bank.index import Index, ScopeRows
from skilldelta.estimators.base import Estimator, FittedEstimator, Score, Target
from skilldelta.estimators.paper_rule import PaperRule
from skilldelta.predictor import Settings
from skilldelta.probability import Chance, Probabilities, fit_probabilities

_ENOUGH_FOR_CHANCES = 20
"""Pairs below which a curve over scores would be a guess."""


class PanelView:
    """All pairs of the agent, and what was fitted to them; fitted anew when the index has a new snapshot."""

    def __init__(self, index: Index, estimator: Literal["skilldelta", "stack"], settings: Settings) -> None:
        self._index = index
        self._estimator = _estimator(estimator, settings)
        self._rows: ScopeRows | None = None
        self._fitted: FittedEstimator | None = None
        self._probabilities: Probabilities | None = None

    def score(self, target: Target) -> Score:
        """The estimator's score of a new target."""
        rows = self._current()
        if self._fitted is None:
            self._fitted = self._estimator.fit(rows.support)
        return self._fitted.score(target)

    def chance(self, gain: float) -> Chance | None:
        """How likely one more pair shows help or harm at this predicted gain; None on a small panel."""
        rows = self._current()
        if len(rows) < _ENOUGH_FOR_CHANCES:
            return None
        if self._probabilities is None:
            scores = self._estimator.leave_one_out(rows.support)
            self._probabilities = fit_probabilities(scores.values, rows.gains)
        return self._probabilities.at(gain)

    def _current(self) -> ScopeRows:
        rows = self._index.scope()
        if rows is not self._rows:
            self._rows, self._fitted, self._probabilities = rows, None, None
        return rows


def _estimator(name: Literal["skilldelta", "stack"], settings: Settings) -> Estimator:
    return PaperRule(settings)
