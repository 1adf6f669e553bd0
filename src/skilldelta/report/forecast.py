"""The gate's chances of help and of harm for a panel, each from a curve that never saw the pair, and how they did."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from skilldelta.arrays import Flags, Floats
from skilldelta.evaluation.nested import Scorer, scores_without_folds
from skilldelta.evaluation.reliability import ReliabilityBin, reliability_curve
from skilldelta.evaluation.results import PanelResult
from skilldelta.probability import cross_fitted

BINS = 10
FEWEST = 20
"""Pairs of a bin at least, so that an observed share says something."""
NESTED_UP_TO = 2_000
"""Pairs up to which scores are made anew for every fold; beyond, the trace that this removes is lost in the noise."""


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """The chance of an event for every pair of a panel, and whether it happened."""

    event: Literal["help", "harm"]
    chances: Floats  # (n,), NaN where there is none
    happened: Flags  # (n,)

    @property
    def bins(self) -> tuple[ReliabilityBin, ...]:
        """Up to ten bins of about equal size, from the lowest chance to the highest."""
        known = int(np.isfinite(self.chances).sum())
        return reliability_curve(self.chances, self.happened, bins=max(1, min(BINS, known // FEWEST)))

    @property
    def brier(self) -> float | None:
        """Mean squared distance between what was said and what happened; None without a chance."""
        known = np.isfinite(self.chances)
        return float(((self.chances - self.happened)[known] ** 2).mean()) if known.any() else None


def forecasts_of(result: PanelResult, gate: str, scorer: Scorer | None = None) -> tuple[Forecast, ...]:
    """Cross-fitted chances of the gate's score; none where it has no score for every pair.

    `scorer` scores a part of the panel as the gate does, so that a fold's outcomes leave no trace in its own curve.
    """
    own = result.policies.get(gate)
    if own is None or own.scores is None or len(own.rows) < result.pairs:
        return ()
    support = result.support
    training = scores_without_folds(scorer, support) if scorer and result.pairs <= NESTED_UP_TO else None
    chances = cross_fitted(own.scores, support.gains, support.task_ids, training_scores=training)
    return (Forecast("help", chances.help, support.gains > 0), Forecast("harm", chances.harm, support.gains < 0))


def calibration_error(bins: Sequence[ReliabilityBin]) -> float:
    """Mean distance between what was said and what happened over the bins, by their size."""
    pairs = sum(one.count for one in bins)
    return sum(one.count * abs(one.predicted - one.observed) for one in bins) / pairs if pairs else math.nan
