"""The paper's rule behind the estimator contract: policy `skilldelta`. The rule itself is `predictor`."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skilldelta.arrays import Floats, Ints
from skilldelta.estimators.base import Score, Scores, Target
from skilldelta.predictor import PAPER, Prediction, Settings, predict, predict_each
from skilldelta.support import Scope, Support, scope_label


@dataclass(frozen=True, slots=True)
class PaperRule:
    """Cosine-weighted signed gains of the k nearest tasks in scope."""

    settings: Settings = PAPER
    scope: Scope = "family"

    @property
    def name(self) -> str:
        """The paper's rule keeps its name whatever its settings."""
        return "skilldelta"

    def leave_one_out(self, support: Support) -> Scores:
        """Algorithm 1 with every row as its own target; empty support scores 0."""
        found = predict_each(support, self.scope, settings=self.settings)
        return Scores(found.gains, supported=found.eligible > 0)

    def fit(self, support: Support) -> FittedPaperRule:
        """Nothing is fitted: the rows of each scope are looked up once."""
        return FittedPaperRule(RowsByScope.of(support, self.scope), self.settings)


@dataclass(frozen=True, slots=True)
class FittedPaperRule:
    """The rule with its evidence at hand."""

    rows: RowsByScope
    settings: Settings

    def score(self, target: Target) -> Score:
        """The predicted gain, 0 where nothing is in scope."""
        gain = self.rows.predict(target, self.rows.support.gains, self.settings).gain
        return Score(gain, {"skilldelta": gain}, {"skilldelta": 1.0})


@dataclass(frozen=True, slots=True)
class RowsByScope:
    """The rows of a support by scope label, for scoring one target at a time."""

    support: Support
    scope: Scope
    by_label: dict[str, Ints] = field(default_factory=dict)

    @classmethod
    def of(cls, support: Support, scope: Scope) -> RowsByScope:
        """Rows keep record order within a scope, which breaks ties."""
        labels = support.scope_labels(scope)
        return cls(support, scope, {str(labels[block[0]]): block for block in support.blocks(scope)})

    def eligible(self, target: Target) -> Ints:
        """The rows in the target's scope that are not its own task, in record order."""
        label = scope_label(self.scope, family=target.family, skill=target.skill)
        rows = self.by_label.get(label, np.empty(0, np.int64))
        return rows[self.support.task_ids[rows] != target.task_id] if target.task_id else rows

    def predict(self, target: Target, outcomes: Floats, settings: Settings) -> Prediction:
        """Algorithm 1 for one target over any outcome of the support's rows."""
        rows = self.eligible(target)
        return predict(target.vector, self.support.vectors[rows], outcomes[rows], settings=settings)
