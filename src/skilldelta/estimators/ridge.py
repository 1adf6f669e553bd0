"""Single and dual Ridge controls: what a linear model of the question vector makes of the same evidence.

These follow a protocol of their own instead of leave-one-out. Task groups are split into training, validation and test.
A gain head, and for dual Ridge a head of incremental tokens in thousands, are fitted to the training part, their
penalties chosen there by grouped cross-validation. The validation part chooses `lambda` and `eta` of the policy
`gain - lambda * cost > eta`: the least tokens with success no lower than always-on, and always-on itself where nothing
cheaper keeps up. Test rows alone get scores, so their outcomes touch nothing; single Ridge is the same search with
`lambda = 0`. A partition that was made elsewhere may take the place of the split.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import GroupKFold

from skilldelta.arrays import ROUNDING, Floats, Strings
from skilldelta.estimators.base import NotApplicableError, Score, Scores, Target
from skilldelta.estimators.partition import Partition, Split
from skilldelta.nouns import plural
from skilldelta.records import text_digest
from skilldelta.support import Support

PENALTIES: tuple[float, ...] = tuple(10.0 ** (step / 2) for step in range(-6, 9))
# Success given up for a thousand tokens.
LAMBDAS: tuple[float, ...] = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
_TOKENS_PER_UNIT = 1000.0


@dataclass(frozen=True)
class Ridge:
    """The control with its protocol; `dual` adds the token head."""

    dual: bool = False
    folds: int = 5
    validation_share: float = 0.2
    test_share: float = 0.2
    split_seed: int = 0
    partition: Partition | None = None
    """Parts that were made elsewhere, in place of the shares."""

    @property
    def name(self) -> str:
        """The policy name."""
        return "dual_ridge" if self.dual else "ridge"

    def leave_one_out(self, support: Support) -> Scores:
        """Scores of the test split, NaN elsewhere; threshold is the eta that validation chose."""
        groups = task_groups(support)
        split = self._split(support, groups, self.test_share)
        fitted = self._fit(support, groups, split)
        values = np.full(len(support), np.nan)
        values[split.test] = fitted.values(support.vectors[split.test].astype(np.float64))
        notes = (self._split_in_words(split, len(support)), fitted.policy.in_words())
        return Scores(
            values, fitted.policy.threshold, is_gain=fitted.policy.cost_weight == 0, groups=groups, notes=notes
        )

    def fit(self, support: Support) -> FittedRidge:
        """Training and validation on the whole support, no part kept for testing."""
        groups = task_groups(support)
        return self._fit(support, groups, self._split(support, groups, test_share=0.0))

    def _split(self, support: Support, groups: Strings, test_share: float) -> Split:
        if self.partition is not None:
            return self.partition.split(support)
        return split_groups(groups, self.validation_share, test_share, seed=self.split_seed)

    def _split_in_words(self, split: Split, pairs: int) -> str:
        supplied = "supplied " if self.partition is not None else ""
        words = f"evaluated on its {supplied}test split of {len(split.test)} of {pairs} pairs"
        outside = pairs - len(split.train) - len(split.validation) - len(split.test)
        return f"{words}; {outside} are in no part" if outside else words

    def _fit(self, support: Support, groups: Strings, split: Split) -> FittedRidge:
        cost = (support.tokens1 - support.tokens0) / _TOKENS_PER_UNIT
        _check(cost, groups, split, self.folds)
        x = support.vectors[split.train].astype(np.float64)
        gain_head = choose_head(x, support.gains[split.train], groups[split.train], PENALTIES, folds=self.folds)
        cost_head = choose_head(x, cost[split.train], groups[split.train], PENALTIES, folds=self.folds)
        held_out = support.vectors[split.validation].astype(np.float64)
        policy = choose_policy(
            gain_head.predict(held_out),
            cost_head.predict(held_out),
            gains=support.gains[split.validation],
            tokens=cost[split.validation],
            cost_weights=LAMBDAS if self.dual else (0.0,),
        )
        return FittedRidge(self, support, gain_head, cost_head, policy)


@dataclass(frozen=True)
class FittedRidge:
    """Two linear heads and the policy that validation chose."""

    ridge: Ridge
    support: Support
    gain_head: LinearHead
    cost_head: LinearHead
    policy: ValidationPolicy

    def values(self, x: Floats) -> Floats:
        """(m,) gain - lambda * cost, to be compared with the policy's threshold."""
        gains = self.gain_head.predict(x)
        return gains - self.policy.cost_weight * self.cost_head.predict(x) if self.policy.cost_weight else gains

    def score(self, target: Target) -> Score:
        """The predicted gain, with the predicted cost in thousands of tokens beside it.

        A target whose task is in the support is scored by a model fitted without it, which takes a whole fit.
        """
        if target.task_id in self.support.row_of_task:
            others = self.support.rows(self.support.task_ids != target.task_id)
            return self.ridge.fit(others).score(target)
        x = target.vector[None, :].astype(np.float64)
        gain, cost = float(self.gain_head.predict(x)[0]), float(self.cost_head.predict(x)[0])
        return Score(gain, {self.ridge.name: gain, "thousand_tokens": cost}, {self.ridge.name: 1.0})


def task_groups(support: Support) -> Strings:
    """(n,) what must not be torn apart: a task under all its skills, and tasks that ask the same question."""
    return np.array([text_digest(text) for text in support.texts]) if support.texts else support.task_ids


