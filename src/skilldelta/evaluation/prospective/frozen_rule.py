"""How a frozen panel predicts: the paper's rule in its historical variants, fixed together with their threshold.

Besides the main settings, the paper's prospective panels averaged all support of a family, took the nearest of all
families where a family had none, and set thresholds by rules of the support.

Another estimator may give the gains; which pairs are in scope, and the threshold, are the rule's in any case. The paper's
rule is defined by its settings alone. Another estimator is defined by its code as well, so its version is sealed with it:
the same version must give the sealed predictions again, another one is not asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from skilldelta.arrays import Floats, Ints
from skilldelta.errors import InputError, unknown_name
from skilldelta.estimators.base import Estimator, Needs, Target
from skilldelta.estimators.paper_rule import RowsByScope
from skilldelta.estimators.registry import freezable, policies
from skilldelta.evaluation.prospective.seal import GATE_FIELDS, SealedSettings
from skilldelta.evaluation.sweeps import distinct_cuts, last_best
from skilldelta.gate import Action, Gate, check_threshold, decide
from skilldelta.predictor import Label, Prediction, Settings, Weighting, predict, predict_each
from skilldelta.renames import estimator_name
from skilldelta.support import Scope, Support
from skilldelta.version import __version__

PAPER_RULE = "paper"

ThresholdRule = Literal["prevalence", "balanced_accuracy"]
THRESHOLD_RULES: tuple[ThresholdRule, ...] = ("prevalence", "balanced_accuracy")


@dataclass(frozen=True, slots=True, eq=False)
class FrozenGain:
    """A predicted gain, and the pairs in scope that it stands on."""

    gain: float
    near: Prediction
    action: Action


@dataclass(frozen=True, slots=True)
class FrozenRule:
    """Settings of a prospective panel; a threshold that is a rule is resolved from the support when it is sealed."""

    k: int | None = 6
    """Neighbors; None averages all support in scope."""
    scope: Scope = "family"
    weighting: Weighting = "cosine"
    label: Label = "gain"
    elsewhere: int | None = None
    """Neighbors from all scopes for a target whose own scope is empty; None leaves it without evidence."""
    threshold: float | ThresholdRule = 0.0
    gate: Gate | None = None
    """A whole gate that decides, with the threshold above; None compares gains with the threshold."""

    def __post_init__(self) -> None:
        self.settings(1)
        if self.gate is not None and (self.k is None or self.label != "gain" or self.elsewhere is not None):
            raise InputError("a gate decides from k neighbors in scope and their gains; leave out the paper's variants")
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
        in_scope = RowsByScope(support, self.scope)
        anywhere = RowsByScope(support, "global")
        return [self._predict(support, in_scope, anywhere, target) for target in targets]

    def _predict(self, support: Support, in_scope: RowsByScope, anywhere: RowsByScope, target: Target) -> Prediction:
        rows = in_scope.eligible(target)
        if len(rows) or self.elsewhere is None:
            return _from_rows(support, rows, target, self.settings(len(rows)))
        settings = Settings(self.elsewhere, self.weighting, self.label)
        return _from_rows(support, anywhere.eligible(target), target, settings)

    def gains(
        self, support: Support, targets: Sequence[Target], estimator: Estimator | None, threshold: float
    ) -> list[FrozenGain]:
        """What is sealed for new targets: the rule's neighbors, the gain of the rule or of another estimator, the action.

        Without evidence in scope every estimator falls back to the rule's gain of 0, as the gate does.
        """
        near = self.predict(support, targets)
        if self.gate is not None:
            fitted_gate = replace(self.gate, threshold=threshold).fit(support)
            decisions = [fitted_gate.decide(target).decision for target in targets]
            return [FrozenGain(d.gain, at, d.action) for d, at in zip(decisions, near, strict=True)]
        gains = [prediction.gain for prediction in near]
        if estimator is not None:
            fitted = estimator.fit(support)
            gains = [
                float(fitted.score(target).gain) if prediction.eligible else prediction.gain
                for target, prediction in zip(targets, near, strict=True)
            ]
        return [
            FrozenGain(gain, at, decide(gain, threshold=threshold, eligible=at.eligible).action)
            for gain, at in zip(gains, near, strict=True)
        ]

    def leave_one_out(self, support: Support) -> Floats:
        """The same for every row of the support from the others, which is what threshold rules look at."""
        predictions = predict_each(support, self.scope, settings=self.settings(len(support)))
        if self.elsewhere is None or (predictions.eligible > 0).all():
            return predictions.gains
        settings = Settings(self.elsewhere, self.weighting, self.label)
        return np.where(
            predictions.eligible > 0, predictions.gains, predict_each(support, "global", settings=settings).gains
        )

    def resolve_threshold(self, support: Support, estimator: Estimator | None = None) -> float:
        """The number behind the threshold; a rule that looks at scores looks at those that will be compared with it."""
        if not isinstance(self.threshold, str):
            return float(self.threshold)
        if self.threshold == "prevalence":
            return positive_prevalence(support)
        scores = self.leave_one_out(support) if estimator is None else estimator.leave_one_out(support).values
        return best_balanced_accuracy(scores, support.gains)


# The paper's frozen settings by panel. The first three thresholds of the stress tests were the `prevalence` of positive
# gains in their support, the last the `balanced_accuracy` rule.
HISTORICAL: Mapping[str, FrozenRule] = {
    "main": FrozenRule(),
    "toolqa": FrozenRule(k=3, threshold=0.25),
    "medcalc": FrozenRule(k=3, threshold=150 / 440),
    "bigcode_scale": FrozenRule(k=None, threshold=0.105),
    "bigcode_natural": FrozenRule(k=None, elsewhere=240, threshold=-0.0258794),
}


def _from_rows(support: Support, rows: Ints, target: Target, settings: Settings) -> Prediction:
    prediction = predict(target.vector, support.vectors[rows], support.gains[rows], settings=settings)
    return Prediction(
        prediction.gain, rows[prediction.rows], prediction.similarities, prediction.weights, prediction.eligible
    )


def positive_prevalence(support: Support) -> float:
    """Share of the support whose observed gain is positive."""
    if not len(support):
        raise InputError("the prevalence of positive gains needs support; import or collect executions first")
    return float((support.gains > 0).mean())


def best_balanced_accuracy(scores: Floats, gains: Floats) -> float:
    """The threshold of highest balanced accuracy over all distinct policies, ties toward fewer uses."""
    cuts = distinct_cuts(scores)
    positive = gains[cuts.order] > 0
    if positive.all() or not positive.any():
        kind = "positive" if positive.any() else "not positive"
        raise InputError(f"every gain is {kind}, so that balanced accuracy is undefined; give a threshold as a number")
    positives_skipped = np.concatenate([[0], np.cumsum(positive)])[cuts.skipped]
    others_skipped = cuts.skipped - positives_skipped
    sensitivity = 1 - positives_skipped / positive.sum()
    specificity = others_skipped / (~positive).sum()
    return float(cuts.thresholds[last_best((sensitivity + specificity) / 2)])


def frozen_estimator(name: str) -> Estimator | None:
    """The estimator of a name; None is the paper's rule, which its settings make."""
    name = estimator_name(name)
    if name not in freezable():
        raise unknown_name("estimator", name, freezable())
    make = policies()[name].estimator
    return None if name == PAPER_RULE or make is None else make(Needs())


def sealed_gate(settings: SealedSettings) -> Gate | None:
    """The gate that sealed settings spell out; None in a file of plain comparisons, as every older file is."""
    if settings.rule is None:
        return None
    names = ("k", "scope", "weighting", "threshold", *GATE_FIELDS)
    values = {name: getattr(settings, name) for name in names}
    return Gate(settings.present_estimator, **{name: value for name, value in values.items() if value is not None})


def version_of(name: str) -> str:
    """The version of an estimator's code; SkillDelta's where the table does not have it."""
    return policies()[name].version if name in policies() else __version__


def why_not_repeated(settings: SealedSettings) -> str:
    """Why sealed predictions cannot be computed again here, in words; empty where they can."""
    name = settings.present_estimator
    if name == PAPER_RULE:
        return ""
    sentence = f"the predictions of {name} were not computed again, only their seal was checked"
    if name not in freezable():
        return f"{sentence}: this SkillDelta does not know that estimator"
    entry = policies()[name]
    if settings.estimator_version != entry.version:
        version = settings.estimator_version or "of an unknown version"
        return f"{sentence}: they were made by {'' if entry.is_installed else 'SkillDelta '}{version}, and this is {entry.version}"
    return ""
