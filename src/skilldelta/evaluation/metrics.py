"""How well scores rank and actions match observed gains; what a wrong action costs where the truth is known.

A task is positive when its observed gain D exceeds zero. Metrics that need both classes are None where one is missing.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from skilldelta.arrays import Flags, Floats, Ints, SmallInts
from skilldelta.ties import exceeds, tie_rounding


def auroc(scores: Floats, positive: Flags) -> float | None:
    """Probability that a positive task scores above a non-positive one, ties counting half (midranks)."""
    positives = int(positive.sum())
    negatives = len(positive) - positives
    if not positives or not negatives:
        return None
    ranks = rankdata(tie_rounding(scores))
    return float((ranks[positive].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def balanced_accuracy(actions: Flags | Floats, positive: Flags) -> float | None:
    """Mean of the use rate among positive tasks and the skip rate among the others; actions may be probabilities."""
    if positive.all() or not positive.any():
        return None
    return float((actions[positive].mean() + 1 - actions[~positive].mean()) / 2)


def regret(actions: Flags | Floats, gains: Floats, *, threshold: float | Floats = 0.0) -> Floats:
    """(n,) routing regret |tau - eta| where the action differs from 1{tau > eta}; `gains` are the true expected ones.

    The threshold may depend on the task (n,).
    """
    best = exceeds(gains, threshold)
    wrong = np.where(best, 1.0 - actions, actions)
    return np.abs(gains - threshold) * wrong


class AurocOfDraws:
    """AUROC of many resamples of the same scored tasks.

    Scores are sorted once. In a resample, a positive task beats as many negatives as have been drawn below its place:
    one cumulative sum over the drawn counts, read at the places of the positives.
    """

    def __init__(self, scores: Floats, positive: Flags) -> None:
        values = tie_rounding(scores)
        order = np.argsort(values, kind="stable")
        self._negatives: Ints = order[~positive[order]]
        self._positives: Ints = order[positive[order]]
        self._below = np.searchsorted(values[self._negatives], values[self._positives], side="left")
        self._up_to = np.searchsorted(values[self._negatives], values[self._positives], side="right")

    def __call__(self, counts: SmallInts) -> Floats:
        """(draws,) for counts (draws, n) of how often each task was drawn; NaN where a class was not drawn."""
        drawn = np.zeros((len(counts), len(self._negatives) + 1), np.int32)
        # Whole numbers: their sums are exact, and five times faster to accumulate than floats.
        np.cumsum(np.take(counts, self._negatives, axis=1), axis=1, out=drawn[:, 1:])
        won = np.take(drawn, self._below, axis=1) + np.take(drawn, self._up_to, axis=1)
        weight = np.take(counts, self._positives, axis=1).astype(np.float64)
        pairs = 2.0 * weight.sum(axis=1) * drawn[:, -1]
        with np.errstate(invalid="ignore"):
            areas: Floats = np.vecdot(weight, won.astype(np.float64)) / np.where(pairs > 0, pairs, np.nan)
        return areas
