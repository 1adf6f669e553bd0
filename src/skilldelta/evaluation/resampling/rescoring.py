"""Panels scored again with other outcomes, or without some of their tasks, and how much results vary when that is done.

The paper's rule, with-skill-only, TF-IDF kNN and the family mean average outcomes with weights that the questions and
the recorded families alone decide. Such linear rules score shuffled gains (`permutation`) and parts of a panel without
another search: one matrix product.

Holding scores fixed leaves out that a task's outcome also moves its neighbors' actions: such intervals of the paper's rule
hold their truth in 70 to 95 of 100 panels, by metric. Here the tasks are split at random into a few parts, the panel is
scored without each part in turn, and the spread of the results gives the standard error (a grouped jackknife, averaged
over many splits). Large parts suit rules whose actions jump at a threshold.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from skilldelta.arrays import Flags, Floats, Ints, exceeds, tie_rounding
from skilldelta.estimators.lexical_controls import nearest_by_words
from skilldelta.evaluation.metrics import auroc, summing_matrix
from skilldelta.evaluation.panel_policy import Outcomes, PanelPolicy, Totals
from skilldelta.evaluation.resampling.bootstrap import LEVEL, Inventory
from skilldelta.evaluation.results import UNKNOWN, Range
from skilldelta.evaluation.scored_policies import EvaluationPlan
from skilldelta.predictor import predict_each
from skilldelta.support import Support

# What a rule averages: gains, whether they are positive, or success with the skill.
Averaged = Literal["gain", "positive", "y1"]

LINEAR = ("paper", "with_skill_only", "tfidf_knn", "family_mean")

# Neighbors kept per neighbor used: with a quarter of the tasks away, a list of four times k does not run out.
_SPARE = 4


@dataclass(frozen=True, slots=True, eq=False)
class Rescored:
    """Scores of a panel from a part of it."""

    values: Floats  # (n,) 0 without support
    supported: Flags  # (n,)


def linear_rules(scored: Support, names: Collection[str], plan: EvaluationPlan) -> dict[str, LinearRule]:
    """The linear rules among the named policies, for a panel as it was scored."""
    wide = _SPARE * plan.gate.settings.k
    rules: dict[str, LinearRule] = {}
    if "paper" in names or "with_skill_only" in names:
        predictions = predict_each(scored, plan.scope_of("paper"), settings=replace(plan.gate.settings, k=wide))
        uniform = plan.gate.settings.weighting == "uniform"
        of_gains = NeighborRule(
            plan.gate.settings.label, predictions.rows, predictions.similarities, plan.gate.settings.k, uniform
        )
        rules = {"paper": of_gains, "with_skill_only": replace(of_gains, averaged="y1")}
    if "tfidf_knn" in names:
        words = nearest_by_words(scored, wide, plan.scope_of("tfidf_knn"))
        rules["tfidf_knn"] = NeighborRule("gain", words.rows, words.similarities, plan.gate.settings.k)
    if "family_mean" in names:
        rules["family_mean"] = FamilyRule.of(scored)
    return {name: rules[name] for name in LINEAR if name in names}


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
        """(n, draws) leave-one-task-out scores for outcomes (n, draws): one sparse matrix product."""
        return tie_rounding(self._weights @ outcomes)

    def scores_without(self, left_out: Flags, outcomes: Floats) -> Rescored:
        """Scores from outcomes (n,) as if the rows left out had never been run: the k nearest of those that stay."""
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
        """Clipped cosines of the neighbors used, or ones where that is asked or all cosines vanish."""
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
        """(n, draws) for each row the sum over the other tasks of its family."""
        by_family, by_task = (summing_matrix(codes, np.ones(len(codes))) for codes in (self.families, self.own))
        sums: Floats = (by_family @ values)[self.families] - (by_task @ values)[self.own]
        return sums


# A rule that can score its panel with other outcomes, and without some of its tasks.
LinearRule = NeighborRule | FamilyRule


PARTS = 4
ROUNDS = 30

# What a metric can be; differences of success lie between -1 and 1.
_POSSIBLE: Mapping[str, tuple[float, float]] = {
    "success": (0.0, 1.0),
    "use_rate": (0.0, 1.0),
    "tokens": (0.0, np.inf),
    "token_saving": (-np.inf, 1.0),
    "auroc": (0.0, 1.0),
    "balanced_accuracy": (0.0, 1.0),
    "gain_mae": (0.0, 2.0),
    "gain_mse": (0.0, 4.0),
}


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """Random splits of a suite's tasks into parts, shared by its agents."""

    parts: int
    part_of: Ints  # (rounds, units) the part of each task of the inventory
    inventory: Inventory

    @classmethod
    def draw(
        cls, inventory: Inventory, rng: np.random.Generator, *, parts: int = PARTS, rounds: int = ROUNDS
    ) -> Splits:
        """As many parts as there are tasks, where there are fewer."""
        tasks = len(inventory.task_ids)
        parts = min(parts, tasks)
        return cls(parts, np.stack([rng.permutation(np.arange(tasks) % parts) for _ in range(rounds)]), inventory)

    def left_out(self, support: Support) -> Flags:
        """(n, rounds * parts) the rows that each replicate is without."""
        codes = np.searchsorted(self.inventory.task_ids, support.task_ids)
        own = self.part_of[:, codes].T  # (n, rounds)
        is_part: Flags = own[:, :, None] == np.arange(self.parts)
        return is_part.reshape(len(support), -1)


