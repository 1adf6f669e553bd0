"""How much each component counts: non-negative weights, learned for the suite and bent towards each family.

Squared error of held-out departures, with a pull towards zero for the suite's weights and towards the suite's for a
family's. Families with less noise count more. In a small bank the pull wins and only the level is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from skilldelta.estimators.stack.precision import UNIT_VARIANCE
from skilldelta.support import Floats, Ints

_SUITE_SPREAD = 0.3
"""Standard deviation of the suite's weights around zero before any outcome is seen."""

_FAMILY_SPREAD = 0.3
"""Standard deviation of a family's weights around the suite's."""

_LUCK = 10.0
"""Seven useless components lower the squared error by more than this, in units of noise, about once in fifty times."""

_PRIOR_ROWS = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Weights of the components in every group, and what they make of held-out rows."""

    suite: Floats  # (c,)
    groups: Floats  # (groups, c), each row non-negative with a sum of at most 1
    spread: Floats  # (groups,) root mean square of the weighted departures


def learn_weights(
    departures: Floats, residuals: Floats, precisions: Floats, blocks: Sequence[Ints], keep: np.ndarray
) -> Weights:
    """Weights that best turn departures (n, c) into residuals (n,), from the rows to keep (n,) alone."""
    c = departures.shape[1]
    parts = [_normal_equations(departures, residuals, precisions, block[keep[block]]) for block in blocks]
    left, right = sum(p.left for p in parts) if parts else np.zeros((c, c)), sum(p.right for p in parts)
    suite = _kept(_non_negative(left, right, np.zeros(c), _SUITE_SPREAD), left, right)
    trusted = bool(suite.any())
    groups = np.zeros((len(parts), c))
    for i, part in enumerate(parts):
        found = _non_negative(part.left, part.right, suite, _FAMILY_SPREAD)
        groups[i] = found if trusted else _kept(found, part.left, part.right)
    moments = np.stack([p.moments for p in parts])
    spread = np.sqrt(np.maximum(np.einsum("gc,gcd,gd->g", groups, moments, groups), 0.0))
    return Weights(suite, groups, spread)


@dataclass(frozen=True, slots=True, eq=False)
class _Equations:
    """A group's least-squares problem, divided by its noise."""

    left: Floats  # (c, c)
    right: Floats  # (c,)
    moments: Floats  # (c, c) mean products of departures


def _normal_equations(departures: Floats, residuals: Floats, precisions: Floats, rows: Ints) -> _Equations:
    x, r, w = departures[rows], residuals[rows], precisions[rows]
    variance = (_PRIOR_ROWS * UNIT_VARIANCE + w @ r**2) / (_PRIOR_ROWS + len(rows))
    weighted = x * w[:, None]
    return _Equations(weighted.T @ x / variance, weighted.T @ r / variance, x.T @ x / max(len(rows), 1))


def _kept(weights: Floats, left: Floats, right: Floats) -> Floats:
    """Weights that earn their place, else zeros: the fall in squared error, in units of noise, must not be luck."""
    fall = float(2 * right @ weights - weights @ left @ weights)
    return weights if fall > _LUCK else np.zeros_like(weights)


def _non_negative(left: Floats, right: Floats, centre: Floats, spread: float) -> Floats:
    """Minimise w'Aw - 2b'w + |w - centre|^2 / spread^2 over w >= 0; weights that sum to more than 1 are scaled to it."""
    precision = 1 / spread**2
    factor = np.linalg.cholesky(left + precision * np.eye(len(left)))
    found, _ = nnls(factor.T, np.linalg.solve(factor, right + precision * centre))
    total = float(found.sum())
    return found / total if total > 1 else found
