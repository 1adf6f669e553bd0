"""How a frozen panel predicts: the paper's rule in its historical variants, fixed together with their threshold.

Another estimator may give the gains; which pairs are in scope, and the threshold, are the rule's in any case.

Besides the main settings, the paper's prospective panels averaged all support of a family, took the nearest of all
families where a family had none, and set thresholds by rules of the support.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Ints
from skilldelta.errors import InputError, unknown_name
from skilldelta.estimators.base import Estimator, Target
from skilldelta.estimators.paper_rule import RowsByScope
from skilldelta.evaluation.thresholds import THRESHOLD_RULES, ThresholdRule, threshold_by_rule
from skilldelta.gate import check_threshold
from skilldelta.predictor import Label, Prediction, Settings, Weighting, predict, predict_each
from skilldelta.support import Scope, Support


@dataclass(frozen=True, slots=True, eq=False)
class FrozenGain:
    """A predicted gain, and the pairs in scope that it stands on."""

    gain: float
    near: Prediction


@dataclass(frozen=True, slots=True)
class FrozenRule:
    """Settings of a prospective panel; a threshold that is a rule is resolved from the support when it is sealed."""

    k: int | None = 6
    """Neighbours; None averages all support in scope."""
    scope: Scope = "family"
    weighting: Weighting = "cosine"
    label: Label = "gain"
    elsewhere: int | None = None
    """Neighbours from all scopes for a target whose own scope is empty; None leaves it without evidence."""
    threshold: float | ThresholdRule = 0.0

    def __post_init__(self) -> None:
        self.settings(1)
        if self.elsewhere is not None and self.elsewhere < 1:
            raise InputError(f"elsewhere must be at least 1, got {self.elsewhere}")
        if isinstance(self.threshold, str):
            if self.threshold not in THRESHOLD_RULES:
                raise unknown_name("threshold rule", self.threshold, THRESHOLD_RULES)
        else:
            check_threshold(self.threshold)

    def settings(self, in_scope: int) -> Settings:
        """The predictor's settings where so many rows are in scope."""
        return Settings(self.k if self.k is not None else max(1, in_scope), self.weighting, self.label)

    def predict(self, support: Support, targets: Sequence[Target]) -> list[Prediction]:
        """Algorithm 1 for new targets; rows are rows of the support."""
        in_scope = RowsByScope.of(support, self.scope)
        anywhere = RowsByScope.of(support, "global")
        return [self._predict(support, in_scope, anywhere, target) for target in targets]

    def _predict(self, support: Support, in_scope: RowsByScope, anywhere: RowsByScope, target: Target) -> Prediction:
        rows = in_scope.eligible(target)
        if len(rows) or self.elsewhere is None:
            return _from_rows(support, rows, target, self.settings(len(rows)))
        settings = Settings(self.elsewhere, self.weighting, self.label)
        return _from_rows(support, anywhere.eligible(target), target, settings)

    def gains(self, support: Support, targets: Sequence[Target], estimator: Estimator | None) -> list[FrozenGain]:
        """What is sealed for new targets: the rule's neighbours, and the gain of the rule or of another estimator.

        Without evidence in scope every estimator falls back to the rule's gain of 0, as the gate does.
        """
        near = self.predict(support, targets)
        if estimator is None:
            return [FrozenGain(found.gain, found) for found in near]
        fitted = estimator.fit(support)
        return [
            FrozenGain(float(fitted.score(target).gain) if found.eligible else found.gain, found)
            for target, found in zip(targets, near, strict=True)
        ]

    def leave_one_out(self, support: Support) -> Floats:
        """The same for every row of the support from the others, which is what threshold rules look at."""
        found = predict_each(support, self.scope, settings=self.settings(len(support)))
        if self.elsewhere is None or (found.eligible > 0).all():
            return found.gains
        settings = Settings(self.elsewhere, self.weighting, self.label)
        return np.where(found.eligible > 0, found.gains, predict_each(support, "global", settings=settings).gains)

    def resolve_threshold(self, support: Support, estimator: Estimator | None = None) -> float:
        """The number behind the threshold; a rule that looks at scores looks at those that will be compared with it."""
        if not isinstance(self.threshold, str):
            return float(self.threshold)
        if self.threshold != "balanced_accuracy":
            return threshold_by_rule(self.threshold, support, np.empty(0))
        scores = self.leave_one_out(support) if estimator is None else estimator.leave_one_out(support).values
        return threshold_by_rule(self.threshold, support, scores)


HISTORICAL: Mapping[str, FrozenRule] = {
    "main": FrozenRule(),
    "toolqa": FrozenRule(k=3, threshold=0.25),
    "medcalc": FrozenRule(k=3, threshold=150 / 440),
    "bigcode_scale": FrozenRule(k=None, threshold=0.105),
    "bigcode_natural": FrozenRule(k=None, elsewhere=240, threshold=-0.0258794),
}
"""The paper's frozen settings by panel. The first three thresholds of the stress tests were the `prevalence` of positive
gains in their support, the last the `balanced_accuracy` rule."""


def _from_rows(support: Support, rows: Ints, target: Target, settings: Settings) -> Prediction:
    found = predict(target.vector, support.vectors[rows], support.gains[rows], settings=settings)
    return Prediction(found.gain, rows[found.rows], found.similarities, found.weights, found.eligible)
