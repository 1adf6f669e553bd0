"""Rules whose neighbours do not depend on gains, so that scoring other gains on the same tasks is one matrix product.

The paper's rule, with-skill-only, TF-IDF kNN and the family mean average outcomes with weights that the questions and
the recorded families alone decide. Shuffled gains (`permutation`) and panels without some of their tasks (`jackknife`)
are therefore scored without another search.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from scipy.sparse import csr_array

from skilldelta.arrays import Flags, Floats, Ints, tie_rounding
from skilldelta.estimators.lexical_controls import nearest_by_words
from skilldelta.evaluation.roster import Rules
from skilldelta.predictor import predict_each
from skilldelta.support import Support

Averaged = Literal["gain", "positive", "y1"]
"""What a rule averages: gains, whether they are positive, or success with the skill."""

LINEAR = ("skilldelta", "with_skill_only", "tfidf_knn", "family_mean")

_SPARE = 4
"""Neighbours kept per neighbour used: with a quarter of the tasks away, a list of four times k does not run out."""


@dataclass(frozen=True, slots=True, eq=False)
class Rescored:
    """Scores of a panel from a part of it."""

    values: Floats  # (n,) 0 without support
    supported: Flags  # (n,)


class LinearRule(Protocol):
    """A rule that can score its panel with other outcomes, and without some of its tasks."""

    @property
    def averaged(self) -> Averaged:
        """What is averaged."""
        ...

    def scores(self, outcomes: Floats) -> Floats:
        """(n, draws) leave-one-task-out scores for outcomes (n, draws)."""
        ...

    def scores_without(self, left_out: Flags, outcomes: Floats) -> Rescored:
        """Scores from outcomes (n,) as if the rows left out had never been run."""
        ...


def linear_rules(scored: Support, names: Collection[str], rules: Rules) -> dict[str, LinearRule]:
    """The linear rules among the named policies, for a panel as it was scored."""
    wide = _SPARE * rules.settings.k
    made: dict[str, LinearRule] = {}
    if "skilldelta" in names or "with_skill_only" in names:
        found = predict_each(scored, rules.scope, settings=replace(rules.settings, k=wide))
        uniform = rules.settings.weighting == "uniform"
        of_gains = NeighborRule(rules.settings.label, found.rows, found.similarities, rules.settings.k, uniform)
        made = {"skilldelta": of_gains, "with_skill_only": replace(of_gains, averaged="y1")}
    if "tfidf_knn" in names:
        words = nearest_by_words(scored, wide, rules.scope)
        made["tfidf_knn"] = NeighborRule("gain", words.rows, words.similarities, rules.settings.k)
    if "family_mean" in names:
        made["family_mean"] = FamilyRule.of(scored)
    return {name: made[name] for name in LINEAR if name in names}


def averaged_outcomes(averaged: Averaged, y0: Floats, y1: Floats) -> Floats:
    """The outcomes that a rule averages, of any shape."""
    if averaged == "y1":
        return y1
    gains = y1 - y0
    return gains if averaged == "gain" else (gains > 0).astype(np.float64)


@dataclass(frozen=True, eq=False)
class NeighborRule:
    """A mean over the k nearest rows, weighted by clipped cosine or equally."""

    averaged: Averaged
    rows: Ints  # (n, more than k) nearest first, -1 where there is none
    similarities: Floats  # same shape
    k: int
    uniform: bool = False

    def scores(self, outcomes: Floats) -> Floats:
        """One sparse matrix product."""
        return tie_rounding(self._weights @ outcomes)

    def scores_without(self, left_out: Flags, outcomes: Floats) -> Rescored:
        """The k nearest of those that stay."""
        stays = (self.rows >= 0) & ~left_out[self.rows]
        shares = self._shares(stays & (np.cumsum(stays, axis=1) <= self.k))
        total = shares.sum(axis=1)
        means = (shares * outcomes[self.rows]).sum(axis=1) / np.where(total > 0, total, 1.0)
        return Rescored(tie_rounding(means), total > 0)

    @cached_property
    def _weights(self) -> csr_array:
        there = self.rows >= 0
        there[:, self.k :] = False
        shares = self._shares(there)
        total = shares.sum(axis=1, keepdims=True)
        weights = shares / np.where(total > 0, total, 1.0)
        n, (targets, _) = len(self.rows), np.nonzero(there)
        return csr_array((weights[there], (targets, self.rows[there])), shape=(n, n))

    def _shares(self, used: Flags) -> Floats:
        """Clipped cosines of the neighbours used, or ones where that is asked or all cosines vanish."""
        if self.uniform:
            return used.astype(np.float64)
        clipped = np.where(used, np.maximum(self.similarities, 0.0), 0.0)
        return np.where(clipped.sum(axis=1, keepdims=True) > 0, clipped, used)


@dataclass(frozen=True, eq=False)
class FamilyRule:
    """The mean gain of the other tasks of a row's family."""

    families: Ints  # (n,)
    own: Ints  # (n,) the task within its family: what a row's mean leaves out
    averaged: Averaged = "gain"

    @classmethod
    def of(cls, support: Support) -> FamilyRule:
        """Families as the evaluation counts them; rows without one belong to their skill."""
        families = np.unique(support.scope_labels("family"), return_inverse=True)[1]
        own = np.unique(families * (len(support) + 1) + support.task_codes, return_inverse=True)[1]
        return cls(families, own)

    def scores(self, outcomes: Floats) -> Floats:
        """Family sums minus the task's own."""
        return self._means(outcomes, self._others(np.ones((len(self.families), 1))))

    def scores_without(self, left_out: Flags, outcomes: Floats) -> Rescored:
        """The same over the rows that stay."""
        stays = (~left_out).astype(np.float64)[:, None]
        count = self._others(stays)
        return Rescored(self._means(stays * outcomes[:, None], count)[:, 0], count[:, 0] > 0.5)

    def _means(self, outcomes: Floats, count: Floats) -> Floats:
        return tie_rounding(np.where(count > 0.5, self._others(outcomes) / np.maximum(count, 1.0), 0.0))

    def _others(self, values: Floats) -> Floats:
        return _sums(self.families, values) - _sums(self.own, values)


def _sums(codes: Ints, values: Floats) -> Floats:
    """(n, draws) for each row the sum of its group."""
    grouping = csr_array(
        (np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(int(codes.max()) + 1, len(codes))
    )
    sums = np.asarray(grouping @ values)
    return sums[codes]
