"""Where a policy's advantage over random comes from: choosing within groups, or allocating between them.

(1/N) sum (a - p) D  =  (1/N) sum (a - p_g) D  +  (1/N) sum (p_g - p) D, exactly. A group of one task, or of equal
actions, has a = p_g and contributes nothing within.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from skilldelta.arrays import Flags, Floats, Ints, SmallInts, Strings


@dataclass(frozen=True, slots=True)
class Components:
    """The two parts; their sum is the advantage over matched-rate random activation."""

    within_group: float
    between_group: float


def decompose(actions: Flags | Floats, gains: Floats, groups: Strings | Ints) -> Components:
    """The identity for one panel; actions may be probabilities."""
    a = np.asarray(actions, np.float64)
    codes = np.unique(groups, return_inverse=True)[1]
    rate = (np.bincount(codes, weights=a) / np.bincount(codes))[codes]
    return Components(
        within_group=float(((a - rate) * gains).mean()), between_group=float(((rate - a.mean()) * gains).mean())
    )


@dataclass(frozen=True, slots=True, eq=False)
class ComponentsOfDraws:
    """Both parts in many resamples, with every group's use rate taken anew in each."""

    within_group: Floats  # (policies, draws)
    between_group: Floats  # (policies, draws)


class DecompositionOfDraws:
    """The identity on resampled tasks for several policies at once."""

    def __init__(self, actions: Sequence[Flags | Floats], gains: Floats, groups: Strings) -> None:
        codes = np.unique(groups, return_inverse=True)[1]
        self._groups = int(codes.max()) + 1
        self._policies = len(actions)
        sums = [_summing(codes, self._groups, weights) for weights in (np.ones(len(gains)), gains)]
        self._size, self._gain = sums
        stacked = [np.asarray(action, np.float64) for action in actions]
        self._use = _summing(
            np.concatenate([codes + policy * self._groups for policy in range(self._policies)]),
            self._policies * self._groups,
            np.concatenate(stacked),
            columns=len(gains),
        )
        self._used_gain = np.stack([action * gains for action in stacked])

    def __call__(self, counts: SmallInts) -> ComponentsOfDraws:
        """For counts (draws, n) of how often each task was drawn."""
        drawn = np.ascontiguousarray(counts.T, dtype=np.float64)  # (n, draws)
        size, gain = self._size @ drawn, self._gain @ drawn  # (groups, draws)
        use = (self._use @ drawn).reshape(self._policies, self._groups, -1)
        total = size.sum(axis=0)
        used_gain = self._used_gain @ drawn  # (policies, draws)
        at_group_rate = (use * (gain / np.maximum(size, 1.0))).sum(axis=1)
        with np.errstate(invalid="ignore"):  # a draw without any row of the policy is NaN
            at_panel_rate = use.sum(axis=1) * gain.sum(axis=0) / total
            return ComponentsOfDraws((used_gain - at_group_rate) / total, (at_group_rate - at_panel_rate) / total)


def _summing(codes: NDArray[np.intp], groups: int, weights: Floats, *, columns: int | None = None) -> csr_array:
    """(groups, n) sparse matrix that sums weighted rows by group; n repeats where codes hold several policies."""
    n = columns or len(weights)
    return csr_array((weights, (codes, np.arange(len(codes)) % n)), shape=(groups, n))
