"""Single and dual Ridge controls: what a linear model of the question vector makes of the same evidence.

These follow a protocol of their own instead of leave-one-out. Task groups are split into training, validation and test.
A gain head, and for dual Ridge a head of incremental tokens in thousands, are fitted to the training part, their
penalties chosen there by grouped cross-validation. The validation part chooses `lambda` and `eta` of the policy
`gain - lambda * cost > eta`: the least tokens with success no lower than always-on, and always-on itself where nothing
cheaper keeps up. Test rows alone get scores, so their outcomes touch nothing; single Ridge is the same search with
`lambda = 0`. A partition that was made elsewhere may take the place of the split.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skilldelta.arrays import Floats, Strings
from skilldelta.estimators.base import NotApplicableError, Score, Scores, Target
from skilldelta.estimators.linear_head import LinearHead, choose_head
from skilldelta.estimators.partition import Partition, Split
from skilldelta.estimators.validation_policy import ValidationPolicy, choose_policy
from skilldelta.nouns import plural
from skilldelta.records import text_digest
from skilldelta.support import Support

PENALTIES: tuple[float, ...] = tuple(10.0 ** (step / 2) for step in range(-6, 9))
LAMBDAS: tuple[float, ...] = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
"""Success given up for a thousand tokens."""
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
        split = self._split(support, groups)
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
        if self.partition is not None:
            return self._fit(support, groups, self.partition.split(support))
        return self._fit(support, groups, split_groups(groups, self.validation_share, 0.0, seed=self.split_seed))

    def _split(self, support: Support, groups: Strings) -> Split:
        if self.partition is not None:
            return self.partition.split(support)
        return split_groups(groups, self.validation_share, self.test_share, seed=self.split_seed)

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

    @cached_property
    def _known_tasks(self) -> frozenset[str]:
        return frozenset(self.support.task_ids.tolist())

    def values(self, x: Floats) -> Floats:
        """(m,) gain - lambda * cost, to be compared with the policy's threshold."""
        gains = self.gain_head.predict(x)
        return gains - self.policy.cost_weight * self.cost_head.predict(x) if self.policy.cost_weight else gains

    def score(self, target: Target) -> Score:
        """The predicted gain, with the predicted cost in thousands of tokens beside it.

        A target whose task is in the support is scored by a model fitted without it, which takes a whole fit.
        """
        if target.task_id in self._known_tasks:
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