def split_groups(groups: Strings, validation_share: float, test_share: float, *, seed: int) -> Split:
    """Shares of the distinct groups, in an order hashed from their labels.

    The same inventory is split alike for every agent and whatever the order of its rows.
    """
    labels, codes = np.unique(groups, return_inverse=True)
    order = np.argsort([text_digest(f"{seed}:{label}") for label in labels], kind="stable")
    place = np.empty(len(labels), np.int64)
    place[order] = np.arange(len(labels))
    test = round(test_share * len(labels))
    validation = round(validation_share * len(labels))
    rank = place[codes]
    return Split(
        train=np.flatnonzero(rank >= test + validation),
        validation=np.flatnonzero((rank >= test) & (rank < test + validation)),
        test=np.flatnonzero(rank < test),
    )


def _check(cost: Floats, groups: Strings, split: Split, folds: int) -> None:
    if not np.isfinite(cost).all():
        unknown = int((~np.isfinite(cost)).sum())
        raise NotApplicableError(
            f"no tokens for {unknown} of {plural(len(cost), 'pair')}, and its policy is the one with the least tokens; "
            "record tokens of both arms"
        )
    training = len(np.unique(groups[split.train]))
    if training < folds:
        raise NotApplicableError(
            f"its training split has {plural(training, 'task group')} for {folds} folds; add tasks"
        )
    if not len(split.validation):
        raise NotApplicableError(
            f"{plural(len(np.unique(groups)), 'task group leaves', 'task groups leave')} none for validation; add tasks"
        )


@dataclass(frozen=True, slots=True)
class LinearHead:
    """Coefficients on the original scale."""

    coefficients: Floats  # (dim,)
    intercept: float
    penalty: float

    def predict(self, x: Floats) -> Floats:
        """(m,) predictions for the rows of `x`."""
        predicted: Floats = x @ self.coefficients + self.intercept
        return predicted


def choose_head(x: Floats, y: Floats, groups: Strings, penalties: Sequence[float], *, folds: int) -> LinearHead:
    """The head with the penalty of least out-of-fold squared error; ties go to the stronger penalty.

    One eigendecomposition per fold serves every penalty, so the search costs little more than one fit.
    """
    error = np.zeros(len(penalties))
    for fitted, held_out in GroupKFold(folds).split(x, y, groups):
        path = _fit_path(x[fitted], y[fitted], penalties)
        error += [((head.predict(x[held_out]) - y[held_out]) ** 2).sum() for head in path]
    best = len(penalties) - 1 - int(np.argmin(error[::-1]))
    return _fit_path(x, y, penalties[best : best + 1])[0]


def _fit_path(x: Floats, y: Floats, penalties: Sequence[float]) -> list[LinearHead]:
    """Minimises ||y - b - x w||^2 + penalty ||w||^2 for each penalty."""
    x_mean, y_mean = x.mean(axis=0), float(y.mean())
    centred = x - x_mean
    values, vectors = np.linalg.eigh(centred.T @ centred)
    projected = vectors.T @ (centred.T @ (y - y_mean))
    heads = []
    for penalty in penalties:
        w = vectors @ (projected / (np.maximum(values, 0.0) + penalty))
        heads.append(LinearHead(w, y_mean - float(x_mean @ w), penalty))
    return heads


@dataclass(frozen=True, slots=True)
class ValidationPolicy:
    """Use the skill where gain - cost_weight * cost > threshold; a threshold of minus infinity is always-on."""

    cost_weight: float
    threshold: float
    success_change: float
    """Validation success against always-off."""
    token_change: float
    """Validation tokens against always-off, in the unit of the cost head."""

    def in_words(self) -> str:
        """What validation chose."""
        if self.threshold == -math.inf:
            return "validation found no cheaper policy with the success of always-on: it falls back to always-on"
        return f"validation chose lambda {self.cost_weight:g} and eta {self.threshold:.4g}"


def choose_policy(
    predicted_gains: Floats,
    predicted_costs: Floats,
    *,
    gains: Floats,
    tokens: Floats,
    cost_weights: Sequence[float],
) -> ValidationPolicy:
    """The feasible policy with the least tokens; ties by higher success, then smaller lambda, then fewer uses.

    `gains` and `tokens` are the observed changes of success and tokens when the skill is used. Every distinct policy
    that `gain - lambda * cost > eta` can make of the validation tasks is tried, for each lambda, always-on and
    always-off among them. Always-on keeps its own success, so the search never comes back empty-handed.
    """
    best = ValidationPolicy(0.0, -math.inf, float(gains.mean()), float(tokens.mean()))
    floor = best.success_change - ROUNDING
    for weight in cost_weights:
        for policy in _policies(predicted_gains - weight * predicted_costs, gains, tokens, weight):
            if policy.success_change >= floor and _is_better(policy, best):
                best = policy
    return best


def _is_better(policy: ValidationPolicy, best: ValidationPolicy) -> bool:
    if abs(policy.token_change - best.token_change) > ROUNDING:
        return policy.token_change < best.token_change
    return policy.success_change > best.success_change + ROUNDING


def _policies(values: Floats, gains: Floats, tokens: Floats, weight: float) -> list[ValidationPolicy]:
    """Every distinct policy of one score, from no use to use everywhere."""
    order = np.argsort(-values, kind="stable")
    ranked = values[order]
    success = np.concatenate([[0.0], np.cumsum(gains[order])]) / len(values)
    spent = np.concatenate([[0.0], np.cumsum(tokens[order])]) / len(values)
    # A cut lies midway between two distinct scores, so that new scores near either side fall where it would.
    cuts = np.flatnonzero(ranked[1:] < ranked[:-1]) + 1
    thresholds = [math.inf, *((ranked[cuts - 1] + ranked[cuts]) / 2).tolist(), -math.inf]
    uses = [0, *cuts.tolist(), len(values)]
    return [
        ValidationPolicy(weight, threshold, float(success[used]), float(spent[used]))
        for threshold, used in zip(thresholds, uses, strict=True)
    ]