def replicates(support: Support, policy: PanelPolicy, rule: LinearRule, splits: Splits) -> dict[str, Floats]:
    """(rounds, parts) every metric of a linear rule that was refitted without each part."""
    left_out = splits.left_out(support)
    outcomes = averaged_outcomes(rule.averaged, support.y0, support.y1)
    scores, actions = np.empty(left_out.shape), np.empty(left_out.shape)
    assert policy.threshold is not None
    for column in range(left_out.shape[1]):
        found = rule.scores_without(left_out[:, column], outcomes)
        scores[:, column] = found.values
        actions[:, column] = exceeds(found.values, policy.threshold) & found.supported
    with np.errstate(invalid="ignore"):  # a replicate without any row has no value: NaN
        values = _metrics(support, ~left_out, scores, actions, is_gain=policy.is_gain)
    return {name: found.reshape(-1, splits.parts) for name, found in values.items()}


def standard_error(replicates: Floats) -> float:
    """From replicates (rounds, parts): the grouped jackknife's variance, averaged over rounds."""
    parts = replicates.shape[1]
    squares = ((replicates - replicates.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return float(np.sqrt((parts - 1) / parts * squares.mean()))


def normal_range(metric: str, value: float, error: float, *, level: float = LEVEL) -> Range:
    """Value plus and minus a multiple of its standard error."""
    return symmetric_range(metric, value, NormalDist().inv_cdf((1 + level) / 2) * error)


def symmetric_range(metric: str, value: float, half: float) -> Range:
    """No end lies beyond what the metric can be: a success of 102% is no news."""
    if not np.isfinite(half):
        return UNKNOWN
    least, most = _POSSIBLE.get(metric, (-1.0, 1.0))
    return Range(max(least, value - half), min(most, value + half))


def _metrics(support: Support, is_kept: Flags, scores: Floats, actions: Floats, *, is_gain: bool) -> dict[str, Floats]:
    """(replicates,) each metric over the rows that are kept."""
    recorded = Outcomes.of(support, np.arange(len(support)))
    weight = is_kept.astype(np.float64)
    used = actions * weight
    totals = _totals(recorded, weight, used, scores if is_gain else np.full(scores.shape, np.nan))
    metrics = totals.metrics()
    areas = (auroc(scores[is_kept[:, d], d], recorded.positive[is_kept[:, d]]) for d in range(is_kept.shape[1]))
    metrics["auroc"] = np.array([np.nan if area is None else area for area in areas])
    metrics["within_group"] = _within(recorded, weight, used, totals)
    metrics["between_group"] = metrics["advantage_vs_random"] - metrics["within_group"]
    return metrics


def _totals(recorded: Outcomes, weight: Floats, used: Floats, scores: Floats) -> Totals:
    """The sums behind every value, by replicate; linear rules have no router call."""
    priced = recorded.has_tokens.astype(np.float64)
    off, on = (np.where(recorded.has_tokens, arm, 0.0) for arm in (recorded.tokens0, recorded.tokens1))
    error = np.where(weight > 0, scores - recorded.gains[:, None], 0.0)
    return Totals(
        weight=weight.sum(axis=0),
        off=recorded.y0 @ weight,
        gain=recorded.gains @ weight,
        positive=recorded.positive.astype(np.float64) @ weight,
        use=used.sum(axis=0),
        used_gain=recorded.gains @ used,
        used_positive=recorded.positive.astype(np.float64) @ used,
        priced=priced @ weight,
        tokens=off @ weight + (on - off) @ used,
        tokens_on=on @ weight,
        absolute_error=np.abs(error).sum(axis=0),
        squared_error=(error**2).sum(axis=0),
    )


def _within(recorded: Outcomes, weight: Floats, used: Floats, totals: Totals) -> Floats:
    codes = np.unique(recorded.families, return_inverse=True)[1]
    summing = summing_matrix(codes, np.ones(len(codes)))
    sums = (weight, recorded.gains[:, None] * weight, used)
    size, gain, use = (np.asarray(summing @ values, np.float64) for values in sums)
    at_group_rate = (use * (gain / np.maximum(size, 1.0))).sum(axis=0)
    share: Floats = (totals.used_gain - at_group_rate) / totals.weight
    return share
