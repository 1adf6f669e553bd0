"""The paper's rule behind the estimator contract, policy `skilldelta`, and the two controls that average rows of its scope.

The rule itself is `predictor`. The with-skill-only control has the paper's neighbours and weights, but the success with
the skill instead of the gain, so the difference between the two is the value of pairing. The family mean averages all
other tasks of the family, near or far.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from skilldelta.arrays import Floats, Ints, tie_rounding
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


MORE_LIKELY_THAN_NOT = 0.5
"""The paper ranks with this score and names no threshold; as a policy it uses the skill when success is the likelier."""


@dataclass(frozen=True, slots=True)
class WithSkillOnly:
    """Mean success with the skill over the paper's neighbours."""

    settings: Settings = PAPER
    scope: Scope = "family"
    threshold: float = MORE_LIKELY_THAN_NOT

    @property
    def name(self) -> str:
        """The policy name."""
        return "with_skill_only"

    def leave_one_out(self, support: Support) -> Scores:
        """Exactly the weights of the paper's rule, on y1; empty support scores 0."""
        treated = support.with_outcomes(np.zeros(len(support)), support.y1)
        values = predict_each(treated, self.scope, settings=replace(self.settings, label="gain")).gains
        return Scores(values, self.threshold, is_gain=False)

    def fit(self, support: Support) -> FittedWithSkillOnly:
        """Nothing is fitted: the rows of each scope are looked up once."""
        return FittedWithSkillOnly(RowsByScope.of(support, self.scope), replace(self.settings, label="gain"))


@dataclass(frozen=True, slots=True)
class FittedWithSkillOnly:
    """The control with its evidence at hand."""

    rows: RowsByScope
    settings: Settings

    def score(self, target: Target) -> Score:
        """Expected success with the skill: a level, not a gain, to be compared with the policy's own threshold."""
        level = self.rows.predict(target, self.rows.support.y1, self.settings).gain
        return Score(level, {"with_skill_only": level}, {"with_skill_only": 1.0})


@dataclass(frozen=True, slots=True)
class FamilyMean:
    """One number per family, the target's own task left out."""

    @property
    def name(self) -> str:
        """The policy name."""
        return "family_mean"

    def leave_one_out(self, support: Support) -> Scores:
        """Family sums minus the task's own rows; a family of one task scores 0."""
        families = np.unique(support.scope_labels("family"), return_inverse=True)[1]
        own = np.unique(families * (len(support) + 1) + support.task_codes, return_inverse=True)[1]
        gains = support.gains
        total = _sums(families, gains) - _sums(own, gains)
        count = np.bincount(families)[families] - np.bincount(own)[own]
        return Scores(_mean(total, count), supported=count > 0)

    def fit(self, support: Support) -> FittedFamilyMean:
        """Rows by family, looked up once."""
        return FittedFamilyMean(RowsByScope.of(support, "family"))


@dataclass(frozen=True, slots=True)
class FittedFamilyMean:
    """The families' gains at hand."""

    rows: RowsByScope

    def score(self, target: Target) -> Score:
        """The mean gain of the family's other tasks, 0 where there is none."""
        gains = self.rows.support.gains[self.rows.eligible(target)]
        mean = float(_mean(np.array([gains.sum()]), np.array([len(gains)]))[0])
        return Score(mean, {"family_mean": mean}, {"family_mean": 1.0})


def _sums(codes: Ints, gains: Floats) -> Floats:
    """(n,) for each row the sum of its group."""
    return np.asarray(np.bincount(codes, weights=gains), np.float64)[codes]


def _mean(total: Floats, count: Ints) -> Floats:
    # A mean made by subtraction carries rounding error; without it, gains that cancel stay exactly zero.
    mean: Floats = tie_rounding(total / np.maximum(count, 1)) + 0.0  # no negative zero
    return np.where(count > 0, mean, 0.0)
