"""What an advisor learns from the whole panel, once a revision of the bank: the fitted stack, calibrated chances, errors."""

from __future__ import annotations

from typing import Literal

from skilldelta.advisor.stacks import Stacks
from skilldelta.bank.index import Index
from skilldelta.estimators.base import Score, Target
from skilldelta.estimators.paper_rule import PaperRule
from skilldelta.estimators.stack.stack import Scored
from skilldelta.intervals import Residuals
from skilldelta.predictor import Settings
from skilldelta.probability import Chance, Probabilities, fit_probabilities, new_family_chance

_ENOUGH_FOR_CHANCES = 20
"""Pairs below which a curve over scores would be a guess."""


class PanelView:
    """All pairs of the agent on one suite, and what was fitted to them; renewed when the evidence has moved on."""

    def __init__(self, index: Index, estimator: Literal["skilldelta", "stack"], settings: Settings) -> None:
        self._index = index
        self._estimator = estimator
        self._settings = settings
        self._stacks = Stacks(index)
        self._revision: int | None = None
        self._probabilities: Probabilities | None = None

    def score(self, target: Target) -> Score:
        """The stack's score of a new target."""
        return self._stacks.score(target)

    def chance(self, score: Score) -> Chance | None:
        """How likely one more pair shows help or harm at this predicted gain; None on a small panel.

        As far as the target is unlike the recorded tasks it is what families show on the whole.
        """
        revision = self._index.revision()
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

    def residuals(self) -> Residuals:
        """How wrong the estimator was on the recorded tasks, each predicted without its own outcome."""
        known = self._scored()
        return Residuals.of(known.scores, known.gains, known.families)

    def _scored(self) -> Scored:
        if self._estimator == "stack":
            return self._stacks.scored()
        rows = self._index.scope()
        return Scored(PaperRule(self._settings).leave_one_out(rows).values, rows.gains, rows.families)
