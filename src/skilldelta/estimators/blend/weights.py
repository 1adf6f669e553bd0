"""How much each component counts: non-negative weights, learned for the suite and bent towards each family.

Squared error of held-out departures decides, with a pull towards a default for the suite's weights and towards the
suite's for a family's. Families with less noise count more. Weights are scaled by the belief that departures tell anything
at all, against the level alone: first of the suite, then, with the suite's as its prior, of each family. In a tiny bank
the belief is what it was before any outcome; where many tasks show that departures tell nothing it is zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skilldelta.arrays import Floats, Ints
from skilldelta.estimators.blend.shrinkage import UNIT_VARIANCE

# Standard deviation of the suite's weights around the default, before any outcome is seen.
_SUITE_SPREAD = 0.15

# Standard deviation of a family's weights around the suite's.
_FAMILY_SPREAD = 0.2

# That departures tell anything, before any outcome is seen.
_ODDS = 0.5

# The suite's log odds count for a family up to this: a family may be unlike the others.
_FAMILIES_DIFFER = 4.0

_SMALLEST_BELIEF = 0.05
_PRIOR_ROWS = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Weights of the components in every group, and what they make of held-out rows."""

    suite: Floats  # (c,)
    groups: Floats  # (groups, c), each row non-negative with a sum of at most 1
    spread: Floats  # (groups,) root mean square of the weighted departures
    belief: float
    """That departures tell anything in the suite."""
    beliefs: Floats  # (groups,) that they tell anything in each group

    def of_group(self, group: int) -> Trust:
        """What counts in one group."""
        return Trust(self.groups[group], float(self.beliefs[group]))

    @property
    def of_suite(self) -> Trust:
        """What counts in a group that came later."""
        return Trust(self.suite, self.belief)


@dataclass(frozen=True, slots=True, eq=False)
class Trust:
    """The weights of the components in one group, and the belief behind them."""

    weights: Floats  # (c,)
    belief: float


def learn_weights(
    departures: Floats,
    residuals: Floats,
    precisions: Floats,
    *,
    blocks: Sequence[Ints],
    keep: NDArray[np.bool_],
    default: Floats,
) -> Weights:
    """Weights that best turn departures (n, c) into residuals (n,), from the rows to keep (n,) alone."""
    parts = [
        _normal_equations(departures[rows], residuals[rows], precisions[rows])
        for rows in (block[keep[block]] for block in blocks)
    ]
    left, right = np.sum([p.left for p in parts], axis=0), np.sum([p.right for p in parts], axis=0)
    log_odds = _log_odds(left, right, default, _SUITE_SPREAD) + math.log(_ODDS)
    suite = _non_negative(left, right, default, _SUITE_SPREAD)
    prior = min(max(log_odds, -_FAMILIES_DIFFER), _FAMILIES_DIFFER)
    beliefs = np.array([_probability(prior + _log_odds(p.left, p.right, suite, _FAMILY_SPREAD)) for p in parts])
    weights = np.stack([_family_weights(part, suite, own) for part, own in zip(parts, beliefs, strict=True)])
    moments = np.stack([p.moments for p in parts])
    spread = np.sqrt(np.maximum(np.einsum("gc,gcd,gd->g", weights, moments, weights), 0.0))
    belief = _probability(log_odds)
    return Weights(belief * suite, weights, spread, belief, beliefs)


@dataclass(frozen=True, slots=True, eq=False)
class _Equations:
    """A group's least-squares problem, divided by its noise."""

    left: Floats  # (c, c)
    right: Floats  # (c,)
    moments: Floats  # (c, c) mean products of departures


def _normal_equations(x: Floats, residuals: Floats, precisions: Floats) -> _Equations:
    """From departures x (m, c) and the residuals (m,) that they are to explain."""
    variance = (_PRIOR_ROWS * UNIT_VARIANCE + precisions @ residuals**2) / (_PRIOR_ROWS + len(x))
    weighted = x * precisions[:, None]
    return _Equations(weighted.T @ x / variance, weighted.T @ residuals / variance, x.T @ x / max(len(x), 1))


def _family_weights(part: _Equations, suite: Floats, belief: float) -> Floats:
    """(c,) a family's weights, scaled by the belief that departures tell anything in it."""
    if belief < _SMALLEST_BELIEF:
        return np.zeros_like(suite)
    return belief * _non_negative(part.left, part.right, suite, _FAMILY_SPREAD)


def _log_odds(left: Floats, right: Floats, centre: Floats, spread: float) -> float:
    """How much better normal weights around a centre explain the residuals than none at all, as a log ratio."""
    precision = 1 / spread**2
    size = len(left)
    pulled = right + precision * centre
    fit = pulled @ np.linalg.solve(left + precision * np.eye(size), pulled) - precision * centre @ centre
    occam = np.linalg.slogdet(np.eye(size) + left / precision)[1]
    return float(fit - occam) / 2


def _probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-min(max(log_odds, -500.0), 500.0)))


def _non_negative(left: Floats, right: Floats, centre: Floats, spread: float) -> Floats:
    """Minimise w'Aw - 2b'w + |w - centre|^2 / spread^2 over w >= 0; weights that sum to more than 1 are scaled to it."""
    from scipy.optimize import nnls  # takes longer to import than a prediction; only learning needs it

    precision = 1 / spread**2
    factor = np.linalg.cholesky(left + precision * np.eye(len(left)))
    solution, _ = nnls(factor.T, np.linalg.solve(factor, right + precision * centre))
    total = float(solution.sum())
    return solution / total if total > 1 else solution
