"""The paper's predictor: Algorithm 1, "Default signed-gain prediction and selective skill use".

Line by line: the eligible rows without the target (1, 2), their observed gains (3), the k nearest by cosine (4), clipped
cosines (5), weights (6), the weighted gain (7). The action, line 7's second half, is `gate`'s. Everything is an array:
no file, no clock, no outcome of the target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from skilldelta.arrays import ROUNDING, Floats, Ints, Vectors
from skilldelta.errors import InputError
from skilldelta.neighbors import Neighbors, check_k, nearest
from skilldelta.resemblance import nearest_to_each
from skilldelta.support import Scope, Support

Weighting = Literal["cosine", "uniform"]
Label = Literal["gain", "positive"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How neighbors are chosen and averaged; the defaults are the paper's main setting."""

    k: int = 6
    weighting: Weighting = "cosine"
    label: Label = "gain"
    """`gain` averages signed gains; `positive` averages 1{D > 0}, the score of the paper's earlier panels."""

    def __post_init__(self) -> None:
        check_k(self.k)
        if self.weighting not in ("cosine", "uniform"):
            raise InputError(f"weighting must be cosine or uniform, got {self.weighting!r}", setting="weighting")
        if self.label not in ("gain", "positive"):
            raise InputError(f"label must be gain or positive, got {self.label!r}")


PAPER = Settings()


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted gain and the records behind it, nearest first."""

    gain: float
    rows: Ints  # (k',) rows of the support
    similarities: Floats  # (k',)
    weights: Floats  # (k',), sum to 1
    eligible: int

    @property
    def is_fallback(self) -> bool:
        """No eligible support: the gain of 0 is a fallback, not an estimate."""
        return self.eligible == 0


@dataclass(frozen=True, slots=True)
class Predictions:
    """One prediction per row of the support; padded neighbors have row -1 and weight 0."""

    gains: Floats  # (n,)
    rows: Ints  # (n, k)
    similarities: Floats  # (n, k)
    weights: Floats  # (n, k)
    eligible: Ints  # (n,)


def predict(
    query: Vectors, vectors: Vectors, gains: Floats, *, settings: Settings = PAPER, excluded: Ints | None = None
) -> Prediction:
    """Algorithm 1 of the paper for one target.

    Parameters:
        query: (dim,) the unit vector of the target.
        vectors: (n, dim) unit vectors of the rows in scope.
        gains: (n,) their observed gains.
        settings: How neighbors are chosen and averaged.
        excluded: The target's own rows.

    Returns:
        The predicted gain and the rows behind it.

    Examples:
        >>> import numpy as np
        >>> vectors = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
        >>> predict(vectors[0], vectors, np.array([1.0, 0.0, -1.0]), settings=Settings(k=2)).gain
        0.625
    """
    neighbors = nearest(vectors, query, settings.k, excluded=excluded)  # lines 1 and 4
    if not len(neighbors.rows):  # line 2
        return Prediction(0.0, neighbors.rows, neighbors.similarities, np.empty(0), 0)
    observed = _labels(gains[neighbors.rows], settings.label)  # line 3
    clipped = np.maximum(neighbors.similarities, 0.0)  # line 5
    # Line 6, to be divided by its sum. The nearest comes first: where its cosine is clipped, all are.
    shares = clipped if settings.weighting == "cosine" and clipped[0] > 0 else np.ones(len(clipped))
    total = _sum(shares)
    gain = float(_sum(shares * observed) / total)  # line 7
    # Means of three repetitions are not exact: +1, -1/3, -1/3, -1/3 would add up to 1e-16 and not to zero.
    gain = gain if abs(gain) > ROUNDING else 0.0
    eligible = len(vectors) - (0 if excluded is None else len(excluded))
    return Prediction(gain, neighbors.rows, neighbors.similarities, shares / total, eligible)


def predict_each(support: Support, scope: Scope, *, settings: Settings = PAPER) -> Predictions:
    """Algorithm 1 with every row as its own target (leave-one-task-out), scope by scope.

    A target's task is excluded under every skill: its no-skill run is shared between its rows, which would leak it.

    Parameters:
        support: The pairs.
        scope: Which of them may inform a target.
        settings: How neighbors are chosen and averaged.

    Returns:
        One prediction per row.

    Examples:
        >>> predict_each(panel.support, "family").gains.shape
        (8,)
    """
    n, groups = len(support), list(support.scope_groups(scope))
    width = min(settings.k, max((len(block) for _, block in groups), default=1))
    result = Predictions(
        gains=np.zeros(n),
        rows=np.full((n, width), -1, np.int64),
        similarities=np.zeros((n, width)),
        weights=np.zeros((n, width)),
        eligible=np.zeros(n, np.int64),
    )
    for targets, block in groups:
        codes, own = support.task_codes[block], support.task_codes[targets]
        vectors, queries = support.vectors[block], support.vectors[targets]
        neighbors = nearest_to_each(vectors, queries, settings.k, codes=codes, query_codes=own)
        filled = neighbors.rows.shape[1]
        result.gains[targets], result.weights[targets, :filled] = average(neighbors, support.gains[block], settings)
        result.rows[targets, :filled] = np.where(neighbors.rows >= 0, block[neighbors.rows], -1)
        result.similarities[targets, :filled] = neighbors.similarities
        distinct, counts = np.unique(codes, return_counts=True)
        result.eligible[targets] = len(block) - counts[np.searchsorted(distinct, own)]
    return result


def average(neighbors: Neighbors, gains: Floats, settings: Settings = PAPER) -> tuple[Floats, Floats]:
    """Lines 5 to 7 for many targets: predicted gains (m,) and weights (m, k); 0 where no neighbor was found."""
    present = neighbors.rows >= 0
    shares = np.where(present, 1.0, 0.0)
    if settings.weighting == "cosine":
        clipped = np.maximum(neighbors.similarities, 0.0)
        shares = np.where(clipped.sum(axis=-1, keepdims=True) > 0, clipped, shares)
    observed = np.where(present, _labels(gains[neighbors.rows], settings.label), 0.0)
    total = _sum(shares)
    divisor = np.where(total > 0, total, 1.0)
    # Divide once, after the dot product: gains that cancel stay exactly zero, and equality skips.
    means = _sum(shares * observed) / divisor
    return np.where(np.abs(means) > ROUNDING, means, 0.0), shares / divisor[:, None]


def _sum(values: Floats) -> Any:
    """The sum over neighbors, nearest first. `np.sum` groups by length, so that padding would move the last bit."""
    return values.cumsum(axis=-1)[..., -1]


def _labels(gains: Floats, label: Label) -> Floats:
    return gains if label == "gain" else np.where(gains > 0, 1.0, 0.0)
